// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a kernel as a graph of values. The kernel works on rows of `cols` elements: a value is one number
// for all (a constant, a scalar argument), one a row (a sum over it), or one an element. Equal values are one node, so
// that a text may name the same sum as often as it likes. Nodes stand behind those that they are made of.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

enum class NodeKind : uint8_t {
  kInput,     // element of a tensor; `index` of the tensor
  kScalar,    // scalar argument; `index`
  kConstant,  // `value`
  kCols,      // elements in a row
  kCall,      // `function` of `args`
  kSum,       // of args[0] over the row
  kMax,       // the same, the largest
};
enum class NodeLevel : uint8_t { kUniform, kRow, kElement };

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// A function that kernels may call, as each language writes it: $0, $1, $2 are its arguments.
struct ForgeFunction {
  std::string_view name;
  size_t arity;
  std::string_view c;       // C++ for host and device; A is the type of the arithmetic
  std::string_view triton;  // of tensors of float32 or float64
  // The gradient of each argument as a text for Graph::Read: g is the gradient of the result y, a, b, c the arguments;
  // "": none.
  std::array<std::string_view, 3> gradients;
};
// Null: no such function.
const ForgeFunction* FindForgeFunction(std::string_view name);

struct Node {
  NodeKind kind = NodeKind::kConstant;
  NodeLevel level = NodeLevel::kUniform;
  const ForgeFunction* function = nullptr;
  size_t index = 0;
  double value = 0;
  std::array<NodeId, 3> args{kNoNode, kNoNode, kNoNode};
};

class Graph2D {
 public:
  using Names = std::map<std::string, NodeId, std::less<>>;

  NodeId Input(size_t index, NodeLevel level);
  NodeId Scalar(size_t index);
  NodeId Constant(double value);
  // Simplifies sums with 0, products with 0 and 1, and constants.
  NodeId Call(std::string_view function, std::array<NodeId, 3> args);
  NodeId Sum(NodeId of);  // of a value that is the same along a row: times cols
  NodeId Max(NodeId of);

  // Reads an expression: numbers, names, + - * /, calls of functions, and of sum(x) and rowmax(x) over the row,
  // peak(x): rowmax without a gradient, cols. An error: the text cannot be read, or a name is not known.
  Result<NodeId> Read(std::string_view text, const Names& names);

  // Returns the gradient of each of `of`, which are inputs, given gradients of the results; kNoNode: it does not depend
  // on them. The level of a gradient is that of the value.
  struct Seed {
    NodeId result = kNoNode, gradient = kNoNode;
  };
  std::vector<NodeId> Differentiate(std::span<const Seed> seeds, std::span<const NodeId> of);

  const Node& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  size_t size() const { return nodes_.size(); }
  // Returns for each node: is it needed for one of `results`?
  std::vector<uint8_t> Needed(std::span<const NodeId> results) const;

 private:
  NodeId Add(Node node);
  NodeId Simplified(const ForgeFunction& function, const std::array<NodeId, 3>& args);
  bool Is(NodeId id, double value) const;

  using Key = std::tuple<NodeKind, NodeLevel, const ForgeFunction*, size_t, double, std::array<NodeId, 3>>;
  std::vector<Node> nodes_{};
  std::map<Key, NodeId> known_{};
  std::vector<NodeId> stopped_{};  // made by peak(): no gradient passes
};

}  // namespace gapless::internal
