// SPDX-License-Identifier: Apache-2.0
// Implements the rounds of `tune`: first runs, ladders of batch sizes, pairs with the first setting, and the best
// setting.
//
// Settings share the error rate, each gets alpha divided by their number, so that the best of many is not a winner
// by chance. Among settings within 2 % of the best, the first in the list wins, which is the smallest: fewer
// workers or a smaller batch cost less.
#include "optimize/tuning.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/strings.h"
#include "optimize/change.h"
#include "optimize/results.h"
#include "proof/comparison.h"
#include "validate/random.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kBringsMore = 1.03;  // a rung that brings less than this over the best below it brings nothing
constexpr double kAsGood = 0.98;      // share of the best speedup: the fewest workers that reach it are preferred
constexpr double kFarSlower = 1.25;   // a first run that takes so much longer for a sample than the first's

// Returns the reason why a setting cannot be used, as its run shows; empty if it can.
std::string WhyNot(const RunSample& sample, const FixSet& set, const TuneOptions& options) {
  if (FaultOf(sample) != Fault::kNone) return DescribeFault(sample);
  for (const FixItem& item : set.items()) {
    bool on = false;
    std::string reason;
    for (const FixReport& report : sample.fixes) {
      const auto change = ParseChange(report.text, report.state);
      if (!change || change->fix != item.fix->name) continue;
      on = on || change->state == ChangeState::kOn;
      if (change->state == ChangeState::kRefused) reason = change->what;
    }
    if (!on && (!reason.empty() || item.fix->trial.environment == nullptr))
      return reason.empty() ? StrCat(item.ToString(), " found nothing to change in this program") : reason;
  }
  return MemoryObjection(sample, options.memory_limit_bytes);
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, Runner& runner, const TuneListener& on_run)
      : options_(options), runner_(runner), on_run_(on_run), random_(options.seed) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget_s));
  }

  Result<TuneTable> Run(const std::vector<TuneColumn>& columns) {
    AddRow({});
    GAPLESS_TRY(RunRow(0));
    if (!table_.rows[0].why_not.empty())
      return Fail(ErrorCode::kCommand, StrCat("the command cannot be measured: ", table_.rows[0].why_not), "",
                  "it must train for some steps and end well by itself");
    table_.by_samples = table_.rows[0].runs[0].samples_per_second.has_value();
    if (options_.by_samples && !table_.by_samples)
      return Fail(ErrorCode::kCommand, "how many samples a step has is not known", "",
                  "batches must come from a torch.utils.data.DataLoader");
    for (const TuneColumn& column : columns) GAPLESS_TRY(FirstRuns(column));
    ShareError();
    GAPLESS_TRY(Rounds());
    Choose();
    return std::move(table_);
  }

 private:
  void AddRow(const FixSet& set) { table_.rows.emplace_back(set, options_.pairs); }
  std::string NameOf(size_t row) const {
    return table_.rows[row].set.empty() ? "as it is" : table_.rows[row].set.ToString();
  }

  Result<void> RunRow(size_t index) {
    on_run_(table_.rounds == 0 ? NameOf(index) : StrCat(NameOf(index), ", round ", table_.rounds));
    const auto begun = Clock::now();
    GAPLESS_ASSIGN(auto sample, runner_.Run(table_.rows[index].set));
    longest_ = std::max(longest_, Clock::now() - begun);
    TuneRow& row = table_.rows[index];
    row.why_not = WhyNot(sample, row.set, options_);
    if (row.why_not.empty() && table_.by_samples && !sample.samples_per_second)
      row.why_not = "how many samples its steps have is not known";
    if (row.why_not.empty()) row.runs.push_back(StageOf(sample));
    return {};
  }

  // The time of the latest run.
  double TimeOf(const TuneRow& row) const {
    const Stage& stage = row.runs.back();
    return table_.by_samples ? 1e3 / *stage.samples_per_second : stage.step_ms;
  }

  // Runs each setting of a column once. A setting that is far slower gets no further runs, and a ladder ends
  // early.
  Result<void> FirstRuns(const TuneColumn& column) {
    double best = TimeOf(table_.rows[0]);
    int idle = 0;
    std::string end;  // why the ladder is not climbed further
    for (size_t i = 0; i < column.settings.size(); ++i) {
      AddRow(column.settings[i]);
      TuneRow& row = table_.rows.back();
      if (Clock::now() + longest_ > deadline_) table_.was_short_of_time = true, end = "no time was left for it";
      if (!end.empty()) {
        row.why_not = end;
        continue;
      }
      GAPLESS_TRY(RunRow(table_.rows.size() - 1));
      const double time = row.IsUsable() ? TimeOf(row) : 0;
      row.is_decided = time > kFarSlower * TimeOf(table_.rows[0]);
      idle = row.IsUsable() && time < best / kBringsMore ? 0 : idle + 1;
      if (row.IsUsable()) best = std::min(best, time);
      if (i < column.first_rung) {
        idle = 0;
        continue;
      }
      row.is_decided = row.is_decided || idle > 0;  // a smaller one is as good
      if (!row.IsUsable())
        end = "not tried: a smaller one could not be used";
      else if (idle == column.idle_rungs)
        end = idle == 1 ? "not tried: the one before it brought nothing more"
                        : StrCat("not tried: the ", idle, " before it brought nothing more");
    }
    return {};
  }

  std::vector<size_t> Open() const {
    std::vector<size_t> open;
    for (size_t i = 1; i < table_.rows.size(); ++i)
      if (table_.rows[i].IsUsable() && !table_.rows[i].is_decided) open.push_back(i);
    return open;
  }

  // Every one of those that go into the rounds may be found faster by mistake (Bonferroni).
  void ShareError() {
    PairOptions pairs = options_.pairs;
    pairs.alpha /= static_cast<double>(std::max<size_t>(Open().size(), 1));
    for (TuneRow& row : table_.rows) row.against_first = PairSequence(pairs);
  }

  Result<void> Rounds() {
    for (auto open = Open(); !open.empty() && table_.rounds < options_.most_rounds; open = Open()) {
      if (Clock::now() + longest_ * (open.size() + 1) > deadline_) {
        table_.was_short_of_time = true;
        return {};
      }
      ++table_.rounds;
      open.push_back(0);
      for (size_t i = open.size() - 1; i > 0; --i) std::swap(open[i], open[random_.Index(i + 1)]);
      for (const size_t index : open) GAPLESS_TRY(RunRow(index));
      if (!table_.rows[0].why_not.empty())
        return Fail(ErrorCode::kCommand, StrCat("the command as it is failed: ", table_.rows[0].why_not));
      for (const size_t index : open) {
        TuneRow& row = table_.rows[index];
        if (index == 0 || !row.why_not.empty()) continue;
        row.against_first.Add(std::log(TimeOf(row) / TimeOf(table_.rows[0])));
        row.is_decided = EndingOf(row.against_first, options_.most_rounds).has_value();
      }
    }
    return {};
  }

  void Choose() {
    const auto wins = [](const TuneRow& row) {
      return row.IsUsable() && row.against_first.Verdict() == SpeedVerdict::kFaster &&
             row.Speedup().low.value_or(0) > 1;
    };
    double most = 1;
    for (const TuneRow& row : table_.rows)
      if (wins(row)) most = std::max(most, row.Speedup().expected);
    const auto best = std::ranges::find_if(
        table_.rows, [&](const TuneRow& row) { return wins(row) && row.Speedup().expected >= kAsGood * most; });
    if (best != table_.rows.end()) table_.best = static_cast<size_t>(best - table_.rows.begin());
  }

  const TuneOptions& options_;
  Runner& runner_;
  const TuneListener& on_run_;
  Random random_;
  Clock::time_point deadline_{};
  Clock::duration longest_{};  // a run has taken
  TuneTable table_{};
};

FixSet SetOf(std::initializer_list<std::pair<std::string_view, std::string>> items) {
  FixSet set;
  for (const auto& [name, value] : items) set = set.With({.fix = FindFixWithTrial(name), .value = value});
  return set;
}

}  // namespace

Stage TuneRow::Typical() const {
  const auto median = [&](auto value) -> std::optional<double> {
    std::vector<double> values;
    for (const Stage& stage : runs)
      if (const std::optional<double> measured = value(stage)) values.push_back(*measured);
    if (values.empty()) return std::nullopt;
    return Median(values);
  };
  Stage typical{.step_ms = median([](const Stage& stage) { return std::optional(stage.step_ms); }).value_or(0)};
  typical.samples_per_second = median([](const Stage& stage) { return stage.samples_per_second; });
  typical.memory_bytes = median([](const Stage& stage) { return stage.memory_bytes; });
  typical.gpu_utilization = median([](const Stage& stage) { return stage.gpu_utilization; });
  return typical;
}

RatioInterval TuneRow::Speedup() const { return SpeedupOf(against_first.Interval()); }

Result<TuneTable> Tune(const std::vector<TuneColumn>& columns, const TuneOptions& options, Runner& runner,
                       const TuneListener& on_run) {
  return Tuner(options, runner, on_run).Run(columns);
}

// More workers than processors are a ladder: loading that waits is as much faster as there are workers, loading that
// computes is no faster with the first of them.
std::vector<TuneColumn> LoaderSettings(const FixContext& context, bool grid) {
  const size_t cpus = CpusPerRank(context);
  TuneColumn column{.settings = {}, .idle_rungs = 1};
  for (const size_t workers : {0, 1, 2, 4, 8, 16, 32}) {
    const std::string count = std::to_string(workers);
    const bool is_rung = workers > cpus;
    if (is_rung) column.first_rung = std::min(column.first_rung, column.settings.size());
    column.settings.push_back(SetOf({{"workers", count}}));
    if (!grid || is_rung) continue;
    if (context.gpu) column.settings.push_back(SetOf({{"workers", count}, {"pin", ""}}));
    if (workers == 0) continue;
    for (const char* ahead : {"2", "8"}) {
      column.settings.push_back(SetOf({{"workers", count}, {"prefetch_factor", ahead}}));
      if (context.gpu) column.settings.push_back(SetOf({{"workers", count}, {"prefetch_factor", ahead}, {"pin", ""}}));
    }
  }
  return {column};
}

std::vector<TuneColumn> BatchSettings(const FixContext& context) {
  constexpr int kMaxFactor = 1024;
  TuneColumn plain{.settings = {}, .first_rung = 0}, mixed = plain;
  const FixValues types = FindFixWithTrial("amp")->trial.values(context);
  if (!types.values.empty()) mixed.settings.push_back(SetOf({{"amp", types.values[0]}}));
  for (int factor = 2; factor <= kMaxFactor; factor *= 2) {
    plain.settings.push_back(SetOf({{"batch", std::to_string(factor)}}));
    if (!types.values.empty())
      mixed.settings.push_back(SetOf({{"batch", std::to_string(factor)}, {"amp", types.values[0]}}));
  }
  return {plain, mixed};
}

}  // namespace gapless::internal
