// SPDX-License-Identifier: Apache-2.0
// Writes `gapless tune --json`: of settings, or of the exchange of gradients.
#include "base/described_json.h"
#include "proof/described.h"
#include "report/tune/report.h"

namespace gapless::internal {
namespace documents {

// One setting. What was not measured is absent; a setting that cannot be used has a reason instead.
struct Setting {
  std::vector<std::string> fixes{};
  std::optional<double> step_time_ms{}, samples_per_second{}, memory_bytes{};
  std::optional<size_t> runs{};
  std::optional<RatioInterval> speedup{};
  std::optional<SpeedVerdict> verdict{};
  std::optional<size_t> pairs{};
  std::string reason{};
  static constexpr FieldInfo kFields[] = {
      Field<&Setting::fixes>("fixes", "", "what is set; empty: the command as it is"),
      Field<&Setting::step_time_ms>("step_time_ms", "ms", "median duration of a step"),
      Field<&Setting::samples_per_second>("samples_per_second", "1/s", "samples a second"),
      Field<&Setting::memory_bytes>("memory_bytes", "bytes", "peak of the GPU's memory"),
      Field<&Setting::runs>("runs", "count", "runs with it"),
      Field<&Setting::speedup>("speedup", "", "over the command as it is"),
      Field<&Setting::verdict>("verdict", "", "against the command as it is"),
      Field<&Setting::pairs>("pairs", "count", "pairs that were compared"),
      Field<&Setting::reason>("reason", "", "why it cannot be used", kUnlessEmpty),
  };
};

// The document of settings.
struct TuneResult {
  std::vector<Setting> settings{};
  size_t best = 0;
  std::string_view compared{};
  size_t rounds = 0;
  bool short_of_time = false;
  static constexpr FieldInfo kFields[] = {
      Field<&TuneResult::settings>("settings", "", "the first is the command as it is"),
      Field<&TuneResult::best>("best", "count", "index of the setting to use"),
      Field<&TuneResult::compared>("compared", "", "samples or steps"),
      Field<&TuneResult::rounds>("rounds", "count", "rounds that were run"),
      Field<&TuneResult::short_of_time>("short_of_time", "", "the time ended before it was decided"),
  };
};

// The parts of a step of several ranks. The shares add up to 1 where compute and overhead can be separated.
struct Exchange {
  int ranks = 0;
  double step_time_ms = 0, step_time_without_exchange_ms = 0, step_time_alone_ms = 0;
  std::optional<double> compute_share{}, overhead_share{};
  double communication_share = 0;
  RatioInterval speedup{};
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  size_t rounds = 0;
  double samples_per_second = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&Exchange::ranks>("ranks", "", "ranks of the job"),
      Field<&Exchange::step_time_ms>("step_time_ms", "ms", "median duration of a step"),
      Field<&Exchange::step_time_without_exchange_ms>("step_time_without_exchange_ms", "ms", "without all-reduce"),
      Field<&Exchange::step_time_alone_ms>("step_time_alone_ms", "ms", "of one rank alone"),
      Field<&Exchange::compute_share>("compute_share", "", "fraction of a step; with the next two 1"),
      Field<&Exchange::overhead_share>("overhead_share", "", "fraction of a step; below 0: within the noise"),
      Field<&Exchange::communication_share>("communication_share", "", "fraction of a step; below 0: within the noise"),
      Field<&Exchange::speedup>("speedup", "", "of a step without the exchange"),
      Field<&Exchange::verdict>("verdict", "", "is it faster without?"),
      Field<&Exchange::rounds>("rounds", "count", "rounds that were run"),
      Field<&Exchange::samples_per_second>("samples_per_second", "1/s", "of all ranks", kUnlessEmpty),
  };
};

}  // namespace documents

constinit const TypeInfo kTuneDocument = describe::MakeType<documents::TuneResult>();
constinit const TypeInfo kExchangeDocument = describe::MakeType<documents::Exchange>();

namespace {

// The typical run of a setting, and its comparison with the command as it is, as far as either exists.
documents::Setting SettingOf(const TuneRow& row) {
  documents::Setting setting{.fixes = row.set.Names(), .reason = row.why_not};
  // A setting without a run has no numbers, only its reason.
  if (row.IsUsable()) {
    const Stage stage = row.Typical();
    setting.step_time_ms = stage.step_ms;
    setting.samples_per_second = stage.samples_per_second;
    setting.memory_bytes = stage.memory_bytes;
    setting.runs = row.runs.size();
  }
  // The first row is the command as it is, and a setting that lost at once was not compared.
  if (row.against_first.size() > 0) {
    setting.speedup = row.Speedup();
    setting.verdict = row.against_first.Verdict();
    setting.pairs = row.against_first.size();
  }
  return setting;
}

}  // namespace

std::string TuneJson(const TuneView& view) {
  documents::TuneResult document{.best = view.table.best,
                                 .compared = view.table.by_samples ? "samples" : "steps",
                                 .rounds = view.table.rounds,
                                 .short_of_time = view.table.was_short_of_time};
  for (const TuneRow& row : view.table.rows) document.settings.push_back(SettingOf(row));
  return DocumentOf("tune", document);
}

std::string ExchangeJson(const ExchangeCost& cost, int ranks) {
  return DocumentOf("tune", documents::Exchange{.ranks = ranks,
                                                .step_time_ms = cost.step_ms,
                                                .step_time_without_exchange_ms = cost.without_ms,
                                                .step_time_alone_ms = cost.alone_ms,
                                                .compute_share = cost.Compute(),
                                                .overhead_share = cost.Overhead(),
                                                .communication_share = cost.Communication(),
                                                .speedup = cost.speedup,
                                                .verdict = cost.verdict,
                                                .rounds = cost.rounds,
                                                .samples_per_second = cost.samples_per_second});
}

}  // namespace gapless::internal
