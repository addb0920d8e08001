// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::conv_bn_fix {
namespace {

constexpr std::string_view kCures[] = {"unfused_conv_bn"};

}  // namespace

FIX(conv_bn) = {
    .name = "conv_bn",
    .help = "Fold batch normalisations into convolutions",
    .safety = Safety::kRounding,
    .trial = {.why = "Where a program infers, and batch normalisations follow convolutions: calls go to a copy of the "
                     "model in which their factors are part of the convolutions' weights, and a kernel for each goes. "
                     "Only for a model in eval() of a program that does not train; the model itself stays as it is, so "
                     "memory holds it twice. Rounds differently. Prior: at most the share of the normalisations.",
              .effort = Effort::kMedium,
              .choice = {.order = 60, .cures = kCures},
              .needs = {.operators = kConvolutions, .operators_are = "convolution"},
              .live = {.between_steps = true},
              .values = Always,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::conv_bn_fix
