// What a forecast of the hour `issue` + `lead` is regressed on. Hours are indices into the
// intensity series; `issue` is the first hour that is forecast, so nothing of the intensity from
// `issue` on is read. Weather is read at and around the target, for it is known ahead from weather
// forecasts.
//
// Reference features (47), y = ln(max(intensity, 1 g/kWh)), tau = issue + lead,
// k0 = floor(lead / 24) + 1: y[issue-1 .. issue-24]; y[tau-24k], k = k0..k0+6; y[tau-168] (the
// youngest known whole week before when the lead is longer than a week); y[tau-24k0-1] and
// y[min(tau-24k0+1, issue-1)]; the means of y over the last 168 and 672 h; the weekday of tau (7
// indicators); sine and cosine of 2 pi d / 365.25 and 4 pi d / 365.25 with d the day of the year.
// Per weather variable w, 7 more: w[tau], w[tau]^2, w[tau-3], w[tau+3], m = mean over
// [tau-12, tau+12), m - mean over [issue-24, issue), w[tau] - w[tau-24k0]. Indices beyond the
// weather series are clipped to it.
//
// Curved weather (kExtended) adds per variable, with v = mean over [tau-1, tau+2): hinges
// max(0, v - q) at the quartiles q and the 90 % quantile of the variable, v^3, v^2 and v^3 less
// their values 24k0 h earlier, m - mean over the 168 h before the issue; and the product of each
// pair of variables at tau. Wind farms answer to the cube of the wind up to a limit, demand to heat
// and cold, so the reference's straight lines and parabolas leave something over. And where less
// than a year can be learned from, the terms of the season are 0: they would carry on a trend.
//
// The mix of power stations (kExtended) adds, with s(t) the share that a kind of station has of
// what all fed in, for each kind whose share varies: s[issue-1], the means of s over the last 6 and
// 168 h, s[tau-168] (as above where the lead is longer), and what it fed in at issue-1. Of the
// logarithm of the sum of all kinds: its last value, its means over the last 24, 168 and 672 h, and
// its values at tau-24k0 and tau-168. One intensity may come of a calm night or of a sunny noon;
// the mix tells which, and how it goes on. Nothing of the mix from `issue` on is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forecast/hourly.h"

namespace lowtide {

// The first hour of a series that can be an issue: four weeks of lags and a day.
inline constexpr std::size_t kFirstIssue = 696;

// The longest lead, in hours.
inline constexpr std::size_t kMaxLead = std::size_t{14} * 24;

enum class FeatureSet : std::uint8_t { kReference, kExtended };

// What forecasts learn from. `intensity` must have a known hour; the others may be null.
struct FeatureInputs {
  const HourlySeries* intensity = nullptr;
  const Weather* weather = nullptr;
  const GenerationMix* mix = nullptr;  // not looked at by kReference
};

class FeatureTable {
 public:
  // Gaps of the intensity take the same hour of the day before (the first known value where there
  // is none); they are no targets. Weather and mix are taken as they are, over the hours that they
  // cover. `learn_until` (an hour) bounds what quantiles and spreads see and says how long the
  // history is.
  FeatureTable(const FeatureInputs& inputs, FeatureSet set, std::size_t learn_until);

  std::size_t Width() const { return width_; }
  std::size_t Hours() const { return log_.size(); }
  TimePoint Start() const { return start_; }

  // ln of the intensity at `hour`, with gaps filled.
  double Log(std::size_t hour) const { return log_[hour]; }
  bool IsKnown(std::size_t hour) const { return known_[hour] != 0; }

  // Writes Width() features. Needs kFirstIssue <= issue <= Hours() and lead < kMaxLead.
  void Fill(std::size_t issue, std::size_t lead, std::span<double> out) const;

 private:
  struct Variable {
    std::vector<double> values;
    std::vector<double> sums;  // of values before each hour
    std::vector<double> knots;
    double offset = 0;  // what the curved terms are centred on
  };

  // A sequence over the hours of the intensity, and what came before each hour in sum.
  struct Track {
    std::vector<double> values;
    std::vector<double> sums;

    double Mean(std::size_t from, std::size_t to) const {
      return (sums[to] - sums[from]) / static_cast<double>(to - from);
    }
  };

  // A kind of power stations.
  struct Kind {
    Track share;
    std::vector<double> generation;  // in shares of the usual sum of all kinds
  };

  void AddMix(const GenerationMix& mix, std::size_t learn_until);
  double* FillMix(std::size_t issue, std::size_t lead, double* out) const;
  void AddVariable(const std::vector<double>& values, std::size_t learn_until);
  // Of the variable at an hour of the intensity series, clipped to the weather's hours.
  double At(const Variable& variable, std::int64_t hour) const;
  // Mean over [from, to) with each hour clipped.
  double MeanOf(const Variable& variable, std::int64_t from, std::int64_t to) const;
  double* FillWeather(const Variable& variable, std::int64_t issue, std::int64_t lead,
                      double* out) const;

  double* FillCalendar(std::size_t target, double* out) const;

  TimePoint start_;
  FeatureSet set_;
  std::vector<double> log_;
  std::vector<double> log_sums_;
  std::vector<std::uint8_t> known_;
  std::vector<Variable> variables_;
  std::vector<Kind> kinds_;
  Track total_;  // logarithm of the sum of all kinds; empty without a mix
  std::chrono::sys_days first_day_;
  std::vector<std::array<double, 4>> seasons_;  // by day
  std::int64_t weather_shift_ = 0;              // index into the weather = hour + shift
  std::size_t width_ = 0;
};

}  // namespace lowtide
