#include "grid/background_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/thread_name.h"

namespace lowtide {
BackgroundSource::BackgroundSource(const Source& source, Clock& clock, BackgroundOptions options)
    : source_(source),
      clock_(clock),
      options_(options),
      start_(clock.Now()),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

BackgroundSource::~BackgroundSource() = default;

void BackgroundSource::Run(const std::stop_token& stop) {
  NameThisThread("lowtide-grid");
  if (options_.kept_lookback > options_.lookback) {
    // Its answer is found in what is kept; where there is none, the look that follows says why.
    [[maybe_unused]] const auto kept =
        source_.History(start_ - ToMilliseconds(options_.kept_lookback), start_, start_);
  }
  while (!stop.stop_requested()) {
    const MonoTime began = clock_.Monotonic();
    const TimePoint now = clock_.Now();
    const TimePoint hour = std::chrono::floor<std::chrono::hours>(now);
    Look look{source_.History(start_ - ToMilliseconds(options_.lookback), now, now),
              source_.Forecast(hour, hour + ToMilliseconds(options_.horizon), now)};
    {
      const std::scoped_lock lock(mutex_);
      // A failure does not make what is known unknown.
      if (look_ && !look.history && look_->history) look.history = std::move(look_->history);
      if (look_ && !look.forecast && look_->forecast) look.forecast = std::move(look_->forecast);
      look_ = std::move(look);
    }
    looked_.notify_all();
    clock_.SleepUntil(began + ToNanoseconds(options_.refresh), stop);
  }
}

bool BackgroundSource::WaitForFirst(Seconds patience) const {
  std::unique_lock lock(mutex_);
  return looked_.wait_for(lock, patience, [this] { return look_.has_value(); });
}

Result<IntensitySeries> BackgroundSource::History(TimePoint from, TimePoint to,
                                                  TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  if (!look_) return Fail(Code::kUnavailable, "no source has answered yet");
  if (!look_->history) return std::unexpected(look_->history.error());
  return Touching(*look_->history, from, std::min(to, now + std::chrono::milliseconds(1)));
}

Result<IntensityReading> BackgroundSource::Latest(TimePoint now) const {
  LOWTIDE_TRY(const IntensitySeries series, History(now, now + std::chrono::milliseconds(1), now));
  const auto* const slot = SlotAt(series.slots, now);
  if (slot == nullptr) {
    return Fail(Code::kNotFound, fmt::format("nothing is known yet for {}", FormatTime(now)));
  }
  IntensityReading reading{series.origin, *slot, series.fetched_at};
  reading.origin.kind = series.KindOf(*slot);
  return reading;
}

Result<IntensitySeries> BackgroundSource::Forecast(TimePoint from, TimePoint to,
                                                   TimePoint /*now*/) const {
  const std::scoped_lock lock(mutex_);
  if (!look_) return Fail(Code::kUnavailable, "no source has answered yet");
  if (!look_->forecast) return std::unexpected(look_->forecast.error());
  return Touching(*look_->forecast, from, to);
}

}  // namespace lowtide
