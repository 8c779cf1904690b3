// The intensity that applies to a stretch of a run, and the record of what was used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grid/source.h"
#include "store/records.h"

namespace lowtide {

class IntensityFeed {
 public:
  // `source` may be null: nothing is known then. It must outlive the feed. `start`: grid time
  // before which nothing will be asked.
  IntensityFeed(const Source* source, TimePoint start) : source_(source), fetched_to_(start) {}

  struct Answer {
    std::optional<GramsPerKwh> mean;  // over the covered part
    double coverage = 0;              // share of the stretch that is covered, in [0, 1]
    bool estimated = false;           // a part of it is an estimate or a forecast
  };
  // Where the history does not reach `to` yet, the source's own forecast stands in, and is recorded
  // as one: providers tell of an hour when it is over, or later.
  // Time-weighted mean over [from, to), grid time; `to` is also the moment of asking.
  Answer Over(TimePoint from, TimePoint to);

  // The slots used since the last call; neighbours of one value are merged.
  std::vector<IntensityRecord> TakeUsed();

  // Set when the source answered with an error; told once per distinct message.
  std::optional<std::string> TakeProblem();

 private:
  void FetchUpTo(TimePoint to);
  void FillWithForecast(TimePoint from, TimePoint to);
  // Adds what the slots say from the end of what is known on, at most up to `end`.
  void Add(const IntensitySeries& series, TimePoint end);
  void Use(std::size_t index);

  const Source* source_;
  // What is known, and for each slot what it is.
  Series<GramsPerKwh> known_;
  struct Label {
    IntensityOrigin origin;
    bool operator==(const Label& o) const {
      return origin.source == o.origin.source && origin.kind == o.origin.kind &&
             origin.signal == o.origin.signal && origin.basis == o.origin.basis;
    }
  };
  std::vector<Label> labels_;
  TimePoint fetched_to_;
  bool fetched_ = false;
  std::vector<IntensityRecord> used_;
  std::string last_problem_;
  std::optional<std::string> new_problem_;
};

}  // namespace lowtide
