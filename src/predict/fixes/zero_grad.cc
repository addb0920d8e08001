// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"

namespace gapless::internal::zero_grad_fix {
namespace {

constexpr std::string_view kCures[] = {"zero_grad", "tiny_kernels"};

}  // namespace

FIX(zero_grad) = {
    .name = "zero_grad",
    .help = "Drop gradients instead of filling them with zeros",
    .safety = Safety::kExact,
    .trial = {.why = "Where the program passes set_to_none=False to zero_grad(): every gradient is then filled with "
                     "zeros, and added to in the backward pass. They are dropped instead, as is PyTorch's default "
                     "since 2.0. A program that reads .grad between zero_grad() and backward() finds None. The numbers "
                     "stay. A small gain, at most the time of the fills (PyTorch's performance tuning guide).",
              .effort = Effort::kQuick,
              .choice = {.order = 92, .cures = kCures, .blind = true},
              .needs = {.optimizer = true},
              .live = {.between_steps = true},
              .values = Always}};

}  // namespace gapless::internal::zero_grad_fix
