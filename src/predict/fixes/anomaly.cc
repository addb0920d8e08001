// SPDX-License-Identifier: Apache-2.0
// The fix `anomaly`: switches autograd's anomaly detection off. It is tried even without a finding, because a run
// costs little and what it saves has no sign of its own in a recording.
#include "predict/fix.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kCures[] = {"host_bound", "host_python", "host_operators", "launch_bound", "tiny_kernels"};

}  // namespace

FIX(anomaly) = {
    .name = "anomaly",
    .help = "Switch off anomaly detection that was left on",
    .safety = Safety::kExact,
    .trial = {.why = "Where torch.autograd.set_detect_anomaly(True), a help for debugging, was left on: every operator "
                     "keeps the Python stack of its forward pass, and every gradient is searched for NaN. It is "
                     "switched off. The numbers stay; a NaN in a gradient no longer ends the run. No figure is known.",
              .effort = Effort::kQuick,
              .blind = true,
              .live = true,
              .order = 54,
              .cures = kCures,
              .values = Always}};

}  // namespace gapless::internal
