// SPDX-License-Identifier: Apache-2.0
// A chain of recorded operators as the plan of one kernel: its tensors, its scalars and its arithmetic.
//
// A recording holds the shapes and types of what operators got, not which tensor it was. So a plan takes the result of
// an operator to be the first input of the next one that has its shape and type; all other tensors are inputs of the
// kernel, and one that is read twice is handed over twice. Where no input fits, the chain is cut. Numbers that were not
// recorded are arguments of the kernel. The result of the last operator is what the kernel returns.
//
// A max-pooling ends a plan: the kernel computes the elements before it where a window reads them. Rows are planes
// then.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/op_chains.h"
#include "analyses/shapes.h"
#include "forge/graph.h"
#include "forge/operators.h"

namespace gapless::internal {

struct PlanInput {
  std::string name{};  // "x0"
  Shape shape{};
  ElementType type = ElementType::kUnknown;
  NodeLevel level = NodeLevel::kElement;  // kRow: one element a row
  size_t missing = 0;                     // dimensions of size 1 that belong behind its own, to line up with the space
};
struct PlanScalar {
  std::string name{};             // "alpha0"
  std::optional<double> value{};  // as recorded, or the operator's default; absent: not known
};
struct PlanLink {
  std::string name{};    // "aten::add"
  std::string python{};  // its call in eager PyTorch, on x0, alpha0, v0 …
  Shape shape{};         // of its result
  ElementType type = ElementType::kUnknown;
};

// The windows of a max-pooling over the last two dimensions, each figure down and across. They are part of the kernel.
struct PlanWindow {
  std::array<int64_t, 2> size{}, step{}, padding{}, dilation{};
  bool ceil = false;  // a last window may reach over the edge

  static constexpr int64_t kMost = 255;  // elements of a window: its place in a window is kept in a byte
  // Results along a dimension (0 down, 1 across) of so many elements; below 1: the window does not fit.
  int64_t Results(size_t dimension, int64_t elements) const;
};

struct KernelPlan {
  std::vector<PlanLink> links{};  // two at least
  std::vector<PlanInput> inputs{};
  std::vector<PlanScalar> scalars{};
  Graph2D graph{};
  NodeId result = kNoNode;                   // the value that the kernel returns
  Shape space{};                             // shape of the elements that it works on
  size_t reduced = 0;                        // how many dimensions, the last ones, a row has; 0: there are no rows
  bool keeps = true;                         // a result of one element a row keeps these dimensions, with size 1
  ElementType main = ElementType::kUnknown;  // type of the first tensor
  std::optional<PlanWindow> window{};        // the last operator pools `result`, the rows being planes

  NodeLevel result_level() const { return graph[result].level; }
  const PlanLink& last() const { return links.back(); }
  int64_t elements() const { return Elements(space); }
  // Bytes that a kernel reads and writes at least: each input and the result once.
  int64_t bytes() const;
  // The operators in order, as the table fusion writes them: "aten::mul > aten::add".
  std::string Pattern() const;
  // Equal for chains that one kernel serves: operators, how they are connected, types; not shapes.
  std::string Signature() const;
};

// A part of a chain: a plan, or an operator that no plan takes and why.
struct PlanPart {
  size_t first = 0, count = 1;  // of the links of the chain
  std::optional<KernelPlan> plan{};
  std::string why_not{};  // of the operator at `first`; empty where an operator stands alone between others
};

// An operator as it was recorded.
struct RecordedOperator {
  std::string_view name{};
  std::span<const Input> inputs{};
  bool has_values = false;   // values of inputs that are no tensors were recorded
  bool in_backward = false;  // it ran in the backward pass
};

// Cuts a chain into plans and the operators between them. Each operator is in one part.
std::vector<PlanPart> PlanChain(std::span<const RecordedOperator> chain);

}  // namespace gapless::internal
