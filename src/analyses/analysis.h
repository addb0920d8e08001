// SPDX-License-Identifier: Apache-2.0
// An analysis turns a run into one Table. Pure: the same run gives the same bytes; no prose, no judgement.
//
// To add one: write src/analyses/list/<name>.cc, declare its table there (analyses/typed_rows.h), fill a
// TableOf<LaunchesRows> by the names of columns (analyses/columns.h), and end the file with
//   ANALYSIS(launches) = AnalysisOf<LaunchesRows>({.run = Compute});
// It is then a table of `gapless query` and a page of the reference. A table that rules or other code read is declared
// in src/analyses/rows/<name>.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/run.h"
#include "trace/table.h"

namespace gapless::internal {

class Tables;
struct TraceTimeline;  // analyses/timeline.h

struct Analysis {
  std::string_view name;  // equals the file name
  std::string_view help;  // one line of at most 100 characters
  std::span<const ColumnSpec> columns;
  // `tables` gives the results of other analyses; asking for itself, directly or around a ring, is a fault.
  Result<Table> (*run)(const Run& run, Tables& tables);
  int cost = 1;  // time it takes beside others, roughly: of several the most costly begin first, so that none is last
  // It holds ranks against each other. Of summaries (trace/summary.h) it is computed anew, from what all of them have
  // together: collectives, steps, exposed communication and other tables. The rows of the others are in the summaries.
  bool compares_ranks = false;
};

// The analysis that fills the table `R` declares.
struct HowToRun {
  Result<Table> (*run)(const Run& run, Tables& tables);
  int cost = 1;
  bool compares_ranks = false;
};
template <class R>
constexpr Analysis AnalysisOf(HowToRun how) {
  return {.name = R::kName,
          .help = R::kHelp,
          .columns = R::kColumns,
          .run = how.run,
          .cost = how.cost,
          .compares_ranks = how.compares_ranks};
}

#define ANALYSIS(n)                   \
  extern const Analysis n##_analysis; \
  constinit const Analysis n##_analysis

std::span<const Analysis* const> AllAnalyses();  // sorted by name; generated from the folder

// Results of analyses over one run, each computed once, when first asked for, by whichever thread asks first.
class Tables {
 public:
  // `threads`: of Prepare and Timelines; 0: DefaultThreads().
  // `job`: the tables of the whole run of which this one has some recordings or steps; they must outlive these.
  explicit Tables(const Run& run, size_t threads = 0, Tables* job = nullptr);
  ~Tables();
  const Run& run() const { return run_; }
  // Tables of all ranks: these, or those of the run of which this one is a part.
  Tables& job() { return job_ != nullptr ? *job_ : *this; }
  // The table of the analysis called `name`. An analysis that failed gives an empty table with the right columns;
  // its error is in `ErrorOf`. An unknown name is a fault of the caller.
  const Table& Get(std::string_view name);
  // The same as a typed view (analyses/typed_rows.h): Get<LaunchesRows>().
  template <class R>
  R Get() {
    return R{Get(R::kName)};
  }
  // Computes these analyses side by side, so that asking for them later costs nothing. Names may repeat.
  void Prepare(std::vector<std::string_view> names);
  const Error* ErrorOf(std::string_view name) const;  // null also before this thread has asked for the analysis
  // The device time of each primary trace, which several analyses read.
  const std::vector<TraceTimeline>& Timelines();
  // Is the run one of summaries? Their rows are then taken for the analyses' own, and traces hold few rows.
  bool of_summaries() const;
  // In such a run: the rows that the summaries hold of an analysis that compares ranks, as each recording had them
  // alone.
  const Table& OfSummaries(std::string_view name);
  // Returns make(trace), which is computed once for each function and trace, and kept. `make` is a free function that
  // depends on nothing else.
  template <class T>
  const T& Once(const Trace& trace, T (*make)(const Trace&)) {
    const auto key = reinterpret_cast<const void*>(make);
    return *static_cast<const T*>(
        Kept(trace, key, [&]() -> std::shared_ptr<const void> { return std::make_shared<const T>(make(trace)); }));
  }
  // The same of the whole run.
  template <class T>
  const T& OnceForRun(T (*make)(Tables&)) {
    const auto key = reinterpret_cast<const void*>(make);
    return *static_cast<const T*>(
        KeptForRun(key, [&]() -> std::shared_ptr<const void> { return std::make_shared<const T>(make(*this)); }));
  }
  // Returns the maximum number of threads that work on this run.
  size_t threads() const;

 private:
  struct Impl;
  const void* Kept(const Trace& trace, const void* key, const std::function<std::shared_ptr<const void>()>& make);
  const void* KeptForRun(const void* key, const std::function<std::shared_ptr<const void>()>& make);
  const Run& run_;
  Tables* job_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapless::internal
