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
    bool estimated = false;
  };
  // Time-weighted mean over [from, to), grid time; `to` is also the moment of asking.
  Answer Over(TimePoint from, TimePoint to);

  // The slots used since the last call; neighbours of one value are merged.
  std::vector<IntensityRecord> TakeUsed();

  // Set when the source answered with an error; told once per distinct message.
  std::optional<std::string> TakeProblem();

 private:
  void FetchUpTo(TimePoint to);
  void Use(const Sample<GramsPerKwh>& slot);

  const Source* source_;
  IntensityOrigin origin_;
  Series<GramsPerKwh> known_;
  TimePoint fetched_to_;
  bool fetched_ = false;
  std::vector<IntensityRecord> used_;
  std::string last_problem_;
  std::optional<std::string> new_problem_;
};

}  // namespace lowtide
