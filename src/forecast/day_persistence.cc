#include "forecast/day_persistence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace lowtide {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDay = std::chrono::hours(24);
constexpr milliseconds kOldestReading = std::chrono::hours(6);
constexpr milliseconds kLongestHorizon = std::chrono::days(366);
constexpr Seconds kFade = std::chrono::hours(12);
constexpr double kLeastRatio = 0.5;
constexpr double kGreatestRatio = 2;

struct Span {
  TimePoint from;
  TimePoint to;
};

// The parts of [from, to) that no slot covers.
std::vector<Span> Gaps(const Series<GramsPerKwh>& slots, TimePoint from, TimePoint to) {
  std::vector<Span> gaps;
  for (const auto& slot : slots) {
    if (slot.from > from) gaps.push_back({from, std::min(slot.from, to)});
    from = std::max(from, slot.to);
    if (from >= to) return gaps;
  }
  gaps.push_back({from, to});
  return gaps;
}

void AppendClipped(Sample<GramsPerKwh> slot, TimePoint from, TimePoint to,
                   Series<GramsPerKwh>& out) {
  slot.from = std::max(slot.from, from);
  slot.to = std::min(slot.to, to);
  if (slot.from < slot.to) out.push_back(slot);
}

// One forecast in the making.
class Prediction {
 public:
  Prediction(const Source& source, TimePoint now) : source_(source), now_(now) {}

  // Finds the latest reading and how it stands to yesterday.
  Status Look() {
    // One tick past `now`, so that a slot starting just now is the latest.
    LOWTIDE_TRY(const IntensitySeries recent,
                source_.History(now_ - kOldestReading, now_ + milliseconds(1), now_));
    known_until_ = now_;
    if (recent.slots.empty()) return {};
    latest_ = recent.slots.back();
    known_until_ = latest_->to;
    const TimePoint from = latest_->from - kDay;
    const TimePoint to = latest_->to - kDay;
    LOWTIDE_TRY(const IntensitySeries before, source_.History(from, to, now_));
    const auto yesterday = MeanOver(before.slots, from, to).value;
    if (yesterday && yesterday->v > 0) {
      ratio_ = std::clamp(latest_->value / *yesterday, kLeastRatio, kGreatestRatio);
    }
    return {};
  }

  Status Fill(TimePoint from, TimePoint to) {
    LOWTIDE_TRY(const IntensitySeries known, source_.History(from, to, now_));
    for (const auto& slot : known.slots) {
      AppendClipped(slot, from, to, out_);
      used_known_ = true;
    }
    for (const Span& gap : Gaps(known.slots, from, to)) {
      LOWTIDE_TRY_STATUS(FillGap(gap));
    }
    std::ranges::sort(out_, {}, &Sample<GramsPerKwh>::from);
    return {};
  }

  Result<IntensitySeries> Finish(std::string_view name) {
    const std::string of = fmt::format("{} of {}", name, source_.Origin().source);
    if (out_.empty()) {
      const auto reading = source_.Latest(now_);
      return Fail(Code::kUnavailable,
                  fmt::format("{}: nothing is known of the day before nor of the last 6 hours: {}",
                              of, reading ? "no reading" : reading.error().message));
    }
    IntensitySeries series{source_.Origin(), std::move(out_)};
    series.origin.source = fmt::format("{} ({})", of, fmt::join(Methods(), "; "));
    series.origin.kind = IntensityKind::kForecast;
    return series;
  }

 private:
  // Day by day, so that each part is taken from the youngest day that is known there.
  Status FillGap(const Span& gap) {
    for (TimePoint t = gap.from; t < gap.to;) {
      const auto ahead = t - known_until_;
      const std::int64_t days = ahead < milliseconds(0) ? 1 : ahead / kDay + 1;
      const TimePoint end = std::min(gap.to, known_until_ + days * kDay);
      LOWTIDE_TRY_STATUS(FillFromDay({t, end}, days * kDay));
      t = end;
    }
    return {};
  }

  Status FillFromDay(const Span& part, milliseconds shift) {
    LOWTIDE_TRY(IntensitySeries before, source_.History(part.from - shift, part.to - shift, now_));
    for (auto& slot : before.slots) {
      slot.from += shift;
      slot.to += shift;
      slot.value = slot.value * Correction(slot.from);
      AppendClipped(slot, part.from, part.to, out_);
      used_yesterday_ = true;
    }
    if (!latest_) return {};
    for (const Span& gap : Gaps(before.slots, part.from, part.to)) {
      out_.push_back({gap.from, gap.to, latest_->value});
      used_latest_ = true;
    }
    return {};
  }

  double Correction(TimePoint slot_start) const {
    if (!ratio_) return 1;
    const Seconds lead = std::max(milliseconds(0), slot_start - known_until_);
    return 1 + (*ratio_ - 1) * std::exp(-lead / kFade);
  }

  std::vector<std::string> Methods() const {
    std::vector<std::string> methods;
    if (used_known_) methods.emplace_back("known values");
    if (used_yesterday_ && ratio_) {
      methods.push_back(fmt::format("yesterday x {:.3f} by the reading of {}", *ratio_,
                                    FormatTime(latest_->from)));
    } else if (used_yesterday_) {
      methods.emplace_back("yesterday, uncorrected");
    }
    if (used_latest_) {
      methods.push_back(
          fmt::format("the reading of {} where yesterday is missing", FormatTime(latest_->from)));
    }
    return methods;
  }

  const Source& source_;
  TimePoint now_;
  TimePoint known_until_;
  std::optional<Sample<GramsPerKwh>> latest_;
  std::optional<double> ratio_;  // nothing: no correction
  Series<GramsPerKwh> out_;
  bool used_known_ = false;
  bool used_yesterday_ = false;
  bool used_latest_ = false;
};

}  // namespace

Result<IntensitySeries> DayPersistence::Predict(const Source& source, TimePoint from, TimePoint to,
                                                TimePoint now) const {
  if (from >= to || to - now > kLongestHorizon) {
    return Fail(Code::kInvalidArgument,
                fmt::format("no forecast of [{}, {}): the end must be after the start and at most "
                            "366 days after {}",
                            FormatTime(from), FormatTime(to), FormatTime(now)));
  }
  const IntensityKind kind = source.Origin().kind;
  if (kind == IntensityKind::kConstant || kind == IntensityKind::kYearlyAverage) {
    return source.Forecast(from, to, now);
  }
  Prediction prediction(source, now);
  LOWTIDE_TRY_STATUS(prediction.Look());
  LOWTIDE_TRY_STATUS(prediction.Fill(from, to));
  return prediction.Finish(Name());
}

}  // namespace lowtide
