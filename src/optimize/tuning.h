// SPDX-License-Identifier: Apache-2.0
// Measures the settings of one parameter of a command, such as the number of workers or the batch size, side by side:
//
//   1. One run of each, in the order given, shows whether it applies, whether the run succeeds and how much memory
//      it uses. A ladder of batch sizes is climbed until one does not fit, or two in a row save nothing more; one of
//      more workers than processors until the next rung saves nothing more.
//   2. In each round all settings run once, in random order, so that a machine that slows down affects all alike. A
//      setting is judged by its pairs with the first one, the unchanged command (validate/pair_sequence.h), each at
//      its part of the error rate; a decided setting is not run again.
//
// The compared value is the time per sample if the loaders report the number of samples, else the time per step.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/contest.h"
#include "optimize/decision.h"

namespace gapless::internal {

// The settings of one column of a table. Those from `first_rung` on are a ladder, whose rungs take more and more memory
// or processes: it ends at a rung that cannot be used, or after `idle_rungs` of them that brought nothing more.
struct TuneColumn {
  std::vector<FixSet> settings{};
  size_t first_rung = std::numeric_limits<size_t>::max();
  int idle_rungs = 2;
};

struct TuneOptions {
  PairOptions pairs{};
  size_t most_rounds = 16;  // alpha / 5 takes 13 pairs of one sign
  double budget_s = 600;
  uint64_t seed = 0;
  bool by_samples = false;                     // settings change what a step is: without samples nothing can be said
  std::optional<double> memory_limit_bytes{};  // memory of the GPU; a tenth of it stays free
};

struct TuneRow {
  TuneRow(FixSet fixes, const PairOptions& options) : set(std::move(fixes)), against_first(options) {}
  FixSet set;  // empty: as it is
  std::vector<Stage> runs{};
  std::string why_not{};       // it cannot be used: it does not apply, does not fit, fails
  PairSequence against_first;  // ln(time / time of the first)
  bool is_decided = false;     // no more runs are needed

  bool IsUsable() const { return why_not.empty() && !runs.empty(); }
  Stage Typical() const;  // medians of its runs
  RatioInterval Speedup() const;
};

struct TuneTable {
  std::vector<TuneRow> rows{};  // the first is the command as it is
  bool by_samples = false;      // how they were compared
  size_t best = 0;  // smallest setting that is as good as any and significantly faster; 0: the unchanged command
  size_t rounds = 0;
  bool was_short_of_time = false;
};

// Receives progress messages: "workers=4, round 3 of 12".
using TuneListener = std::function<void(const std::string& doing)>;

// An error: the command as it is fails, or the user ends it.
Result<TuneTable> Tune(const std::vector<TuneColumn>& columns, const TuneOptions& options, Runner& runner,
                       const TuneListener& on_run);

// The settings of `gapless tune dataloader`: numbers of workers; with `grid` also pinned memory, kept workers and how
// far ahead they load.
std::vector<TuneColumn> LoaderSettings(const FixContext& context, bool grid);
// Returns the settings of `tune batch`: batches 2, 4, 8 … times as large, and the same in mixed precision if supported.
std::vector<TuneColumn> BatchSettings(const FixContext& context);

}  // namespace gapless::internal
