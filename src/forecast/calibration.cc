#include "forecast/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lowtide {
namespace {

constexpr double kNewShare = 0.1;
constexpr double kTrust = 0.3;
constexpr std::size_t kErrorsKept = 60;
// Of two or three neighbouring leads, so of about twenty issues.
constexpr std::size_t kFewestErrors = 40;
constexpr double kMissRate = 0.2;
constexpr double kGain = 0.2;
constexpr double kHighest = 5000;  // g/kWh, see grid/intensity.h
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Interpolated between the order statistics k of n at (k + 1) / (n + 1); reorders the values.
double Quantile(std::vector<double>& values, double q) {
  const double last = static_cast<double>(values.size() - 1);
  const double at = std::clamp(q * static_cast<double>(values.size() + 1) - 1, 0.0, last);
  const auto k = static_cast<std::size_t>(at);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(k);
  std::ranges::nth_element(values, nth);
  const double below = *nth;
  if (k + 1 >= values.size()) return below;
  const double above = *std::min_element(nth + 1, values.end());
  return below + (at - static_cast<double>(k)) * (above - below);
}

class Calibrator {
 public:
  Calibrator(const FeatureTable& table, const std::vector<std::size_t>& issues,
             Correction correction, std::size_t first_band, ForecastTable& forecasts)
      : table_(table),
        first_band_(first_band),
        issues_(issues),
        trust_(correction == Correction::kByPastErrors ? kTrust : 0),
        forecasts_(forecasts),
        horizon_(forecasts.horizon),
        raw_(issues.size(), horizon_),
        errors_(issues.size(), horizon_),
        bias_(horizon_),
        widths_((horizon_ + 23) / 24, 1.0) {
    band_.low = ForecastTable(issues.size(), horizon_);
    band_.high = band_.low;
    band_.known.resize(issues.size());
  }

  Band Run() {
    for (std::size_t t = 0; t < issues_.size(); ++t) {
      Learn(t);
      Correct(t);
      if (issues_[t] >= first_band_) Spread(t);
    }
    return std::move(band_);
  }

 private:
  // The issue whose outcome at `lead` is the youngest that is known at issue t.
  static std::optional<std::size_t> Youngest(std::size_t t, std::size_t lead) {
    const std::size_t back = lead / 24 + 1;
    return t >= back ? std::optional(t - back) : std::nullopt;
  }

  void Learn(std::size_t t) {
    for (std::size_t day = 0; day < widths_.size(); ++day) {
      double misses = 0;
      double outcomes = 0;
      for (std::size_t h = 24 * day; h < std::min(horizon_, 24 * day + 24); ++h) {
        const auto past = Youngest(t, h);
        if (!past) continue;
        const std::size_t target = issues_[*past] + h;
        if (!table_.IsKnown(target)) {
          raw_.At(*past, h) = errors_.At(*past, h) = kUnknown;
          continue;
        }
        const double outcome = table_.Log(target);
        raw_.At(*past, h) = outcome - raw_.At(*past, h);
        errors_.At(*past, h) = outcome - std::log(forecasts_.At(*past, h));
        bias_[h] += kNewShare * (raw_.At(*past, h) - bias_[h]);
        if (band_.known[*past] == 0) continue;
        outcomes += 1;
        const double value = std::exp(outcome);
        if (value < band_.low.At(*past, h) || value > band_.high.At(*past, h)) misses += 1;
      }
      if (outcomes == 0) continue;
      const double factor = widths_[day] * std::exp(kGain * (misses / outcomes - kMissRate));
      widths_[day] = std::clamp(factor, 0.5, 3.0);
    }
  }

  void Correct(std::size_t t) {
    for (std::size_t h = 0; h < horizon_; ++h) {
      const double mid = std::log(forecasts_.At(t, h));
      raw_.At(t, h) = mid;
      forecasts_.At(t, h) = std::clamp(std::exp(mid + trust_ * bias_[h]), 1.0, kHighest);
    }
  }

  void Spread(std::size_t t) {
    bool known = true;
    for (std::size_t h = 0; h < horizon_ && known; ++h) {
      sample_.clear();
      for (std::size_t near = h > 0 ? h - 1 : 0; near < std::min(horizon_, h + 2); ++near) {
        const auto youngest = Youngest(t, near);
        if (!youngest) continue;
        const std::size_t end = *youngest + 1;
        for (std::size_t past = end - std::min(end, kErrorsKept); past < end; ++past) {
          const double error = errors_.At(past, near);
          if (!std::isnan(error)) sample_.push_back(error);
        }
      }
      known = sample_.size() >= kFewestErrors;
      if (!known) break;
      const double width = widths_[h / 24];
      const double mid = forecasts_.At(t, h);
      band_.low.At(t, h) = std::clamp(mid * std::exp(width * Quantile(sample_, 0.1)), 0.0, mid);
      band_.high.At(t, h) =
          std::clamp(mid * std::exp(width * Quantile(sample_, 0.9)), mid, kHighest);
    }
    band_.known[t] = known ? 1 : 0;
  }

  const FeatureTable& table_;
  std::size_t first_band_;
  const std::vector<std::size_t>& issues_;
  double trust_;
  ForecastTable& forecasts_;
  std::size_t horizon_;
  ForecastTable raw_;     // the uncorrected forecast's logarithm, then its error
  ForecastTable errors_;  // of the corrected forecast, NaN without an outcome
  std::vector<double> bias_;
  std::vector<double> widths_;
  Band band_;
  std::vector<double> sample_;
};

}  // namespace

Band Calibrate(const FeatureTable& table, const std::vector<std::size_t>& issues,
               Correction correction, std::size_t first_band, ForecastTable& forecasts) {
  return Calibrator(table, issues, correction, first_band, forecasts).Run();
}

}  // namespace lowtide
