// An ordered chain of sources for one zone: the first that answers counts, and whoever reads the
// answer learns which one it was and why. Signals are never mixed: what has another signal than the
// chain is passed over, and that is said too.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grid/source.h"

namespace lowtide {

struct ChainLink {
  std::string name;  // as in the settings: "electricity_maps", "forecast", "yearly"
  std::unique_ptr<Source> source;
  // Stands in for data rather than giving it (own forecast, yearly average): comes only after what
  // the others have kept.
  bool stand_in = false;
};

struct ChainOptions {
  // Nothing: that of the first link.
  std::optional<Signal> signal;
  // What is kept counts as history up to this age of its last slot.
  Seconds kept_age{24 * 3600.0};
  // Told before the chain's own: what was found while it was put together.
  std::vector<std::string> notices{};
};

// Thread-safe. Errors: the first link's, with every other link's reason behind it.
class SourceChain final : public Source {
 public:
  // kInvalidArgument when no link is left. Links of another signal are left out, with a notice.
  static Result<std::unique_ptr<SourceChain>> Make(std::vector<ChainLink> links,
                                                   ChainOptions options = {});

  // Of the first link; answers carry their own.
  const IntensityOrigin& Origin() const override { return links_.front().source->Origin(); }

  // In this order: each giving link's answer; what a giving link has kept; the stand-ins. An answer
  // without slots is passed over like an error.
  Result<IntensitySeries> History(TimePoint from, TimePoint to, TimePoint now) const override;
  // In the same order; a giving link of which the present is not told yet says it by its forecast.
  Result<IntensityReading> Latest(TimePoint now) const override;
  // Forecasts of the giving links, then the stand-ins.
  Result<IntensitySeries> Forecast(TimePoint from, TimePoint to, TimePoint now) const override;
  Result<IntensitySeries> Kept(TimePoint from, TimePoint to, TimePoint now) const override;

  std::vector<std::string> TakeNotices() const override;

 private:
  SourceChain(std::vector<ChainLink> links, ChainOptions options)
      : links_(std::move(links)), options_(std::move(options)) {}

  // Remembers who answers now; a change is a notice.
  void NoteAnswer(const std::string& purpose, const std::string& who, Basis basis,
                  const std::string& why) const;

  std::vector<ChainLink> links_;
  ChainOptions options_;

  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<std::string> notices_;
  struct Answering {
    std::string purpose;
    std::string who;
    Basis basis;
  };
  mutable std::vector<Answering> answering_;
};

}  // namespace lowtide
