// SPDX-License-Identifier: Apache-2.0
#include "lanes/flame.h"

#include <algorithm>
#include <functional>

namespace gapless::internal {

uint32_t GrowingFlame::Child(uint32_t parent, uint32_t key, std::string_view name, std::string_view kind) {
  const uint64_t place = (uint64_t{parent} << 32) | key;
  const auto [at, is_new] = places_.try_emplace(place, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_[parent].children.push_back(at->second);
    nodes_.push_back({std::string(name), kind, 0, {}});
  }
  return at->second;
}

std::vector<FlameNode> GrowingFlame::ChildrenOf(const Node& node, int64_t least, int depth) const {
  std::vector<FlameNode> out;
  if (depth >= kMaxDepth) return out;
  for (const uint32_t child : node.children) {
    const Node& from = nodes_[child];
    if (from.total < least || from.total == 0) continue;
    FlameNode& to = out.emplace_back();
    to.name = from.name, to.kind = from.kind, to.total_ns = from.total, to.self_ns = from.total;
    for (const uint32_t inner : from.children) to.self_ns -= nodes_[inner].total;
    to.self_ns = std::max<int64_t>(0, to.self_ns);  // slices that overlap without nesting count twice
    to.children = ChildrenOf(from, least, depth + 1);
  }
  std::ranges::stable_sort(out, std::greater<>(), &FlameNode::total_ns);
  return out;
}

std::vector<FlameNode> GrowingFlame::Take(int64_t least) const { return ChildrenOf(nodes_[kRoot], least, 0); }

}  // namespace gapless::internal
