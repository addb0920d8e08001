// SPDX-License-Identifier: Apache-2.0
// Which of many lanes (threads, streams) did something last, one of them left out: without a look at each of them.
#pragma once

#include "predict/graph.h"

namespace gapless::internal {

// Instants are taken in their order, so what one lane did last and what any other did last are all that can be asked
// for.
template <class Lane>
class NewestOfTwo {
 public:
  void Take(Lane lane, Instant instant) {
    if (newest_ != kNoInstant && lane != lane_) elsewhere_ = newest_;
    lane_ = lane;
    newest_ = instant;
  }
  // The last instant of a lane that is not `lane`; kNoInstant: there is none.
  Instant Elsewhere(Lane lane) const { return newest_ != kNoInstant && lane != lane_ ? newest_ : elsewhere_; }

 private:
  Lane lane_{};
  Instant newest_ = kNoInstant;
  Instant elsewhere_ = kNoInstant;  // of a lane that is not lane_
};

}  // namespace gapless::internal
