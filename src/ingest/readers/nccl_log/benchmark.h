// SPDX-License-Identifier: Apache-2.0
// The output of nccl-tests and rccl-tests: heads, rows of sizes, and what stands behind them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace gapless::internal::nccl_log {

// Is this the head of a table of results? "# size count type redop root time algbw busbw #wrong …"
bool IsBenchmarkHead(std::string_view line);

// Takes text piece by piece: NCCL's own lines are printed in the middle of rows, so a row may come in several pieces.
class BenchmarkText {
 public:
  explicit BenchmarkText(TraceBuilder& builder) : builder_(builder) {}
  // A line without NCCL's own, or what stands before one in its line.
  void Take(std::string_view piece);
  void Finish();
  int64_t rows() const { return rows_; }

 private:
  void TakeCommand(const std::vector<std::string_view>& words);
  void TakeNote(std::string_view note);
  void TakeHead(const std::vector<std::string_view>& words);
  void TakeRank(const std::vector<std::string_view>& words);
  void BeginTest();
  void EndRow();
  size_t AddFront();
  void AddGroup(size_t first, std::string_view placement);

  TraceBuilder& builder_;
  std::vector<std::string> row_;         // words of the row so far
  size_t groups_ = 0, group_words_ = 0;  // groups of time, bandwidths and errors in a row; words in each
  bool has_root_ = false, in_place_only_ = false, placements_said_ = false;
  std::string program_;
  int64_t test_ = -1, ranks_ = kAbsent, rows_ = 0, cut_rows_ = 0;
  CommBenchmarkRow front_{.test = 0, .bytes = 0, .placement = {}, .dur_ns = 0};
};

}  // namespace gapless::internal::nccl_log
