// SPDX-License-Identifier: Apache-2.0
// One step as lanes of coloured stretches, at the times of a replay: to draw a step before and after a fix side by
// side.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "predict/critical_path.h"

namespace gapless::internal {

struct PictureSpan {
  int64_t start_ns = 0, dur_ns = 0;  // since the step began
  Bound bound = Bound::kHost;
};

struct PictureLane {
  std::string name{};  // "stream 7", "thread 4242"
  std::vector<PictureSpan> spans{};
};

struct StepPicture {
  int64_t dur_ns = 0;
  std::vector<PictureLane> lanes{};  // host threads, then streams; the same in every picture of a rank
};

struct StepPictures {
  StepPicture before{}, after{};
};

// The complete step in the middle. What is too short to see is drawn together with its neighbours: a lane has at most
// some hundred stretches. No lanes: the recording has no complete step.
StepPicture DrawStep(const RankGraph& rank, std::span<const int64_t> times);

}  // namespace gapless::internal
