// SPDX-License-Identifier: Apache-2.0
#include "optimize/fix.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kCures[] = {"eager_attention"};

}  // namespace

FIX(sdpa) = {
    FROM_CATALOGUE(kSdpa),
    .why =
        "Where attention runs as a product, a mask, a softmax and another product. Known model classes "
        "(transformers) switch to scaled_dot_product_attention, and its fast kernels are allowed. An attention "
        "that the program wrote itself cannot be exchanged: then the advice is to do so by hand. Rounds "
        "differently; dropout within the attention draws other random numbers. Prior: 130 to 96 ms a step, 1.35 "
        "times (GPT-2 124M on an A100, compiled).",
    .effort = Effort::kMedium,
    .live = true,
    .order = 58,
    .cures = kCures,
    .prior = 1.2,
    .values = Always};

}  // namespace gapless::internal
