// Checks of an option's value, for CLI::Option::check. Each is made while the command line is read,
// so that `lowtide config` can make the same ones; each message says the value and what is allowed,
// and CLI11 puts the option's name before it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace CLI {
class Validator;
}

namespace lowtide::cli {

struct OptionCheck {
  // What is wrong with the value; empty: nothing.
  std::function<std::string(const std::string&)> problem;
  std::string allowed;             // for the help; empty: its text says it
  std::vector<std::string> words;  // what a shell may offer; they become the validator's name

  // NOLINTNEXTLINE(google-explicit-constructor): stands where CLI11 takes one of its own
  operator CLI::Validator() const;
};

// From `low` to `high`, both included. `unit` is for people: "W".
OptionCheck NumberFrom(double low, double high, const std::string& unit = "");
OptionCheck WholeNumberFrom(std::int64_t low, std::int64_t high, const std::string& unit = "");
// A text such as "90s"; the bounds as they are typed, such as "10ms" and "1s".
OptionCheck DurationFrom(const std::string& low, const std::string& high);
OptionCheck AnyDuration();
OptionCheck OneOf(std::vector<std::string> allowed);
// An RFC 3339 time.
OptionCheck AnyTime();

// The policy by itself; whether its options suit it is seen later.
OptionCheck PolicyText();
OptionCheck SelectorText();
OptionCheck MaxCarbonIntensityText();
// "epoch", or a duration of `low` to 10 years.
OptionCheck PeriodText(const std::string& low);

// What `parse`, from text to a Result, has to say.
template <class Parse>
OptionCheck ParsedBy(Parse parse) {
  return {[parse](const std::string& text) {
            const auto parsed = parse(text);
            return parsed ? std::string() : parsed.error().message;
          },
          "",
          {}};
}

// kInvalidArgument, naming option and file, when a file that the user names cannot be written.
// Nothing is written. An empty path is fine: it was not given.
Status CheckOutputFile(const std::string& option, const std::string& path);

}  // namespace lowtide::cli
