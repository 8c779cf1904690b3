#include "option_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/csv.h"
#include "base/file.h"
#include "base/near_names.h"
#include "grid/max_intensity.h"
#include "plan/policy.h"

namespace lowtide::cli {
namespace {

constexpr const char* kTenYears = "3660d";

// Values come from files too: an error shows no more than the beginning.
std::string Shown(const std::string& value) {
  constexpr std::size_t kMost = 64;
  return value.size() <= kMost ? value : value.substr(0, kMost) + "...";
}

std::string Bounds(const std::string& low, const std::string& high, const std::string& unit) {
  return fmt::format("{} to {}{}{}", low, high, unit.empty() ? "" : " ", unit);
}

}  // namespace

OptionCheck::operator CLI::Validator() const {
  const auto check = problem;
  return {[check](std::string& value) { return check(value); }, allowed,
          fmt::format("{}", fmt::join(words, " "))};
}

OptionCheck NumberFrom(double low, double high, const std::string& unit) {
  const std::string bounds = Bounds(fmt::format("{}", low), fmt::format("{}", high), unit);
  return {[low, high, bounds](const std::string& value) -> std::string {
            const auto number = ParseNumber(value);
            if (number && *number >= low && *number <= high) return {};
            return fmt::format("'{}' is {}; give a number from {}", Shown(value),
                               number ? "not allowed" : "not a number", bounds);
          },
          bounds,
          {}};
}

OptionCheck WholeNumberFrom(std::int64_t low, std::int64_t high, const std::string& unit) {
  const std::string bounds = Bounds(fmt::format("{}", low), fmt::format("{}", high), unit);
  return {[low, high, bounds](const std::string& value) -> std::string {
            std::int64_t number = 0;
            const char* const end = value.data() + value.size();
            const auto read = std::from_chars(value.data(), end, number);
            if (read.ec == std::errc() && read.ptr == end && number >= low && number <= high) {
              return {};
            }
            return fmt::format("'{}' is {}; give a whole number from {}", Shown(value),
                               ParseNumber(value) ? "not allowed" : "not a number", bounds);
          },
          bounds,
          {}};
}

OptionCheck DurationFrom(const std::string& low, const std::string& high) {
  const auto lowest = ParseDuration(low).value_or(Seconds(0));
  const auto highest = ParseDuration(high).value_or(Seconds(0));
  return {[low, high, lowest, highest](const std::string& value) -> std::string {
            const auto duration = ParseDuration(value);
            if (!duration) return duration.error().message;
            if (*duration >= lowest && *duration <= highest) return {};
            return fmt::format("'{}' is not allowed; give {} to {}", Shown(value), low, high);
          },
          "",
          {}};
}

OptionCheck AnyDuration() { return ParsedBy(ParseDuration); }

OptionCheck OneOf(std::vector<std::string> allowed) {
  const std::string shown = fmt::format("{{{}}}", fmt::join(allowed, ","));
  const auto words = allowed;
  return {[allowed = std::move(allowed)](const std::string& value) -> std::string {
            if (std::ranges::find(allowed, value) != allowed.end()) return {};
            const std::string near = DidYouMean(value, allowed);
            return fmt::format("'{}' is not allowed; {}{}give one of {}", Shown(value), near,
                               near.empty() ? "" : " ", fmt::join(allowed, ", "));
          },
          shown, words};
}

OptionCheck AnyTime() {
  return ParsedBy([](const std::string& text) { return ParseTime(text); });
}

OptionCheck PolicyText() {
  OptionCheck check = ParsedBy([](const std::string& text) { return ParsePolicy(text); });
  check.words = {"none", "fixed:", "zeus", "chase"};
  return check;
}

OptionCheck SelectorText() {
  OptionCheck check =
      ParsedBy([](const std::string& text) { return ParseSelector(text, kZeusEta); });
  check.words = {"energy", "time", "zeus", "max-slowdown:"};
  return check;
}

OptionCheck MaxCarbonIntensityText() { return ParsedBy(ParseMaxCarbonIntensity); }

OptionCheck PeriodText(const std::string& low) {
  const OptionCheck duration = DurationFrom(low, kTenYears);
  return {[duration](const std::string& value) {
            return value == "epoch" ? std::string() : duration.problem(value);
          },
          "",
          {}};
}

Status CheckOutputFile(const std::string& option, const std::string& path) {
  if (path.empty()) return {};
  const auto status = CheckUserFile(path);
  if (status) return {};
  return Fail(Code::kInvalidArgument, option + ": " + status.error().message);
}

}  // namespace lowtide::cli
