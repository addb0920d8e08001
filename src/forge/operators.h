// SPDX-License-Identifier: Apache-2.0
// The operators that a kernel can be made of, each a line: what its arguments are, its arithmetic, and how eager
// PyTorch computes it, against which kernels are tested. Gradients follow from the arithmetic (graph.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gapless::internal {

enum class ForgeKind : uint8_t { kElementwise, kCast, kReduction, kNormalisation, kWindow };

struct ForgeOperator {
  std::string_view name;  // of the operator; in place (add_) it is the same
  // Its inputs in the order in which PyTorch records them:
  //   a b c       a tensor, or a number in its place        w?=1     a tensor that may be missing, with what it is then
  //   eps=1e-5    a number, with its default                -        does not matter
  //   dims keep   of a reduction                            shape    dimensions of a normalisation
  //   dim         the dimension of a normalisation          window step padding dilation ceil    of a pooling
  std::string_view inputs;
  std::string_view arithmetic;  // text for Graph2D::Read
  std::string_view python;      // {a}, {eps}, {dims}, {keep}, {shape}, {type}, {window} … are put in
  ForgeKind kind = ForgeKind::kElementwise;
};

std::span<const ForgeOperator> AllForgeOperators();
// Finds an operator by its recorded name; `approximate`: the recorded value of GELU's argument. Null: not in the table.
const ForgeOperator* FindForgeOperator(std::string_view recorded, std::string_view approximate);
// Returns why an operator that is not in the table cannot be part of a kernel.
std::string_view WhyNoForgeOperator(std::string_view recorded);

}  // namespace gapless::internal
