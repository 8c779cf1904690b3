#include "forecast/features.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lowtide {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;

constexpr std::int64_t kDay = 24;
constexpr std::int64_t kWeek = 168;
constexpr std::int64_t kFourWeeks = 672;
constexpr std::size_t kYearOfHours = std::size_t{365} * 24;
constexpr std::size_t kReferenceWidth = 47;
constexpr std::size_t kWeatherWidth = 7;
constexpr std::size_t kKnots = 4;
constexpr std::size_t kExtendedWidth = kKnots + 4;
constexpr std::size_t kKindWidth = 5;
constexpr std::size_t kTotalWidth = 6;
// Of a kind's share: one that varies less tells nothing, and costs as much as the others.
constexpr double kLeastDeviation = 0.004;
constexpr std::size_t kMaxKinds = 10;
// Of the usual sum: none is taken for smaller, lest shares know no bounds.
constexpr double kLeastTotal = 0.01;
// A variable is a handful of pairs with the others; more would cost more than they tell.
constexpr std::size_t kMaxPaired = 4;

std::vector<double> SumsOf(const std::vector<double>& values) {
  std::vector<double> sums(values.size() + 1);
  for (std::size_t k = 0; k < values.size(); ++k) sums[k + 1] = sums[k] + values[k];
  return sums;
}

// Sine and cosine of the yearly and half-yearly angle.
std::array<double, 4> SeasonOf(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  const auto new_year = std::chrono::sys_days(date.year() / std::chrono::January / 1);
  const double angle =
      2 * std::numbers::pi * static_cast<double>((day - new_year).count() + 1) / 365.25;
  return {std::sin(angle), std::cos(angle), std::sin(2 * angle), std::cos(2 * angle)};
}

std::size_t PairsOf(std::size_t variables) {
  const std::size_t n = std::min(variables, kMaxPaired);
  return n * (n - (n > 0 ? 1 : 0)) / 2;
}

}  // namespace

FeatureTable::FeatureTable(const FeatureInputs& inputs, FeatureSet set, std::size_t learn_until)
    : start_(inputs.intensity->start), set_(set) {
  const auto& values = inputs.intensity->values;
  const auto first = std::ranges::find_if(values, [](const auto& v) { return v.has_value(); });
  const double stand_in = first == values.end() ? 1.0 : **first;
  log_.reserve(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    known_.push_back(values[k] ? 1 : 0);
    if (values[k]) {
      log_.push_back(std::log(std::max(*values[k], 1.0)));
    } else {
      log_.push_back(k >= 24 ? log_[k - 24] : std::log(std::max(stand_in, 1.0)));
    }
  }
  log_sums_ = SumsOf(log_);
  const bool seasonal = set == FeatureSet::kReference || learn_until >= kYearOfHours;
  first_day_ = floor<days>(start_);
  const std::size_t day_count = (values.size() + kMaxLead) / 24 + 2;
  for (std::size_t k = 0; k < day_count; ++k) {
    seasons_.push_back(!seasonal ? std::array<double, 4>{}
                                 : SeasonOf(first_day_ + days(static_cast<int>(k))));
  }
  width_ = kReferenceWidth;
  if (inputs.mix != nullptr && inputs.mix->Hours() > 0 && set == FeatureSet::kExtended) {
    AddMix(*inputs.mix, learn_until);
    width_ += kKindWidth * kinds_.size() + kTotalWidth;
  }
  const Weather* weather = inputs.weather;
  if (weather == nullptr || weather->Hours() == 0) return;
  weather_shift_ = (start_ - weather->start) / hours(1);
  for (const auto& column : weather->columns) AddVariable(column, learn_until);
  width_ += kWeatherWidth * variables_.size();
  if (set_ == FeatureSet::kExtended) {
    width_ += kExtendedWidth * variables_.size() + PairsOf(variables_.size());
  }
}

void FeatureTable::AddMix(const GenerationMix& mix, std::size_t learn_until) {
  const std::size_t hours_known = log_.size();
  const std::int64_t shift = (start_ - mix.start) / hours(1);
  const auto last = static_cast<std::int64_t>(mix.Hours()) - 1;
  const auto row = [&](std::size_t hour) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(hour) + shift, 0, last));
  };
  std::vector<double> sums(hours_known);
  for (std::size_t h = 0; h < hours_known; ++h) {
    for (const auto& column : mix.columns) sums[h] += column[row(h)];
  }
  learn_until = std::clamp<std::size_t>(learn_until, 1, hours_known);
  const auto n = static_cast<double>(learn_until);
  const double usual = std::max(
      std::accumulate(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(learn_until), 0.0) /
          n,
      1e-9);
  for (double& sum : sums) sum = std::max(sum, kLeastTotal * usual);
  for (const auto& column : mix.columns) {
    Kind kind;
    double mean = 0;
    double squares = 0;
    for (std::size_t h = 0; h < hours_known; ++h) {
      const double value = column[row(h)];
      kind.share.values.push_back(value / sums[h]);
      kind.generation.push_back(value / usual);
      if (h >= learn_until) continue;
      mean += kind.share.values[h] / n;
      squares += kind.share.values[h] * kind.share.values[h] / n;
    }
    if (squares - mean * mean < kLeastDeviation * kLeastDeviation) continue;
    if (kinds_.size() == kMaxKinds) break;
    kind.share.sums = SumsOf(kind.share.values);
    kinds_.push_back(std::move(kind));
  }
  for (const double sum : sums) total_.values.push_back(std::log(sum / usual));
  total_.sums = SumsOf(total_.values);
}

double* FeatureTable::FillMix(std::size_t issue, std::size_t lead, double* out) const {
  const std::size_t tau = issue + lead;
  const std::size_t week_before = tau - 168 * (lead / 168 + 1);
  for (const Kind& kind : kinds_) {
    *out++ = kind.share.values[issue - 1];
    *out++ = kind.share.Mean(issue - 6, issue);
    *out++ = kind.share.Mean(issue - 168, issue);
    *out++ = kind.share.values[week_before];
    *out++ = kind.generation[issue - 1];
  }
  *out++ = total_.values[issue - 1];
  for (const std::size_t window : {24U, 168U, 672U}) *out++ = total_.Mean(issue - window, issue);
  *out++ = total_.values[tau - 24 * (lead / 24 + 1)];
  *out++ = total_.values[week_before];
  return out;
}

void FeatureTable::AddVariable(const std::vector<double>& values, std::size_t learn_until) {
  Variable variable{values, SumsOf(values), {}, 0};
  const auto end = std::clamp<std::int64_t>(static_cast<std::int64_t>(learn_until) + weather_shift_,
                                            1, static_cast<std::int64_t>(values.size()));
  std::vector<double> sorted(values.begin(), values.begin() + end);
  std::ranges::sort(sorted);
  for (const double q : {0.25, 0.5, 0.75, 0.9}) {
    variable.knots.push_back(
        sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]);
  }
  variable.offset = variable.knots[1];
  variables_.push_back(std::move(variable));
}

double FeatureTable::At(const Variable& variable, std::int64_t hour) const {
  const auto last = static_cast<std::int64_t>(variable.values.size()) - 1;
  return variable
      .values[static_cast<std::size_t>(std::clamp<std::int64_t>(hour + weather_shift_, 0, last))];
}

double FeatureTable::MeanOf(const Variable& variable, std::int64_t from, std::int64_t to) const {
  const std::int64_t a = from + weather_shift_;
  const std::int64_t b = to + weather_shift_;
  const auto size = static_cast<std::int64_t>(variable.values.size());
  if (a >= 0 && b <= size) {
    return (variable.sums[static_cast<std::size_t>(b)] -
            variable.sums[static_cast<std::size_t>(a)]) /
           static_cast<double>(b - a);
  }
  double sum = 0;
  for (std::int64_t k = from; k < to; ++k) sum += At(variable, k);
  return sum / static_cast<double>(to - from);
}

double* FeatureTable::FillWeather(const Variable& variable, std::int64_t issue, std::int64_t lead,
                                  double* out) const {
  const std::int64_t tau = issue + lead;
  const std::int64_t before = tau - kDay * (lead / kDay + 1);
  const double now = At(variable, tau);
  const double day_mean = MeanOf(variable, tau - 12, tau + 12);
  *out++ = now;
  *out++ = now * now;
  *out++ = At(variable, tau - 3);
  *out++ = At(variable, tau + 3);
  *out++ = day_mean;
  *out++ = day_mean - MeanOf(variable, issue - kDay, issue);
  *out++ = now - At(variable, before);
  if (set_ == FeatureSet::kReference) return out;

  const double v = MeanOf(variable, tau - 1, tau + 2);
  for (const double knot : variable.knots) *out++ = std::max(0.0, v - knot);
  // Centred, lest temperatures in kelvin make all powers of them the same but for the last digits.
  const double c = v - variable.offset;
  const double b = At(variable, before) - variable.offset;
  *out++ = c * c * c;
  *out++ = c * c - b * b;
  *out++ = c * c * c - b * b * b;
  *out++ = day_mean - MeanOf(variable, issue - kWeek, issue);
  return out;
}

double* FeatureTable::FillCalendar(std::size_t target, double* out) const {
  const auto into = start_ - first_day_ + hours(static_cast<std::int64_t>(target));
  const std::int64_t day = into / days(1);
  const unsigned weekday = std::chrono::weekday(first_day_ + days(day)).iso_encoding() - 1;
  for (unsigned k = 0; k < 7; ++k) *out++ = k == weekday ? 1.0 : 0.0;
  return std::ranges::copy(seasons_[static_cast<std::size_t>(day)], out).out;
}

void FeatureTable::Fill(std::size_t issue, std::size_t lead, std::span<double> out) const {
  double* p = out.data();
  const std::size_t tau = issue + lead;
  const std::size_t days_back = lead / 24 + 1;
  for (std::size_t k = 1; k <= 24; ++k) *p++ = log_[issue - k];
  for (std::size_t k = days_back; k < days_back + 7; ++k) *p++ = log_[tau - 24 * k];
  *p++ = log_[tau - 168 * (lead / 168 + 1)];
  *p++ = log_[tau - 24 * days_back - 1];
  *p++ = log_[std::min(tau - 24 * days_back + 1, issue - 1)];
  const auto mean = [&](std::int64_t window) {
    const auto w = static_cast<std::size_t>(window);
    return (log_sums_[issue] - log_sums_[issue - w]) / static_cast<double>(window);
  };
  *p++ = mean(kWeek);
  *p++ = mean(kFourWeeks);
  p = FillCalendar(tau, p);
  if (!total_.values.empty()) p = FillMix(issue, lead, p);
  const auto i = static_cast<std::int64_t>(issue);
  const auto l = static_cast<std::int64_t>(lead);
  for (const Variable& variable : variables_) p = FillWeather(variable, i, l, p);
  if (set_ == FeatureSet::kReference) return;
  const std::size_t paired = std::min(variables_.size(), kMaxPaired);
  for (std::size_t a = 0; a < paired; ++a) {
    for (std::size_t b = a + 1; b < paired; ++b) {
      *p++ = (At(variables_[a], i + l) - variables_[a].offset) *
             (At(variables_[b], i + l) - variables_[b].offset);
    }
  }
}

}  // namespace lowtide
