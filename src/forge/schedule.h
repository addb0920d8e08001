// SPDX-License-Identifier: Apache-2.0
// The order in which a kernel computes the values of a graph: a pass over the row for each sum that rests on another
// one, and a last pass that writes. A value of an element is computed anew in each pass that needs it, because a kernel
// cannot keep a row of any length. And the direction of a plan, as one graph with its results.
#pragma once

#include <string>
#include <vector>

#include "forge/plan.h"

namespace gapless::internal {

// One direction of a kernel: what it reads and writes.
struct KernelPass {
  std::string name{};  // "Forward", "Backward"
  // The backward pass has those of the forward pass, then the gradient of its result and, with a window, a byte for
  // each result: the place in its window that was chosen.
  std::vector<PlanInput> inputs{};
  struct Output {
    NodeId node = kNoNode;
    NodeLevel level = NodeLevel::kElement;
    ElementType type = ElementType::kUnknown;
    size_t of = 0;  // backward: the input whose gradient it is
  };
  std::vector<Output> outputs{};
  Graph2D graph{};
};
KernelPass ForwardOf(const KernelPlan& plan);
// Gradients of all floating-point inputs that the result depends on.
KernelPass BackwardOf(const KernelPlan& plan);

struct KernelSchedule {
  explicit KernelSchedule(const KernelPass& of);

  size_t passes = 0;  // over the row, before the one that writes
  std::vector<uint8_t> needed;
  std::vector<size_t> ready;  // by node: the passes that must be over before it can be computed
  // Nodes in their order:
  std::vector<NodeId> OfRow(size_t ready_at) const;  // one a row or for all, known after so many passes; no sums
  std::vector<NodeId> Reduces(size_t pass) const;    // sums and maxima that a pass makes
  std::vector<NodeId> Elements(size_t pass) const;   // what an element needs in a pass; `passes`: the one that writes
  std::vector<NodeId> AllReduces() const;

 private:
  const KernelPass& of_;
};

// The text of a node's value: `$0` of its function and so on put in by `name_of`.
template <class NameOf>
std::string CallText(std::string_view text, const Node& node, const NameOf& name_of) {
  std::string call;
  for (size_t at = 0; at < text.size(); ++at)
    if (text[at] == '$')
      call += name_of(node.args[static_cast<size_t>(text[++at] - '0')]);
    else
      call += text[at];
  return call;
}

}  // namespace gapless::internal
