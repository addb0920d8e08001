// SPDX-License-Identifier: Apache-2.0
// Samples of call stacks as rows: what the readers of host profiles share. Each sample becomes rows of stack and
// sample; what they sum up to, rows of host_function: one per function, and, where frames have the line that ran, one
// per line.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/builder.h"

namespace gapless::internal {

struct HostFrame {
  std::string_view file{}, function{};
  int64_t line = kAbsent;  // the line that ran, or where the function begins: HostStacks::Lines says which
};

struct HostSample {
  int64_t ts_ns = 0, tid = kAbsent;
  int64_t weight_ns = kAbsent;  // absent: nobody knows how long a sample stands for
  int64_t count = 1;
};

class HostStacks {
 public:
  enum class Lines : bool { kRan, kBegin };
  HostStacks(TraceBuilder& builder, Lines lines)
      : builder_(builder), shard_(builder.NewShard()), lines_(lines == Lines::kRan) {}

  // Takes a sample whose outermost frame comes first. A function that stands several times in it counts once.
  void Add(std::span<const HostFrame> stack, const HostSample& sample);
  // Adds the functions and lines, most own time or samples first. Without samples it adds nothing.
  void Finish();
  int64_t rows() const { return rows_; }

 private:
  struct Sums {
    int64_t self_ns = 0, total_ns = 0, self_samples = 0, total_samples = 0;
  };
  using Key = std::tuple<std::string, std::string, int64_t>;  // file, function ("": a line), line
  Sums& SumsOf(const HostFrame& frame, bool of_line);
  void AddRow(const Key& key, const Sums& sums, bool timed);

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  bool lines_ = false, timed_ = false;
  int64_t rows_ = 0;
  std::map<Key, Sums, std::less<>> functions_{}, lines_sums_{};
};

// Notes that the samples of a profile have no times: where they stand in the profile is their order.
void CountTimeless(TraceBuilder& builder);

}  // namespace gapless::internal
