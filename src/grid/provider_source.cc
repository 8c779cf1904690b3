#include "grid/provider_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lowtide {
namespace {

constexpr Seconds kShortestAge{300};
constexpr Seconds kLongestAge{1800};

std::vector<CachedSlot> ToSlots(const ProviderAnswer& answer, TimePoint now) {
  std::vector<CachedSlot> out;
  out.reserve(answer.slots.size());
  for (const ProviderSlot& s : answer.slots) {
    CachedSlot slot{s.from, s.to, s.value, s.estimated, answer.fetched_at, std::nullopt};
    if (answer.kind == IntensityKind::kForecast) slot.issued_at = answer.issued_at.value_or(now);
    out.push_back(slot);
  }
  return out;
}

}  // namespace

ProviderSource::ProviderSource(std::unique_ptr<Provider> provider, Zone zone, IntensityCache* cache,
                               Clock& clock, Freshness freshness, std::string kept_as)
    : provider_(std::move(provider)),
      zone_(std::move(zone)),
      cache_(cache),
      clock_(clock),
      freshness_(freshness),
      kept_as_(std::move(kept_as)) {
  if (kept_as_.empty()) kept_as_ = provider_->Name();
  const ProviderAbilities abilities = provider_->Abilities();
  if (!freshness_.history_age) {
    freshness_.history_age = std::clamp(abilities.step / 2, kShortestAge, kLongestAge);
  }
  origin_.source = std::string(provider_->Name());
  origin_.zone = zone_;
  origin_.signal = abilities.signal;
  origin_.basis = abilities.basis;
  origin_.kind = IntensityKind::kMeasured;
}

CachedSeries ProviderSource::SeriesOf(What what) const {
  return {kept_as_, zone_.key, std::string(SignalName(origin_.signal)),
          std::string(BasisName(origin_.basis)), what == What::kForecast};
}

IntensitySeries ProviderSource::ToSeries(What what, const std::vector<CachedSlot>& slots) const {
  IntensitySeries out{origin_, {}, {}};
  if (what == What::kForecast) out.origin.kind = IntensityKind::kForecast;
  for (const CachedSlot& slot : slots) {
    if (!out.fetched_at || *out.fetched_at < slot.fetched_at) out.fetched_at = slot.fetched_at;
    if (slot.issued_at)
      out.issued_at = std::max(out.issued_at.value_or(*slot.issued_at), *slot.issued_at);
    // Of two that overlap the later one begins where the earlier one ends.
    const TimePoint from = out.slots.empty() ? slot.from : std::max(slot.from, out.slots.back().to);
    if (from >= slot.to) continue;
    out.slots.push_back({from, slot.to, slot.value});
    if (slot.estimated) out.estimated.push_back(from);
  }
  return out;
}

std::optional<IntensitySeries> ProviderSource::Fresh(What what, TimePoint from, TimePoint to,
                                                     TimePoint now, Seconds longest_age) const {
  if (cache_ == nullptr) return std::nullopt;
  const CachedSeries series = SeriesOf(what);
  // When [a, b) was asked for; nothing when it was not, or when the clock was wrong then.
  const auto asked = [&](TimePoint a, TimePoint b) -> std::optional<TimePoint> {
    const auto at = cache_->AskedAt(series, a, b);
    if (!at || *at > now) return std::nullopt;
    return *at;
  };
  const auto age = ToMilliseconds(longest_age);
  const auto settled_after = ToMilliseconds(freshness_.settled_after);
  if (what == What::kForecast || now - to >= settled_after) {
    const auto at = asked(from, to);
    if (!at || (now - *at > age && *at - to < settled_after)) return std::nullopt;
  } else {
    // The newest part is always a little older than now: it must have been asked for lately, and
    // the rest at some time.
    const TimePoint end = to - age;
    const auto at = asked(end - std::chrono::milliseconds(1), end);
    if (!at || now - *at > age || (from < end && !asked(from, end))) return std::nullopt;
  }
  const auto slots = cache_->Slots(series, from, to, now);
  if (!slots) return std::nullopt;
  return ToSeries(what, *slots);
}

Result<IntensitySeries> ProviderSource::Ask(What what, TimePoint from, TimePoint to,
                                            TimePoint now) const {
  auto& failure = failures_[static_cast<std::size_t>(what)];
  {
    const std::scoped_lock lock(mutex_);
    if (failure && ToSeconds(clock_.Monotonic() - failure->at) < freshness_.after_failure) {
      return std::unexpected(failure->error);
    }
  }
  const auto answer = what == What::kForecast ? provider_->Forecast(zone_, from, to, now)
                                              : provider_->History(zone_, from, to, now);
  const std::scoped_lock lock(mutex_);
  if (!answer) {
    failure = Failure{clock_.Monotonic(), answer.error()};
    return std::unexpected(answer.error());
  }
  failure.reset();
  for (const std::string& note : answer->notes) {
    if (std::ranges::find(notices_, note) == notices_.end()) notices_.push_back(note);
  }
  if (answer->signal != origin_.signal || answer->basis != origin_.basis) {
    return Fail(Code::kDataLoss,
                fmt::format("{}: zone {}: answered with {} {} intensity, where {} {} was expected",
                            provider_->Name(), zone_.key, SignalName(answer->signal),
                            BasisName(answer->basis), SignalName(origin_.signal),
                            BasisName(origin_.basis)));
  }
  const std::vector<CachedSlot> slots = ToSlots(*answer, now);
  if (cache_ != nullptr) {
    // Asked up to now at most: what is to come was not asked for.
    const TimePoint asked_to = what == What::kForecast ? to : std::min(to, now);
    if (from < asked_to) {
      const auto kept = cache_->Put(SeriesOf(what), slots, from, asked_to, now);
      if (!kept) notices_.push_back("intensities are not kept: " + kept.error().message);
    }
  }
  return ToSeries(what, slots);
}

TimePoint ProviderSource::AskFrom(TimePoint from, TimePoint now) const {
  const TimePoint settled = now - ToMilliseconds(freshness_.settled_after);
  if (cache_ == nullptr || from >= settled) return from;
  const auto at = cache_->AskedAt(SeriesOf(What::kHistory), from, settled);
  return at && *at && **at <= now ? settled : from;
}

void ProviderSource::WithholdDoubtful(IntensitySeries& series, TimePoint now) const {
  if (origin_.signal != Signal::kAverage || series.slots.empty() || cache_ == nullptr) return;
  const auto newest = series.slots.back();
  // Only what may still be taken back.
  if (now - newest.to > std::chrono::hours(3)) return;
  constexpr auto kDay = std::chrono::hours(24);
  const auto at = [&](TimePoint a, TimePoint b) -> std::optional<GramsPerKwh> {
    const auto slots = cache_->Slots(SeriesOf(What::kHistory), a, b, now);
    if (!slots) return std::nullopt;
    return MeanOver(ToSeries(What::kHistory, *slots).slots, a, b).value;
  };
  const auto before = at(newest.from - (newest.to - newest.from), newest.from);
  const auto day_before = at(newest.from - kDay, newest.to - kDay);
  if (!IsDoubtful(newest.value, before, day_before)) return;
  const std::scoped_lock lock(mutex_);
  if (!doubt_.Withholds(newest.from, newest.value, series.fetched_at.value_or(now))) return;
  series.slots.pop_back();
  std::string note =
      fmt::format("{:.0f} g/kWh for {} is not believed before it is said again: it was {:.0f} {}",
                  newest.value.v, FormatTime(newest.from), (before ? before : day_before)->v,
                  before ? "just before" : "a day before");
  if (std::ranges::find(notices_, note) == notices_.end()) notices_.push_back(std::move(note));
}

Result<IntensitySeries> ProviderSource::History(TimePoint from, TimePoint to, TimePoint now) const {
  return HistoryOfAge(from, to, now, *freshness_.history_age);
}

Result<IntensitySeries> ProviderSource::HistoryOfAge(TimePoint from, TimePoint to, TimePoint now,
                                                     Seconds age) const {
  // Nothing that starts later is known now.
  to = std::min(to, now + std::chrono::milliseconds(1));
  if (from >= to) return IntensitySeries{origin_, {}, {}};
  auto series = Fresh(What::kHistory, from, std::min(to, now), now, age);
  if (!series) {
    const TimePoint ask_from = AskFrom(from, now);
    LOWTIDE_TRY(series, Ask(What::kHistory, ask_from, to, now));
    if (ask_from > from) {
      LOWTIDE_TRY(const auto slots, cache_->Slots(SeriesOf(What::kHistory), from, to, now));
      series = ToSeries(What::kHistory, slots);
    }
  }
  WithholdDoubtful(*series, now);
  std::erase_if(series->slots, [&](const auto& s) { return s.to <= from || s.from >= to; });
  return *std::move(series);
}

Result<IntensityReading> ProviderSource::Latest(TimePoint now) const {
  const TimePoint from = now - std::chrono::hours(1);
  LOWTIDE_TRY(IntensitySeries series, History(from, now, now));
  if (SlotAt(series.slots, now) == nullptr) {
    const Seconds age = std::min(freshness_.latest_age, *freshness_.history_age);
    LOWTIDE_TRY(series, HistoryOfAge(from, now, now, age));
  }
  if (const auto* slot = SlotAt(series.slots, now)) {
    IntensityReading reading{series.origin, *slot, series.fetched_at};
    reading.origin.kind = series.KindOf(*slot);
    return reading;
  }
  return Fail(Code::kNotFound, fmt::format("{}: zone {}: nothing is known yet for {}",
                                           provider_->Name(), zone_.key, FormatTime(now)));
}

Result<IntensitySeries> ProviderSource::Forecast(TimePoint from, TimePoint to,
                                                 TimePoint now) const {
  if (!provider_->Abilities().forecast) {
    return Fail(Code::kUnimplemented,
                fmt::format("{}: zone {}: it gives no forecast", provider_->Name(), zone_.key));
  }
  if (auto series = Fresh(What::kForecast, from, to, now, freshness_.forecast_age))
    return *std::move(series);
  return Ask(What::kForecast, from, to, now);
}

Result<std::vector<IntensitySeries>> ProviderSource::IssuedForecasts(TimePoint from, TimePoint to,
                                                                     TimePoint now) const {
  std::vector<IntensitySeries> out;
  const auto answers = provider_->PastForecasts(zone_, from, to, now);
  if (answers) {
    for (const ProviderAnswer& answer : *answers) {
      out.push_back(ToSeries(What::kForecast, ToSlots(answer, now)));
    }
    return out;
  }
  if (answers.error().code != Code::kUnimplemented) return std::unexpected(answers.error());
  if (cache_ == nullptr) return out;
  const CachedSeries series = SeriesOf(What::kForecast);
  LOWTIDE_TRY(const auto issues, cache_->Issues(series, from, to));
  for (const TimePoint issued : issues) {
    constexpr auto kFarthest = std::chrono::days(14);
    LOWTIDE_TRY(const auto slots, cache_->Slots(series, issued, issued + kFarthest, issued));
    out.push_back(ToSeries(What::kForecast, slots));
  }
  return out;
}

Result<IntensitySeries> ProviderSource::Kept(TimePoint from, TimePoint to, TimePoint now) const {
  if (cache_ == nullptr) return IntensitySeries{origin_, {}, {}};
  LOWTIDE_TRY(const auto slots, cache_->Slots(SeriesOf(What::kHistory), from, to, now));
  return ToSeries(What::kHistory, slots);
}

std::vector<std::string> ProviderSource::TakeNotices() const {
  const std::scoped_lock lock(mutex_);
  return std::exchange(notices_, {});
}

}  // namespace lowtide
