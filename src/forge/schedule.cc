// SPDX-License-Identifier: Apache-2.0
#include "forge/schedule.h"

#include <algorithm>

#include "base/strings.h"

namespace gapless::internal {

KernelPass ForwardOf(const KernelPlan& plan) {
  KernelPass pass{.name = "Forward", .inputs = plan.inputs, .graph = plan.graph};
  pass.outputs.push_back({.node = plan.result, .level = plan.result_level(), .type = plan.last().type});
  return pass;
}

KernelPass BackwardOf(const KernelPlan& plan) {
  KernelPass pass{.name = "Backward", .inputs = plan.inputs, .graph = plan.graph};
  const NodeLevel level = plan.result_level();
  PlanInput gradient{.name = "g", .shape = plan.last().shape, .type = plan.last().type, .level = level};
  if (level == NodeLevel::kRow && !plan.keeps) gradient.missing = plan.reduced;
  pass.inputs.push_back(gradient);
  // Windows are read from the start of a plane's results on, and so is what each chose.
  if (plan.window) pass.inputs.push_back({.name = "chosen", .shape = plan.last().shape});
  const Graph2D::Seed seed{.result = plan.result, .gradient = pass.graph.Input(plan.inputs.size(), level)};
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < plan.inputs.size(); ++i) nodes.push_back(pass.graph.Input(i, plan.inputs[i].level));
  const auto gradients = pass.graph.Differentiate({&seed, 1}, nodes);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (gradients[i] != kNoNode && plan.inputs[i].type != ElementType::kBool)
      pass.outputs.push_back({gradients[i], plan.inputs[i].level, plan.inputs[i].type, i});
  return pass;
}

KernelSchedule::KernelSchedule(const KernelPass& of) : ready(of.graph.size()), of_(of) {
  std::vector<NodeId> results;
  for (const auto& output : of.outputs) results.push_back(output.node);
  needed = of.graph.Needed(results);
  for (size_t at = 0; at < ready.size(); ++at) {
    const Node& node = of.graph[static_cast<NodeId>(at)];
    for (const NodeId arg : node.args)
      if (arg != kNoNode) ready[at] = std::max(ready[at], ready[static_cast<size_t>(arg)]);
    if (node.kind == NodeKind::kSum || node.kind == NodeKind::kMax) ++ready[at];
    if (needed[at] != 0) passes = std::max(passes, ready[at]);
  }
}

std::vector<NodeId> KernelSchedule::OfRow(size_t ready_at) const {
  std::vector<NodeId> nodes;
  for (size_t at = 0; at < ready.size(); ++at) {
    const Node& node = of_.graph[static_cast<NodeId>(at)];
    if (needed[at] == 0 || ready[at] != ready_at || node.level == NodeLevel::kElement) continue;
    if (node.kind == NodeKind::kSum || node.kind == NodeKind::kMax || node.kind == NodeKind::kConstant) continue;
    nodes.push_back(static_cast<NodeId>(at));
  }
  return nodes;
}

std::vector<NodeId> KernelSchedule::Reduces(size_t pass) const {
  std::vector<NodeId> nodes;
  for (const NodeId id : AllReduces())
    if (ready[static_cast<size_t>(id)] == pass + 1) nodes.push_back(id);
  return nodes;
}

std::vector<NodeId> KernelSchedule::AllReduces() const {
  std::vector<NodeId> nodes;
  for (size_t at = 0; at < ready.size(); ++at) {
    const NodeKind kind = of_.graph[static_cast<NodeId>(at)].kind;
    if (needed[at] != 0 && (kind == NodeKind::kSum || kind == NodeKind::kMax)) nodes.push_back(static_cast<NodeId>(at));
  }
  return nodes;
}

std::vector<NodeId> KernelSchedule::Elements(size_t pass) const {
  std::vector<NodeId> targets;
  if (pass < passes) {
    for (const NodeId id : Reduces(pass)) targets.push_back(of_.graph[id].args[0]);
  } else {
    for (const auto& output : of_.outputs)
      if (output.level == NodeLevel::kElement) targets.push_back(output.node);
  }
  // Nodes behind a value of the row are not computed here.
  std::vector<uint8_t> here(of_.graph.size());
  for (const NodeId id : targets) here[static_cast<size_t>(id)] = 1;
  std::vector<NodeId> nodes;
  for (size_t at = here.size(); at-- > 0;) {
    const Node& node = of_.graph[static_cast<NodeId>(at)];
    if (here[at] == 0 || node.level != NodeLevel::kElement) continue;
    nodes.push_back(static_cast<NodeId>(at));
    for (const NodeId arg : node.args)
      if (arg != kNoNode) here[static_cast<size_t>(arg)] = 1;
  }
  std::ranges::reverse(nodes);
  return nodes;
}

}  // namespace gapless::internal
