// SPDX-License-Identifier: Apache-2.0
// The fix `cudnn_benchmark`: lets cuDNN measure its algorithms for each shape. It needs convolutions in the
// recording.
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::cudnn_benchmark_fix {
namespace {

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("cuDNN runs on GPUs");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"low_matrix_efficiency", "no_tensor_cores"};

}  // namespace

FIX(cudnn_benchmark) = {
    .name = "cudnn_benchmark",
    .help = "Let cuDNN try its algorithms and keep the fastest",
    .safety = Safety::kRounding,
    .trial = {.why = "Where convolutions take much of the time and their shapes stay the same. "
                     "torch.backends.cudnn.benchmark=True measures the algorithms on the first call for each shape; "
                     "which one wins may differ from run to run, and with it the rounding. Shapes that change all the "
                     "time make it slow: 0.022 to 2.3 s in one report (pytorch#2759). Prior: 17 to 12 and 60 to 25 "
                     "minutes an epoch, 1.4 and 2.4 times (V100, 1080 Ti; speechbrain#294).",
              .effort = Effort::kQuick,
              .choice = {.order = 52, .cures = kCures, .prior = 1.4},
              .needs = {.operators = kConvolutions, .operators_are = "convolution"},
              .live = {.between_steps = true},
              .values = Values,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::cudnn_benchmark_fix
