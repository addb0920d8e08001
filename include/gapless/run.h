// SPDX-License-Identifier: Apache-2.0
// Run: everything known about one job: the recordings of its ranks, read and ready to be asked.
//
//   auto run = gapless::Run::Open({"trace.json.gz"});
//   if (!run) return Complain(run.error());
//   for (const gapless::Bottleneck& found : run->Diagnose()) std::cout << found.title << '\n';
//
// Copies are cheap and share everything. Threads: one Run and its copies may be used from several threads at once;
// whatever is computed on demand is computed once, by the thread that asks first. A Run that was moved from may only be
// assigned to or destroyed.
//
// Bad input is an Error, never an exception; only std::bad_alloc, and what a visitor of yours throws, leaves the
// library.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gapless/bottleneck.h"
#include "gapless/column.h"
#include "gapless/export.h"
#include "gapless/open_options.h"
#include "gapless/report_options.h"
#include "gapless/result.h"
#include "gapless/summary.h"
#include "gapless/table.h"

namespace gapless {

namespace internal {
struct RunState;
}  // namespace internal

// Takes one row of a result: the names of its columns and its cells, good until the call returns. False: no more.
using RowVisitor = std::function<bool(std::span<const std::string> columns, std::span<const Cell> cells)>;

// A run that was read. References and views that it returns are good while a copy of it lives; tables keep it alive.
class Run {
 public:
  // Opens a recording, a folder of recordings (the ranks of one job), or a tar archive; "3=path" assigns the path to
  // rank 3. Returns an error if nothing could be read; Failures() lists paths that could not be read.
  GAPLESS_API static Result<Run> Open(std::span<const std::string> paths, const OpenOptions& options = {});
  static Result<Run> Open(std::initializer_list<std::string> paths, const OpenOptions& options = {}) {
    return Open(std::span<const std::string>(paths.begin(), paths.size()), options);
  }
  static Result<Run> Open(const std::string& path, const OpenOptions& options = {}) {
    return Open(std::span<const std::string>(&path, 1), options);
  }

  // Inputs that could not be read while others could. What was lost inside an input is in table `read_stats`.
  GAPLESS_API const std::vector<Error>& Failures() const;

  // Every table that there is, recorded ones first; the same for every run.
  GAPLESS_API static std::vector<TableInfo> Tables();
  // A recorded table or an analysis by its name. Recorded tables show the primary recordings of the first execution, so
  // that sums never count twice; "all_" before the name shows every row.
  GAPLESS_API Result<gapless::Table> Table(std::string_view name) const;
  // One SQL statement that reads (SQLite's dialect) over the same tables. The first form holds the whole result, the
  // second one row at a time. An error of the statement has the code kUsage, the place in it, and a hint; a statement
  // that would write is such an error. A query that was cancelled gives kInterrupted.
  GAPLESS_API Result<gapless::Table> Query(std::string_view sql) const;
  GAPLESS_API Result<void> Query(std::string_view sql, const RowVisitor& visit) const;

  // Returns the findings of the rules, ranked by expected gain, then severity.
  GAPLESS_API std::vector<Bottleneck> Diagnose() const;
  // Rules that could not look, each by its id in Error::place: what they would have found is not known.
  GAPLESS_API std::vector<Error> RuleFailures() const;
  // Returns the main figures. `single_step_ns` is the step time of the same job on one GPU; it gives the scaling
  // efficiency.
  GAPLESS_API RunSummary Summary(std::optional<int64_t> single_step_ns = {}) const;

  // The forms of report that there are.
  GAPLESS_API static std::vector<FormatInfo> Formats();
  // The report of `gapless analyze` in one of them.
  GAPLESS_API Result<std::string> Render(std::string_view format, const RenderOptions& look = {},
                                         const AnalyzeOptions& options = {}) const;

 private:
  friend struct internal::RunState;
  explicit Run(std::shared_ptr<const internal::RunState> state);
  std::shared_ptr<const internal::RunState> state_;
};

}  // namespace gapless
