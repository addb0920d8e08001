// SPDX-License-Identifier: Apache-2.0
// A fix is predicted to bring something, and no other finding asks for it.
//
// Tables alone do not show this: the recording is replayed with each such fix (src/predict/unasked_fixes.h), and the
// plan lists the best of them where it still brings something beside the others. What is declared here is the finding's
// name and its explanation.
#include "diagnose/rule.h"

namespace gapless::internal::predicted_fix_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger"};

Result<std::vector<Bottleneck>> FoundByReplay(Tables& /*tables*/) { return std::vector<Bottleneck>{}; }

}  // namespace

RULE(predicted_fix) = {
    .id = "predicted_fix",
    .type = BottleneckType::kHostBound,
    .title = "A fix that no waste points to would make a step shorter",
    .why =
        "Replays a recording of 100 events or more with every fix that no other finding asks for, that excludes none "
        "that is asked for, that is not made for a waste that was found, and that changes neither the training nor the "
        "hardware. Reported where a fix is expected to make a step 1.10 times as fast or more by itself, 1.02 times in "
        "the cautious case, and still saves time after the fixes above it. The evidence says what has to hold for "
        "that. A warning at most, as no waste was measured; the type is that of the waste which the fix is usually "
        "made for.",
    .saves = "what the replay says",
    .needs = kNeeds,
    .check = FoundByReplay};

}  // namespace gapless::internal::predicted_fix_rule
