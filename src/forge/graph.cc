// SPDX-License-Identifier: Apache-2.0
// Makes the nodes of a graph, and differentiates it backwards: nodes are visited from the last to the first, and each
// hands the gradient of its result to those that it is made of. What goes from elements to a value of the row is summed
// over the row.
#include "forge/graph.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr ForgeFunction kFunctions[] = {
    {"add", 2, "($0 + $1)", "($0 + $1)", {"g", "g", ""}},
    {"sub", 2, "($0 - $1)", "($0 - $1)", {"g", "-g", ""}},
    {"mul", 2, "($0 * $1)", "($0 * $1)", {"g * b", "g * a", ""}},
    {"div", 2, "($0 / $1)", "($0 / $1)", {"g / b", "-g * y / b", ""}},
    {"neg", 1, "(-$0)", "(-$0)", {"-g", "", ""}},
    {"exp", 1, "k_exp($0)", "tl.exp($0)", {"g * y", "", ""}},
    {"expm1", 1, "k_expm1($0)", "(tl.exp($0) - 1)", {"g * (y + 1)", "", ""}},
    {"log", 1, "k_log($0)", "tl.log($0)", {"g / a", "", ""}},
    {"log1p", 1, "k_log1p($0)", "tl.log(1 + $0)", {"g / (1 + a)", "", ""}},
    {"sqrt", 1, "k_sqrt($0)", "tl.sqrt($0)", {"g * 0.5 / y", "", ""}},
    {"rsqrt", 1, "(A(1) / k_sqrt($0))", "(1 / tl.sqrt($0))", {"g * -0.5 * y / a", "", ""}},
    {"tanh", 1, "k_tanh($0)", "(2 * tl.sigmoid(2 * $0) - 1)", {"g * (1 - y * y)", "", ""}},
    {"sigmoid", 1, "(A(1) / (A(1) + k_exp(-$0)))", "tl.sigmoid($0)", {"g * y * (1 - y)", "", ""}},
    {"erf", 1, "k_erf($0)", "tl.erf($0)", {"g * 1.1283791670955126 * exp(-(a * a))", "", ""}},
    {"sin", 1, "k_sin($0)", "tl.sin($0)", {"g * cos(a)", "", ""}},
    {"cos", 1, "k_cos($0)", "tl.cos($0)", {"-g * sin(a)", "", ""}},
    {"abs", 1, "k_abs($0)", "tl.abs($0)", {"g * sign(a)", "", ""}},
    {"sign",
     1,
     "($0 > A(0) ? A(1) : ($0 < A(0) ? A(-1) : A(0)))",
     "tl.where($0 > 0, 1.0, tl.where($0 < 0, -1.0, 0.0))",
     {"", "", ""}},
    {"pow",
     2,
     "k_pow($0, $1)",
     "_pow($0, $1)",
     {"select(eq(b, 0), 0, g * b * pow(a, b - 1))", "select(gt(a, 0), g * y * log(a), 0)", ""}},
    {"gt", 2, "A($0 > $1)", "($0 > $1).to(A)", {"", "", ""}},
    {"ge", 2, "A($0 >= $1)", "($0 >= $1).to(A)", {"", "", ""}},
    {"eq", 2, "A($0 == $1)", "($0 == $1).to(A)", {"", "", ""}},
    {"select", 3, "($0 != A(0) ? $1 : $2)", "tl.where($0 != 0, $1, $2)", {"", "select(a, g, 0)", "select(a, 0, g)"}},
};

// Reads an expression by descent: sum of products of factors.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const Graph2D::Names& names, Graph2D& graph, std::vector<NodeId>& stopped)
      : text_(text), names_(names), graph_(graph), stopped_(stopped) {}

  Result<NodeId> Read() {
    const NodeId all = ReadSum();
    if (failure_.empty() && Peek() != '\0') failure_ = "something follows the expression";
    if (!failure_.empty()) return Fail(ErrorCode::kInput, failure_, std::string(text_));
    return all;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  NodeId Broken(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
    return graph_.Constant(0);
  }

  NodeId ReadSum() {
    NodeId left = ReadProduct();
    while (failure_.empty()) {
      if (Take('+'))
        left = graph_.Call("add", {left, ReadProduct(), kNoNode});
      else if (Take('-'))
        left = graph_.Call("sub", {left, ReadProduct(), kNoNode});
      else
        break;
    }
    return left;
  }

  NodeId ReadProduct() {
    NodeId left = ReadFactor();
    while (failure_.empty()) {
      if (Take('*'))
        left = graph_.Call("mul", {left, ReadFactor(), kNoNode});
      else if (Take('/'))
        left = graph_.Call("div", {left, ReadFactor(), kNoNode});
      else
        break;
    }
    return left;
  }

  NodeId ReadFactor() {
    if (Take('-')) return graph_.Call("neg", {ReadFactor(), kNoNode, kNoNode});
    if (Take('(')) {
      const NodeId inside = ReadSum();
      return Take(')') ? inside : Broken("a bracket is not closed");
    }
    const char next = Peek();
    if ((next >= '0' && next <= '9') || next == '.') return ReadNumber();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(from, at_ - from);
    if (name.empty()) return Broken("an expression ends too early");
    if (Take('(')) return ReadCall(name);
    if (name == "cols") return graph_.Sum(graph_.Constant(1));
    const auto found = names_.find(name);
    return found != names_.end() ? found->second : Broken(StrCat("no value is called '", name, "'"));
  }

  NodeId ReadNumber() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return Broken("a number cannot be read");
    at_ = static_cast<size_t>(end - text_.data());
    return graph_.Constant(value);
  }

  NodeId ReadCall(std::string_view name) {
    std::array<NodeId, 3> args{kNoNode, kNoNode, kNoNode};
    size_t count = 0;
    do {
      if (count == args.size()) return Broken("a call has more than three arguments");
      args[count++] = ReadSum();
    } while (failure_.empty() && Take(','));
    if (!Take(')')) return Broken("a call is not closed");
    if (name == "sum") return graph_.Sum(args[0]);
    if (name == "rowmax") return graph_.Max(args[0]);
    if (name == "peak") return stopped_.emplace_back(graph_.Max(args[0]));
    const ForgeFunction* function = FindForgeFunction(name);
    if (function == nullptr || function->arity != count)
      return Broken(StrCat("no function ", name, " of so many values"));
    return graph_.Call(name, args);
  }

  std::string_view text_;
  const Graph2D::Names& names_;
  Graph2D& graph_;
  std::vector<NodeId>& stopped_;
  size_t at_ = 0;
  std::string failure_{};
};

}  // namespace

const ForgeFunction* FindForgeFunction(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &ForgeFunction::name);
  return found != std::end(kFunctions) ? found : nullptr;
}

NodeId Graph2D::Add(Node node) {
  const Key key{node.kind, node.level, node.function, node.index, node.value, node.args};
  const auto [at, is_new] = known_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return at->second;
}

NodeId Graph2D::Input(size_t index, NodeLevel level) {
  return Add({.kind = NodeKind::kInput, .level = level, .index = index});
}
NodeId Graph2D::Scalar(size_t index) { return Add({.kind = NodeKind::kScalar, .index = index}); }
NodeId Graph2D::Constant(double value) { return Add({.kind = NodeKind::kConstant, .value = value == 0 ? 0.0 : value}); }

bool Graph2D::Is(NodeId id, double value) const {
  const Node& node = (*this)[id];
  return node.kind == NodeKind::kConstant && node.value == value;
}

// The node that a call is without calling, or kNoNode.
NodeId Graph2D::Simplified(const ForgeFunction& function, const std::array<NodeId, 3>& args) {
  const auto [a, b, c] = args;
  const std::string_view name = function.name;
  if (name == "add") return Is(a, 0) ? b : Is(b, 0) ? a : kNoNode;
  if (name == "sub") return Is(b, 0) ? a : kNoNode;
  if (name == "mul" && (Is(a, 0) || Is(b, 0))) return Constant(0);
  if (name == "mul") return Is(a, 1) ? b : Is(b, 1) ? a : kNoNode;
  if (name == "div") return Is(a, 0) ? Constant(0) : Is(b, 1) ? a : kNoNode;
  if (name == "neg" && (*this)[a].kind == NodeKind::kConstant) return Constant(-(*this)[a].value);
  if (name == "pow" && (Is(b, 0) || Is(b, 1))) return Is(b, 1) ? a : Constant(1);
  if (name == "pow" && Is(b, 2)) return Call("mul", {a, a, kNoNode});
  if (name == "pow" && Is(b, 3)) return Call("mul", {a, Call("mul", {a, a, kNoNode}), kNoNode});
  if (name == "pow" && Is(b, 0.5)) return Call("sqrt", {a, kNoNode, kNoNode});
  if (name == "eq" && (*this)[a].kind == NodeKind::kConstant && (*this)[b].kind == NodeKind::kConstant)
    return Constant((*this)[a].value == (*this)[b].value ? 1 : 0);
  if (name == "select" && (*this)[a].kind == NodeKind::kConstant) return Is(a, 0) ? c : b;
  if (name == "select" && b == c) return b;
  return kNoNode;
}

NodeId Graph2D::Call(std::string_view name, std::array<NodeId, 3> args) {
  const ForgeFunction& function = *FindForgeFunction(name);
  if (const NodeId simple = Simplified(function, args); simple != kNoNode) return simple;
  if ((name == "add" || name == "mul") && args[0] > args[1]) std::swap(args[0], args[1]);
  NodeLevel level = NodeLevel::kUniform;
  for (size_t i = 0; i < function.arity; ++i) level = std::max(level, (*this)[args[i]].level);
  return Add({.kind = NodeKind::kCall, .level = level, .function = &function, .args = args});
}

NodeId Graph2D::Sum(NodeId of) {
  if ((*this)[of].level == NodeLevel::kElement)
    return Add({.kind = NodeKind::kSum, .level = NodeLevel::kRow, .args = {of, kNoNode, kNoNode}});
  return Call("mul", {of, Add({.kind = NodeKind::kCols}), kNoNode});
}

NodeId Graph2D::Max(NodeId of) {
  if ((*this)[of].level != NodeLevel::kElement) return of;
  return Add({.kind = NodeKind::kMax, .level = NodeLevel::kRow, .args = {of, kNoNode, kNoNode}});
}

Result<NodeId> Graph2D::Read(std::string_view text, const Names& names) {
  return ExpressionReader(text, names, *this, stopped_).Read();
}

std::vector<NodeId> Graph2D::Differentiate(std::span<const Seed> seeds, std::span<const NodeId> of) {
  const size_t count = nodes_.size();
  std::vector<NodeId> gradient(count, kNoNode);
  const auto add = [&](NodeId to, NodeId part, NodeLevel from) {
    if (Is(part, 0)) return;
    if ((*this)[to].level < from) part = Sum(part);
    NodeId& sum = gradient[static_cast<size_t>(to)];
    sum = sum == kNoNode ? part : Call("add", {sum, part, kNoNode});
  };
  for (const Seed& seed : seeds) add(seed.result, seed.gradient, (*this)[seed.result].level);
  for (size_t at = count; at-- > 0;) {
    const NodeId g = gradient[at];
    const Node node = nodes_[at];
    const auto id = static_cast<NodeId>(at);
    if (g == kNoNode || std::ranges::find(stopped_, id) != stopped_.end()) continue;
    const auto [a, b, c] = node.args;
    if (node.kind == NodeKind::kSum) add(a, g, NodeLevel::kElement);
    if (node.kind == NodeKind::kMax) {  // those that are equal share it, as PyTorch's amax does
      const NodeId hit = Call("eq", {a, id, kNoNode});
      add(a, Call("div", {Call("mul", {g, hit, kNoNode}), Sum(hit), kNoNode}), NodeLevel::kElement);
    }
    if (node.kind != NodeKind::kCall) continue;
    const Names names{{"g", g}, {"y", id}, {"a", a}, {"b", b}, {"c", c}};
    for (size_t i = 0; i < node.function->arity; ++i) {
      const NodeId to = node.args[i];
      if ((*this)[to].level == NodeLevel::kUniform || node.function->gradients[i].empty()) continue;
      if (const auto part = Read(node.function->gradients[i], names)) add(to, *part, node.level);
    }
  }
  std::vector<NodeId> found;
  for (const NodeId id : of) found.push_back(gradient[static_cast<size_t>(id)]);
  return found;
}

std::vector<uint8_t> Graph2D::Needed(std::span<const NodeId> results) const {
  std::vector<uint8_t> needed(nodes_.size());
  for (const NodeId id : results)
    if (id != kNoNode) needed[static_cast<size_t>(id)] = 1;
  for (size_t at = nodes_.size(); at-- > 0;) {
    if (needed[at] == 0) continue;
    for (const NodeId arg : nodes_[at].args)
      if (arg != kNoNode) needed[static_cast<size_t>(arg)] = 1;
  }
  return needed;
}

}  // namespace gapless::internal
