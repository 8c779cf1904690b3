// Zeus's two CSV forms. The first line of the input is the selector, the rest the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "power_curve_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line_end = input.find('\n');
  if (line_end == std::string_view::npos) return 0;
  const auto argument = lowtide::SplitCurveArgument(input.substr(0, line_end));
  const auto curve =
      lowtide::ReadPowerCurve(input.substr(line_end + 1), argument.file, argument.selector);
  lowtide::CheckCurve(curve);
  return 0;
}
