// SPDX-License-Identifier: Apache-2.0
// Numbers the launches of a file. A file may hold several runs one after the other, each of which counts from 0 again:
// with other metrics of the same kernels they are passes over the same launches, with the same ones other launches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

namespace gapless::internal::ncu {

class Launches {
 public:
  // Begins a run: its numbers start anew.
  void BeginRun();
  // Returns the index of the launch that a row with this metric is about. `id`: ncu's number, below 0 where the table
  // has none. `identity`: everything else that distinguishes launches. A number below the last one begins a run, too.
  int64_t IndexOf(int64_t id, const std::string& identity, std::string_view kernel, std::string_view metric);

 private:
  struct Launch {
    int64_t index = 0;
    std::string kernel{}, first_metric{};
  };
  static size_t Mark(int64_t index, std::string_view metric);
  int64_t NewIndex(int64_t id);

  std::map<std::string, Launch> run_{}, before_{};
  std::unordered_set<size_t> seen_{};
  std::unordered_set<int64_t> used_{};
  int64_t last_id_ = -1, next_ = 0;
};

}  // namespace gapless::internal::ncu
