// SPDX-License-Identifier: Apache-2.0
#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kCures[] = {"layout_changes"};

}  // namespace

FIX(channels_last) = {
    FROM_CATALOGUE(kChannelsLast),
    .why =
        "Where kernels only turn tensors from NCHW to NHWC and back around convolutions. The model and its "
        "4-dimensional inputs change their memory format once; shapes stay. Other kernels round differently. "
        "Convolutions with groups may become far slower (30 to 40 times in one report, pytorch#34977), and code "
        "that calls view() on activations fails: it is measured before it is kept. Prior: 260 to 198 ms a step, "
        "1.22 to 1.31 times (ResNet-50 with mixed precision), 1.08 to 1.35 times on Volta (PyTorch's memory "
        "format tutorial).",
    .effort = Effort::kQuick,
    .blind = true,
    .operators = kConvolutions,
    .operators_are = "convolution",
    .order = 62,
    .cures = kCures,
    .prior = 1.22,
    .values = Always};

}  // namespace gapless::internal
