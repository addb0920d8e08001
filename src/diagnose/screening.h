// SPDX-License-Identifier: Apache-2.0
// Takes back findings that do not hold beside others, or for the program that ran. A rule cannot do so itself: it sees
// tables alone, and neither the findings of other rules nor what was recorded.
#pragma once

#include <string_view>
#include <vector>

#include "diagnose/bottleneck.h"
#include "trace/run.h"

namespace gapless::internal {

// Rules whose findings others depend on.
inline constexpr std::string_view kWarmUp = "warm_up", kTooLittleWork = "too_little_work",
                                  kCutRecording = "cut_recording", kLostWork = "lost_work", kOtherWaste = "other_waste",
                                  kPredictedFix = "predicted_fix";

// Returns true if the finding is about the recording and not about the program.
bool JudgesRecording(const Bottleneck& bottleneck);

// Takes out findings and advice that do not hold here:
//   - all that is about the program, beside a cold start, too little work, or where the device's part was cut off
//   - beside lost work of the GPU, what rests on idle time
//   - other_waste where another finding is about at least half of the same kind of time
//   - advice that is PyTorch's where PyTorch did not run, and that is CUDA's where another runtime launched
void Screen(const Run& run, std::vector<Bottleneck>& found);

}  // namespace gapless::internal
