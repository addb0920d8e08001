// SPDX-License-Identifier: Apache-2.0
// May a recording be used to predict? Replaying what was recorded must give what was recorded, and the replay must
// react to faster and slower kernels and to a faster host as far as the recording says it must.
//
// The second matters more. A replay that misses a reason to wait takes time as it was recorded: it repeats the
// recording without any error, and predicts that nothing helps. So the work there was is measured without the graph,
// from the recording alone: H, the time in which some thread of the program did work of its own, and G, the time in
// which some operation was on a device. On whatever path a step takes its time, at most H of it is host work and at
// most G device work, and a device does all of the work of its busiest stream, B. With kernels taking k times as long,
// and the host h times,
//
//   kernels twice as fast   at least step − G/2, and at most (step + H + U) / 2
//   kernels half as fast    at least 2 B, at most step + G
//   host twice as fast      at least step − H/2 and at least B, and at most (step + G + U) / 2
//
// with U, the time in which neither worked: what is left of the step without the times in which either did, which
// overlap; each give or take kBandShare of the step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predict/job.h"

namespace gapless::internal {

inline constexpr double kMaxReplayError =
    0.05;  // largest replay error, as a share of the step; above it, nothing is predicted
inline constexpr double kBandShare = 0.03;       // width of the band, as a share of the step
inline constexpr double kMaxUnexplained = 0.10;  // largest share of the time in unexplained waits

struct Response {
  std::string_view what;                // "kernels twice as fast"
  double share = 0, low = 0, high = 0;  // replayed share of the recorded step, and its limits
  bool IsSound() const { return share >= low && share <= high; }
};

struct SelfCheck {
  int64_t recorded_step_ns = 0, replayed_step_ns = 0;
  double error = 0;  // share of the recorded step
  std::vector<Response> responses{};
  std::string refusal{};  // why there is no prediction; empty: there is one
  bool accepted() const { return refusal.empty(); }
};

// Checks one recording. With a pool the replays run in parallel.
SelfCheck CheckReplay(const Trace& trace, const Graph& graph, const StepSpan& span, ThreadPool* pool = nullptr);
// Checks a job: every rank on its own, then all together; the responses are those of the first rank.
SelfCheck CheckJob(const Job& job, ThreadPool* pool = nullptr);

}  // namespace gapless::internal
