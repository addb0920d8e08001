// SPDX-License-Identifier: Apache-2.0
// Finds the last event of all lanes (threads or streams) but one in constant time.
#pragma once

#include "predict/graph.h"

namespace gapless::internal {

// Events arrive in time order. So it is enough to keep the newest event and the newest event of any other lane.
template <class Lane>
class NewestOfTwo {
 public:
  void Take(Lane lane, Instant instant) {
    if (newest_ != kNoInstant && lane != lane_) elsewhere_ = newest_;
    lane_ = lane;
    newest_ = instant;
  }
  // Returns the newest event of any lane; kNoInstant without events.
  Instant Any() const { return newest_; }
  // Returns the newest event of the other lanes; kNoInstant if they have no event.
  Instant Elsewhere(Lane lane) const { return newest_ != kNoInstant && lane != lane_ ? newest_ : elsewhere_; }

 private:
  Lane lane_{};
  Instant newest_ = kNoInstant;
  Instant elsewhere_ = kNoInstant;  // newest event of the other lanes
};

}  // namespace gapless::internal
