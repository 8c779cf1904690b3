// Policies and selectors as users write them: "POLICY\nSELECTOR".
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/policy.h"

namespace {

void Must(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line_end = input.find('\n');
  lowtide::PolicyOptions options;
  if (line_end != std::string_view::npos) options.selector = input.substr(line_end + 1);
  const auto policy = lowtide::ParsePolicy(input.substr(0, line_end), options);
  if (!policy) {
    Must(!policy.error().message.empty());
    return 0;
  }
  const auto& selector = policy->selector;
  Must(selector.eta >= 0 && selector.eta <= 1 && selector.max_slowdown >= 1);
  // A policy that was let through decides, and names itself so that it can be read again.
  const auto curve = lowtide::MakePowerCurve("", "", 1,
                                             {{lowtide::Watts(300), 1, lowtide::Watts(290)},
                                              {lowtide::Watts(100), 0.4, lowtide::Watts(99)}});
  lowtide::Situation situation;
  situation.curve = &*curve;
  const auto decision = lowtide::Decide(*policy, situation);
  Must(decision.limit.has_value() == (decision.outcome != lowtide::Outcome::kNoLimit));
  Must(lowtide::ParsePolicy(lowtide::PolicyName(*policy), options).has_value());
  return 0;
}
