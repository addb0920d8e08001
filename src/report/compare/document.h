// SPDX-License-Identifier: Apache-2.0
// The documents of `gapless compare --json`. `gapless validate` holds the first one, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"
#include "proof/described.h"
#include "report/compare/report.h"

namespace gapless::internal {
namespace documents {

// The result of pairs of processes.
struct Pairs {
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  RatioInterval speedup{};
  double p_value = 1;
  bool statistically_significant = false;
  // Absent with too few pairs; p_welch also if only the ratios are known.
  std::optional<double> p_signed_rank{}, p_welch{};
  std::string_view nominal = "p_signed_rank and p_welch would hold had the number of pairs been fixed beforehand";
  std::optional<double> mde_share{};
  double margin = 0;
  size_t pairs = 0;
  std::vector<double> log_ratios{};
  static constexpr FieldInfo kFields[] = {
      Field<&Pairs::verdict>("verdict", "", "is B faster than A?"),
      Field<&Pairs::speedup>("speedup", "", "time of A / time of B"),
      Field<&Pairs::p_value>("p_value", "share", "valid at whatever pair one stops"),
      Field<&Pairs::statistically_significant>("statistically_significant", "", "p_value is at most the level"),
      Field<&Pairs::p_signed_rank>("p_signed_rank", "share", "nominal"),
      Field<&Pairs::p_welch>("p_welch", "share", "nominal"),
      Field<&Pairs::nominal>("nominal", "", "what the nominal p values assume"),
      Field<&Pairs::mde_share>("mde_share", "", "smallest change that as many pairs detect (power 80 %)"),
      Field<&Pairs::margin>("margin", "", "change that still counts as equivalent, as a fraction"),
      Field<&Pairs::pairs>("pairs", "count", "pairs that were run"),
      Field<&Pairs::log_ratios>("log_ratios", "", "ln(time of B / time of A) of each pair"),
  };
};

// The losses of both sides, step by step.
struct LossParity {
  std::optional<bool> parity{};
  double max_difference = 0;
  std::optional<double> spread{};
  size_t steps = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&LossParity::parity>("parity", "", "is B the same training as A? missing: no decision was possible"),
      Field<&LossParity::max_difference>("max_difference", "", "largest difference of the losses of a step"),
      Field<&LossParity::spread>("spread", "", "the same between two runs of A"),
      Field<&LossParity::steps>("steps", "count", "steps with a loss on both sides"),
  };
};

// The whole document. Metrics are absent if no pair was completed.
struct Compare {
  Pairs pairs{};
  bool interrupted = false;
  int64_t seed = 0;
  // Absent if a side was not measured, or both sides by different means.
  std::optional<double> memory_saved_gb{}, memory_saved_bytes{}, energy_saved_j{};
  std::optional<Metrics> a{};
  std::optional<std::string> a_command{};
  std::optional<Metrics> b{};
  std::optional<std::string> b_command{};
  std::optional<LossParity> loss{};
  std::optional<PrintedMetric> metric{};
  // Absent if the training was not compared (--no-same, or no steps were seen).
  std::optional<Parity> training{};
  std::optional<SampleSource> source{};
  std::optional<Environment> environment{};
  std::vector<std::string> next{};
  static constexpr FieldInfo kFields[] = {
      Spliced<&Compare::pairs>(),
      Field<&Compare::interrupted>("interrupted", "", "a signal ended the runs: true, or missing", kUnlessEmpty),
      Field<&Compare::seed>("seed", "", "of the order within a pair"),
      Field<&Compare::memory_saved_gb>("memory_saved_gb", "1e9 bytes", "what B needs less; below 0: more"),
      Field<&Compare::memory_saved_bytes>("memory_saved_bytes", "bytes", "the same"),
      Field<&Compare::energy_saved_j>("energy_saved_j", "J", "what B needs less; below 0: more"),
      Field<&Compare::a>("a", "", "metrics of A"),
      Field<&Compare::a_command>("a_command", "", "command of A"),
      Field<&Compare::b>("b", "", "metrics of B"),
      Field<&Compare::b_command>("b_command", "", "command of B"),
      Field<&Compare::loss>("loss", "", "losses of both sides"),
      Field<&Compare::metric>("metric", "", "the number of --metric on both sides"),
      Field<&Compare::training>("training", "", "is B the same training as A? missing: not asked"),
      Field<&Compare::source>("source", "", "what was measured"),
      Field<&Compare::environment>("environment", "", "where it was measured"),
      Field<&Compare::next>("next", "", "command lines that continue from here, the first one first", kUnlessEmpty),
  };
};

}  // namespace documents

// Pairs that were run, pairs that were made elsewhere (--ratios), two files of results.
extern const TypeInfo kCompareDocument, kRatiosDocument, kStoredDocument;
documents::Compare CompareDocument(const Comparison& comparison, const PairPlan& plan);

}  // namespace gapless::internal
