// Whether a newest value is to be believed at once. Providers now and then give a value that they
// take back minutes later (45 g/kWh in a zone at 400, every 45 minutes); a power limit should not
// follow it.
#pragma once

#include <optional>

#include "base/time.h"
#include "base/units.h"

namespace lowtide {

// Less than a third or more than three times both the slot before and the same time of the day
// before (of one of them where only that is known), and more than 50 g/kWh away from it. Real grids
// move less within an hour, except where yesterday did, too: over the bundled hourly traces of
// CISO, PJM and ERCO (14 months each) it holds for no hour. Marginal intensities jump; do not ask
// for them.
bool IsDoubtful(GramsPerKwh value, std::optional<GramsPerKwh> before,
                std::optional<GramsPerKwh> day_before);

// The newest value that is in doubt. It counts once a later answer says it again.
class NewestDoubt {
 public:
  // Whether the slot that begins at `from` is to be left out: it is doubtful, and this is the first
  // answer that says so. `fetched_at`: when this answer came. A value within a tenth of the one in
  // doubt confirms it.
  bool Withholds(TimePoint from, GramsPerKwh value, TimePoint fetched_at);

 private:
  struct Doubt {
    TimePoint from;
    GramsPerKwh value;
    TimePoint fetched_at;
    bool confirmed = false;
  };
  std::optional<Doubt> doubt_;
};

}  // namespace lowtide
