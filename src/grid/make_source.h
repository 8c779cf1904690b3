// Chooses the intensity of a run from what the user gave.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "grid/source.h"

namespace lowtide {

enum class YearlyAverages : std::uint8_t { kAllow, kRefuse };

struct IntensityOptions {
  std::optional<double> constant_g_per_kwh;
  std::optional<std::string> trace_argument;  // FILE[:COLUMN], see grid/trace.h
  std::string zone;                           // empty: not given
  YearlyAverages yearly_averages = YearlyAverages::kAllow;
  // Tables of grid/sources/yearly_source.h; read only when a yearly average is wanted.
  std::string_view countries_csv;
  std::string_view yearly_intensity_csv;
};

// The first of these that was given: the constant (0 to 5000 g/kWh), the trace, the yearly average
// of the zone's country. The zone labels the first two, and chooses the column of a trace. Nothing
// given: a NoSource with the reason, so that energy is still reported.
// Errors: kInvalidArgument for a constant out of range, a constant together with a trace, a
// malformed zone, and all of ParseTrace; those of ReadFile for the trace; kNotFound for a zone
// without a yearly average. A source that cannot be had is never replaced by another.
Result<std::unique_ptr<Source>> MakeSource(const IntensityOptions& options);

// Why there is no intensity, when `source` is a NoSource; nothing otherwise.
std::optional<std::string> WhyNoIntensity(const Source& source);

// An intensity that the user may state: 0 to 5000 g/kWh; kInvalidArgument otherwise (also for NaN).
Result<GramsPerKwh> CheckedIntensity(double g_per_kwh);

}  // namespace lowtide
