#include "forecast/hourly_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "forecast/calibration.h"
#include "forecast/features.h"

namespace lowtide {
namespace {

using std::chrono::hours;

constexpr std::size_t kDay = 24;
constexpr std::size_t kWeek = 168;
constexpr std::size_t kFewestTrainingHours = 60 * kDay;
// How far before the first forecast the method is tried out for its errors, and how often it learns
// meanwhile: a multiple of each other.
constexpr std::size_t kTrialHours = 168 * kDay;
constexpr std::size_t kTrialRefit = 42 * kDay;
// The last part of the trial also has bands, so that their width has settled.
constexpr std::size_t kTrialBandHours = 60 * kDay;
constexpr std::size_t kRefit = 7 * kDay;

bool Learns(ForecastMethod method) {
  return method == ForecastMethod::kRidge || method == ForecastMethod::kBlend;
}

std::string Span(TimePoint start, std::size_t count) {
  return fmt::format("{} to {}", FormatTime(start),
                     FormatTime(start + hours(static_cast<std::int64_t>(count))));
}

Status Check(const HourlyRequest& request) {
  const HourlySeries& series = *request.intensity;
  if (request.horizon < 1 || request.horizon > kMaxHorizon) {
    return Fail(Code::kInvalidArgument, fmt::format("a horizon of {} h; allowed are 1 to {} h",
                                                    request.horizon, kMaxHorizon));
  }
  std::size_t before = request.train_until;
  for (const std::size_t issue : request.issues) {
    if (issue < before || issue > series.values.size()) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("issues must ascend from {} to at most {}; one is {}",
                              FormatTime(series.TimeOf(request.train_until)),
                              FormatTime(series.TimeOf(series.values.size())),
                              FormatTime(series.TimeOf(issue))));
    }
    before = issue;
  }
  const auto first =
      std::ranges::find_if(series.values, [](const auto& v) { return v.has_value(); });
  const auto known = static_cast<std::size_t>(first - series.values.begin());
  const std::size_t history = request.train_until - std::min(known, request.train_until);
  const std::size_t needed = HoursNeeded(request.method, request.horizon);
  if (history < needed) {
    return Fail(Code::kUnavailable,
                fmt::format("{} needs {:.1f} days of history before {}; there are {:.1f}",
                            MethodName(request.method), static_cast<double>(needed) / 24,
                            FormatTime(series.TimeOf(request.train_until)),
                            static_cast<double>(history) / 24));
  }
  return {};
}

// Those that end too early, or begin after learning has, would be made up.
Status CheckCovers(const HourlyColumns& given, const char* what, TimePoint from,
                   std::size_t count) {
  const TimePoint end = given.start + hours(static_cast<std::int64_t>(given.Hours()));
  if (given.start <= from && end >= from + hours(static_cast<std::int64_t>(count))) return {};
  return Fail(Code::kUnavailable, fmt::format("the {} covers {}, but {} is needed", what,
                                              Span(given.start, given.Hours()), Span(from, count)));
}

// Weather is needed at the hours that are forecast, the mix before them only.
Status CheckInputs(const HourlyRequest& request) {
  if (request.issues.empty()) return {};
  const TimePoint from = request.intensity->start;
  const std::size_t last = request.issues.back();
  if (request.weather != nullptr && Learns(request.method)) {
    LOWTIDE_TRY_STATUS(CheckCovers(*request.weather, "weather", from, last + request.horizon));
  }
  if (UsesMix(request)) {
    LOWTIDE_TRY_STATUS(CheckCovers(*request.mix, "generation mix", from, last));
  }
  return {};
}

ForecastTable Repeated(const FeatureTable& table, std::size_t period,
                       const std::vector<std::size_t>& issues, std::size_t horizon) {
  ForecastTable out(issues.size(), horizon);
  for (std::size_t k = 0; k < issues.size(); ++k) {
    for (std::size_t h = 0; h < horizon; ++h) {
      out.At(k, h) = std::exp(table.Log(issues[k] + h - period * (h / period + 1)));
    }
  }
  return out;
}

// Issues of one hour of the day.
class DailyForecasts {
 public:
  DailyForecasts(const HourlyRequest& request, const FeatureTable& table,
                 const std::vector<std::size_t>& issues)
      : request_(request), table_(table), wanted_(issues) {
    const std::size_t needed = HoursNeeded(request.method, request.horizon);
    const std::size_t until = request.train_until;
    // The trial must leave enough to learn from before it.
    const std::size_t room = until > needed ? until - needed : 0;
    trial_ = std::min(room / kTrialRefit * kTrialRefit, kTrialHours);
    trial_begin_ = until - trial_;
    const std::size_t first = issues.front() - (issues.front() - trial_begin_) / kDay * kDay;
    for (std::size_t i = first; i <= issues.back(); i += kDay) all_.push_back(i);
  }

  std::vector<HourlyForecast> Run() {
    ForecastTable mid = Middle();
    const Correction correction =
        request_.method == ForecastMethod::kBlend ? Correction::kByPastErrors : Correction::kNone;
    const std::size_t first = wanted_.front();
    const Band band =
        Calibrate(table_, all_, correction, first - std::min(first, kTrialBandHours), mid);
    std::vector<HourlyForecast> out;
    const auto row = [&](const ForecastTable& values, std::size_t k) {
      const auto begin = values.values.begin() + static_cast<std::ptrdiff_t>(k * values.horizon);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(values.horizon));
    };
    for (const std::size_t issue : wanted_) {
      const std::size_t k = (issue - all_.front()) / kDay;
      HourlyForecast forecast{issue, row(mid, k), {}, {}};
      if (band.known[k] != 0) {
        forecast.low = row(band.low, k);
        forecast.high = row(band.high, k);
      }
      out.push_back(std::move(forecast));
    }
    return out;
  }

 private:
  ForecastTable Middle() const {
    switch (request_.method) {
      case ForecastMethod::kPersistence: return Repeated(table_, kDay, all_, request_.horizon);
      case ForecastMethod::kWeekly: return Repeated(table_, kWeek, all_, request_.horizon);
      case ForecastMethod::kRidge: return Ridge();
      case ForecastMethod::kBlend: break;
    }
    std::vector<std::size_t> refits;
    for (std::size_t r = trial_begin_; r < request_.train_until; r += kTrialRefit) {
      refits.push_back(r);
    }
    for (std::size_t r = request_.train_until; r <= all_.back(); r += kRefit) refits.push_back(r);
    // Without weather little is known of the days after the first; chosen on the years before the
    // periods that are scored.
    BlendOptions options;
    if (request_.weather == nullptr) options.later_lambda = 60;
    return BlendForecasts(table_, options, refits, all_, request_.horizon, request_.phase);
  }

  // The errors of the trial must be those of a model that has not seen its outcomes.
  ForecastTable Ridge() const {
    std::vector<std::size_t> before;
    std::vector<std::size_t> after;
    for (const std::size_t i : all_) (i < request_.train_until ? before : after).push_back(i);
    ForecastTable out =
        RidgeForecasts(table_, trial_begin_, before, request_.horizon, request_.phase);
    const ForecastTable rest =
        RidgeForecasts(table_, request_.train_until, after, request_.horizon, request_.phase);
    out.values.insert(out.values.end(), rest.values.begin(), rest.values.end());
    return out;
  }

  const HourlyRequest& request_;
  const FeatureTable& table_;
  const std::vector<std::size_t>& wanted_;
  std::size_t trial_ = 0;
  std::size_t trial_begin_ = 0;
  std::vector<std::size_t> all_;  // every 24 h, the trial's first
};

}  // namespace

std::string_view MethodName(ForecastMethod method) {
  switch (method) {
    case ForecastMethod::kPersistence: return "persistence";
    case ForecastMethod::kWeekly: return "weekly";
    case ForecastMethod::kRidge: return "ridge";
    case ForecastMethod::kBlend: break;
  }
  return "blend";
}

Result<ForecastMethod> ParseMethod(std::string_view text) {
  for (const auto method : {ForecastMethod::kPersistence, ForecastMethod::kWeekly,
                            ForecastMethod::kRidge, ForecastMethod::kBlend}) {
    if (text == MethodName(method)) return method;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a forecast method; allowed are persistence, weekly, ridge "
                          "and blend",
                          text));
}

std::size_t HoursNeeded(ForecastMethod method, std::size_t horizon) {
  switch (method) {
    case ForecastMethod::kPersistence:
    case ForecastMethod::kWeekly: return kWeek;
    case ForecastMethod::kRidge:
    case ForecastMethod::kBlend: break;
  }
  return kFirstIssue + kFewestTrainingHours + horizon;
}

bool UsesMix(const HourlyRequest& request) {
  return request.mix != nullptr && request.method == ForecastMethod::kBlend &&
         request.train_until >= kFewestMixHours;
}

Result<std::vector<HourlyForecast>> ForecastHours(const HourlyRequest& request) {
  LOWTIDE_TRY_STATUS(Check(request));
  LOWTIDE_TRY_STATUS(CheckInputs(request));
  std::vector<HourlyForecast> out;
  if (request.issues.empty()) return out;
  const FeatureTable table(
      {request.intensity, Learns(request.method) ? request.weather : nullptr,
       UsesMix(request) ? request.mix : nullptr},
      request.method == ForecastMethod::kBlend ? FeatureSet::kExtended : FeatureSet::kReference,
      request.train_until);
  std::map<std::size_t, std::vector<std::size_t>> by_hour;
  for (const std::size_t issue : request.issues) by_hour[issue % kDay].push_back(issue);
  for (const auto& [hour, issues] : by_hour) {
    auto forecasts = DailyForecasts(request, table, issues).Run();
    std::ranges::move(forecasts, std::back_inserter(out));
  }
  std::ranges::sort(out, {}, &HourlyForecast::issue);
  return out;
}

}  // namespace lowtide
