// Asks a slow source on a thread of its own and answers from what has come in, so that nobody who
// must not wait ever waits for the network.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "grid/source.h"

namespace lowtide {

struct BackgroundOptions {
  Seconds lookback{48 * 3600.0};  // of history, before the start
  Seconds horizon{96 * 3600.0};   // of forecasts, from the hour that goes on
  Seconds refresh{60};            // between two looks at the source, which has ages of its own
  // History before `lookback` that is asked for once, so that it is kept; 0: none.
  Seconds kept_lookback{0};
};

// Thread-safe. Answers are those of the last look; before the first one nothing is known
// (kUnavailable).
class BackgroundSource final : public Source {
 public:
  // `source` and `clock` outlive this. Starts at once.
  BackgroundSource(const Source& source, Clock& clock, BackgroundOptions options = {});
  // Ends the thread; a request that is under way must be ended by its own stop token.
  ~BackgroundSource() override;
  BackgroundSource(const BackgroundSource&) = delete;
  BackgroundSource& operator=(const BackgroundSource&) = delete;

  // Waits for the first look, at most that long in real time; false when it has not come.
  bool WaitForFirst(Seconds patience) const;

  const IntensityOrigin& Origin() const override { return source_.Origin(); }
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensityReading> Latest(TimePoint now) const override;
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const override {
    return source_.Kept(from, to, now);
  }
  std::vector<std::string> TakeNotices() const override { return source_.TakeNotices(); }

 private:
  struct Look {
    Result<IntensitySeries> history;
    Result<IntensitySeries> forecast;
  };
  void Run(const std::stop_token& stop);

  const Source& source_;
  Clock& clock_;
  BackgroundOptions options_;
  TimePoint start_;

  mutable std::mutex mutex_;
  mutable std::condition_variable looked_;
  std::optional<Look> look_;
  std::jthread thread_;  // last: ends before the rest goes
};

}  // namespace lowtide
