// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic of kernels: texts are read as they are written, and gradients are those of finite differences,
// for each operator of the table.
#include "forge/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/strings.h"
#include "forge/operators.h"

namespace gapless::internal {
namespace {

constexpr size_t kColumns = 4;
using RowOf = std::array<double, kColumns>;  // one value an element; of a row's value the same in all

double CallOf(std::string_view f, double a, double b, double c) {
  if (f == "add") return a + b;
  if (f == "sub") return a - b;
  if (f == "mul") return a * b;
  if (f == "div") return a / b;
  if (f == "neg") return -a;
  if (f == "exp") return std::exp(a);
  if (f == "expm1") return std::expm1(a);
  if (f == "log") return std::log(a);
  if (f == "log1p") return std::log1p(a);
  if (f == "sqrt") return std::sqrt(a);
  if (f == "rsqrt") return 1 / std::sqrt(a);
  if (f == "tanh") return std::tanh(a);
  if (f == "sigmoid") return 1 / (1 + std::exp(-a));
  if (f == "erf") return std::erf(a);
  if (f == "sin") return std::sin(a);
  if (f == "cos") return std::cos(a);
  if (f == "abs") return std::abs(a);
  if (f == "sign") return a > 0 ? 1 : a < 0 ? -1 : 0;
  if (f == "pow") return std::pow(a, b);
  if (f == "gt") return a > b ? 1 : 0;
  if (f == "ge") return a >= b ? 1 : 0;
  if (f == "eq") return a == b ? 1 : 0;
  if (f == "select") return a != 0 ? b : c;
  ADD_FAILURE() << "no function " << f;
  return 0;
}

// All nodes of a graph on one row.
std::vector<RowOf> Evaluate(const Graph2D& graph, const std::vector<RowOf>& inputs) {
  std::vector<RowOf> values(graph.size());
  for (size_t at = 0; at < values.size(); ++at) {
    const Node& node = graph[static_cast<NodeId>(at)];
    const auto arg = [&](size_t i, size_t column) {
      return node.args[i] == kNoNode ? 0 : values[static_cast<size_t>(node.args[i])][column];
    };
    double sum = 0, most = -INFINITY;
    for (size_t column = 0; column < kColumns; ++column) sum += arg(0, column), most = std::max(most, arg(0, column));
    for (size_t column = 0; column < kColumns; ++column) {
      double& value = values[at][column];
      switch (node.kind) {
        case NodeKind::kInput: value = inputs[node.index][column]; break;
        case NodeKind::kScalar: value = 0.75; break;
        case NodeKind::kConstant: value = node.value; break;
        case NodeKind::kCols: value = kColumns; break;
        case NodeKind::kCall:
          value = CallOf(node.function->name, arg(0, column), arg(1, column), arg(2, column));
          break;
        case NodeKind::kSum: value = sum; break;
        case NodeKind::kMax: value = most; break;
      }
    }
  }
  return values;
}

// Inputs at which no function here has a kink within the differences.
std::vector<RowOf> SomeInputs() {
  return {{0.31, 1.27, 0.83, 2.11}, {1.43, 0.62, 1.91, 0.55}, {0.91, 1.13, 0.47, 1.71}, {0.2, 0.4, 0.6, 0.8}};
}

double Weighted(const RowOf& values) { return values[0] + 2 * values[1] - 0.5 * values[2] + 0.7 * values[3]; }

// Compares gradients of the weighted result with central differences, for each element of each input.
void ExpectGradients(std::string_view text, const Graph2D::Names& more = {}) {
  Graph2D graph;
  Graph2D::Names names;
  for (size_t i = 0; i < 3; ++i)
    names[std::string(1, static_cast<char>('a' + i))] = graph.Input(i, NodeLevel::kElement);
  for (const auto& [name, unused] : more) names[name] = graph.Scalar(0);
  const auto result = graph.Read(text, names);
  ASSERT_TRUE(result) << text << ": " << result.error().message;
  const std::vector<NodeId> of = {names["a"], names["b"], names["c"]};
  const bool by_element = graph[*result].level == NodeLevel::kElement;
  const Graph2D::Seed seed{*result, graph.Input(3, by_element ? NodeLevel::kElement : NodeLevel::kRow)};
  const auto gradients = graph.Differentiate({&seed, 1}, of);
  auto inputs = SomeInputs();
  inputs[3] = by_element ? RowOf{1, 2, -0.5, 0.7} : RowOf{1, 1, 1, 1};
  const auto at = [&](const std::vector<RowOf>& x) {
    const RowOf values = Evaluate(graph, x)[static_cast<size_t>(*result)];
    return by_element ? Weighted(values) : values[0];
  };
  const auto values = Evaluate(graph, inputs);
  for (size_t i = 0; i < of.size(); ++i)
    for (size_t column = 0; column < kColumns; ++column) {
      auto up = inputs, down = inputs;
      up[i][column] += 1e-6, down[i][column] -= 1e-6;
      const double expected = (at(up) - at(down)) / 2e-6;
      const double found = gradients[i] == kNoNode ? 0 : values[static_cast<size_t>(gradients[i])][column];
      EXPECT_NEAR(found, expected, 1e-6 * (1 + std::abs(expected))) << text << ", input " << i << ", column " << column;
    }
}

TEST(ForgeGraph, GradientsAreThoseOfDifferences) {
  for (const std::string_view text :
       {"a + b * c", "a / (b + c)", "exp(a) - log(b)", "pow(a, b)", "pow(a, 2.5)", "sqrt(a) * tanh(b)", "abs(a - b)",
        "sum(a * b)", "a - sum(a) / cols", "a * rsqrt(sum(a * a) / cols + 0.1) * b", "rowmax(a) * b",
        "exp(a - peak(a)) / sum(exp(a - peak(a)))", "a - peak(a) - log(sum(exp(a - peak(a))))",
        "(a - sum(a) / cols) * rsqrt(sum((a - sum(a) / cols) * (a - sum(a) / cols)) / cols + 0.1) * b + c",
        "sum(a) + b", "sin(a) * cos(b) + expm1(c)", "select(gt(a, b), a * a, b / a)", "sum(exp(a)) * sum(b)"})
    ExpectGradients(text);
}

TEST(ForgeGraph, EveryOperatorOfTheTableHasItsGradient) {
  for (const ForgeOperator& of : AllForgeOperators()) {
    Graph2D::Names numbers;
    for (std::string_view word : Split(of.inputs, ' ')) {
      word = word.substr(0, word.find_first_of("=?"));
      if (word.size() > 1 && word != "dims" && word != "keep" && word != "dim" && word != "shape")
        numbers[std::string(word)] = kNoNode;
      if (word == "w") numbers["w"] = kNoNode;
    }
    ExpectGradients(of.arithmetic, numbers);
  }
}

TEST(ForgeGraph, EqualValuesAreOneNode) {
  Graph2D graph;
  const Graph2D::Names names{{"a", graph.Input(0, NodeLevel::kElement)}};
  EXPECT_EQ(*graph.Read("a - sum(a) / cols", names), *graph.Read("a - sum(a) / cols", names));
  EXPECT_EQ(*graph.Read("a * 1 + 0", names), names.at("a"));
  EXPECT_EQ(*graph.Read("pow(a, 2)", names), *graph.Read("a * a", names));
}

TEST(ForgeGraph, SaysWhatItCannotRead) {
  Graph2D graph;
  const Graph2D::Names names{{"a", graph.Input(0, NodeLevel::kElement)}};
  for (const std::string_view text : {"a +", "(a", "a b", "exp(a, a)", "nothing(a)", "z", "exp(a", ""})
    EXPECT_FALSE(graph.Read(text, names)) << text;
}

TEST(ForgeGraph, KeepsTheLevelOfValues) {
  Graph2D graph;
  const Graph2D::Names names{{"a", graph.Input(0, NodeLevel::kElement)}, {"s", graph.Scalar(0)}};
  const auto level = [&](std::string_view text) { return graph[*graph.Read(text, names)].level; };
  EXPECT_EQ(level("s * cols"), NodeLevel::kUniform);
  EXPECT_EQ(level("sum(a) * s"), NodeLevel::kRow);
  EXPECT_EQ(level("sum(a) + a"), NodeLevel::kElement);
}

}  // namespace
}  // namespace gapless::internal
