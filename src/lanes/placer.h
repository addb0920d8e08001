// SPDX-License-Identifier: Apache-2.0
// Gives each event a row of its lane in which it overlaps with nothing: the first that is free. What is nested stands
// below what it is nested in; what overlaps otherwise, as recorders lose and misplace ends, takes no more rows than are
// in use at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace gapless::internal {

class Placer {
 public:
  // Events come in order of their starts.
  size_t Place(int64_t start, int64_t end) {
    while (!open_.empty() && open_.top().first <= start) {
      free_.push(open_.top().second);
      open_.pop();
    }
    size_t row = rows_;
    if (free_.empty()) {
      ++rows_;
    } else {
      row = free_.top();
      free_.pop();
    }
    open_.emplace(end, row);
    return row;
  }

 private:
  using Open = std::pair<int64_t, size_t>;  // end, row
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> free_;
  size_t rows_ = 0;
};

}  // namespace gapless::internal
