// SPDX-License-Identifier: Apache-2.0
// Grows a flame graph path by path, and hands it over without what is too small to be seen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lanes/selection.h"

namespace gapless::internal {

class GrowingFlame {
 public:
  // Returns the node called `name` below `parent`; kRoot: a root. Names are compared by `key`.
  static constexpr uint32_t kRoot = 0;
  uint32_t Child(uint32_t parent, uint32_t key, std::string_view name, std::string_view kind);
  void AddTotal(uint32_t node, int64_t ns) { nodes_[node].total += ns; }

  // Leaves out what takes less than `least`, or is deeper than kMaxDepth.
  std::vector<FlameNode> Take(int64_t least) const;

 private:
  static constexpr int kMaxDepth = 500;
  struct Node {
    std::string name{};
    std::string_view kind{};
    int64_t total = 0;
    std::vector<uint32_t> children{};
  };
  std::vector<FlameNode> ChildrenOf(const Node& node, int64_t least, int depth) const;

  std::vector<Node> nodes_{1};
  std::unordered_map<uint64_t, uint32_t> places_;
};

}  // namespace gapless::internal
