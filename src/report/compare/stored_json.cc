// SPDX-License-Identifier: Apache-2.0
// Writes `gapless compare A.json B.json --json`. `statistically_significant` is absent where no verdict can be given,
// so that a script does not take "unknown" for "no".
#include "proof/stored.h"
#include "report/compare/document.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<Sampling> = static_cast<int64_t>(Sampling::kIteration) + 1;

namespace documents {

struct StoredSide {
  double median = 0;
  size_t count = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&StoredSide::median>("median", "", "median of the values"),
      Field<&StoredSide::count>("count", "count", "number of values"),
  };
};

struct StoredFailed {
  std::string side{}, series{};
  size_t failed = 0;
  std::optional<size_t> all{};
  std::string what{}, why{};
  static constexpr FieldInfo kFields[] = {
      Field<&StoredFailed::side>("side", "", "a or b"),
      Field<&StoredFailed::series>("series", "", "whose runs failed; missing: all of the file", kUnlessEmpty),
      Field<&StoredFailed::failed>("failed", "count", "how many failed"),
      Field<&StoredFailed::all>("all", "count", "of how many"),
      Field<&StoredFailed::what>("what", "", "what failed: run, request, repetition, …"),
      Field<&StoredFailed::why>("why", "", "as far as the file says", kUnlessEmpty),
  };
};

// One of several series.
struct StoredSeries {
  std::string series{}, series_of_b{};
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  RatioInterval speedup{};
  double slower_by = 0;
  std::optional<double> p_mann_whitney{}, p_welch{};
  std::string unit{};
  Sampling values_are = Sampling::kUnknown;
  StoredSide a{}, b{};
  std::string_view formula{}, own_name{};
  static constexpr FieldInfo kFields[] = {
      Field<&StoredSeries::series>("series", "", "series of A"),
      Field<&StoredSeries::series_of_b>("series_of_b", "", "series of B, where its name differs", kUnlessEmpty),
      Field<&StoredSeries::verdict>("verdict", "", "is B faster than A?"),
      Field<&StoredSeries::speedup>("speedup", "", "of B over A"),
      Field<&StoredSeries::slower_by>("slower_by", "share", "how much more time B takes; below 0: less"),
      Field<&StoredSeries::p_mann_whitney>("p_mann_whitney", "share", "nominal"),
      Field<&StoredSeries::p_welch>("p_welch", "share", "nominal"),
      Field<&StoredSeries::unit>("unit", "", "unit of the values", kUnlessEmpty),
      Field<&StoredSeries::values_are>("values_are", "", "what a value is"),
      Field<&StoredSeries::a>("a", "", "side A"),
      Field<&StoredSeries::b>("b", "", "side B"),
      Field<&StoredSeries::formula>("formula", "", "how the tool of A computes it, where that is known", kUnlessEmpty),
      Field<&StoredSeries::own_name>("own_name", "", "name of this quantity in docs/definitions.md", kUnlessEmpty),
  };
};

// The whole document. What is said of one series is of the one that decides: the slowest with the verdict.
struct Stored {
  SpeedVerdict verdict = SpeedVerdict::kCannotTell;
  RatioInterval speedup{};
  std::optional<double> p_mann_whitney{}, p_welch{};
  std::optional<bool> statistically_significant{};
  std::string_view nominal{};
  std::optional<double> mde_share{};
  double margin = 0;
  std::string series{}, series_of_b{}, unit{};
  Sampling values_are = Sampling::kUnknown;
  bool other_machine = false;
  std::string shows{};
  StoredSide a{}, b{};
  std::vector<StoredSeries> all{};
  std::vector<std::string> only_in_a{}, only_in_b{};
  std::vector<StoredFailed> failed{};
  std::optional<double> threshold{};
  std::optional<std::vector<std::string>> beyond_threshold{};
  static constexpr FieldInfo kFields[] = {
      Field<&Stored::verdict>("verdict", "", "is B faster than A?"),
      Field<&Stored::speedup>("speedup", "", "of B over A"),
      Field<&Stored::p_mann_whitney>("p_mann_whitney", "share", "nominal"),
      Field<&Stored::p_welch>("p_welch", "share", "nominal"),
      Field<&Stored::statistically_significant>("statistically_significant", "", "B is faster or slower"),
      Field<&Stored::nominal>("nominal", "", "what the nominal p values assume", kUnlessEmpty),
      Field<&Stored::mde_share>("mde_share", "", "smallest change that as many runs detect (power 80 %)"),
      Field<&Stored::margin>("margin", "", "change that still counts as equivalent, as a fraction"),
      Field<&Stored::series>("series", "", "series of A"),
      Field<&Stored::series_of_b>("series_of_b", "", "series of B, where its name differs", kUnlessEmpty),
      Field<&Stored::unit>("unit", "", "unit of the values", kUnlessEmpty),
      Field<&Stored::values_are>("values_are", "", "what a value is"),
      Field<&Stored::other_machine>("other_machine", "", "the files are of different machines", kUnlessEmpty),
      Field<&Stored::shows>("shows", "", "what the files can show"),
      Field<&Stored::a>("a", "", "side A"),
      Field<&Stored::b>("b", "", "side B"),
      Field<&Stored::all>("all_series", "", "each series that was compared"),
      Field<&Stored::only_in_a>("only_in_a", "", "series that B has not: they are not compared", kUnlessEmpty),
      Field<&Stored::only_in_b>("only_in_b", "", "series that A has not", kUnlessEmpty),
      Field<&Stored::failed>("failed", "", "runs that failed: with any of them there is no verdict", kUnlessEmpty),
      Field<&Stored::threshold>("threshold", "share", "how much slower a series may be, where it was asked"),
      Field<&Stored::beyond_threshold>("beyond_threshold", "", "series of B that are slower by more than that"),
  };
};

}  // namespace documents

constinit const TypeInfo kStoredDocument = describe::MakeType<documents::Stored>();

namespace {

// A name that is left out if both sides have the same.
std::string OtherName(const StoredComparison& comparison) {
  return comparison.b_name == comparison.name ? "" : comparison.b_name;
}

documents::StoredSeries SeriesDocument(const StoredComparison& comparison) {
  return {.series = comparison.name,
          .series_of_b = OtherName(comparison),
          .verdict = comparison.verdict,
          .speedup = comparison.speedup,
          .slower_by = SlowerBy(comparison),
          .p_mann_whitney = comparison.p_mann_whitney,
          .p_welch = comparison.p_welch,
          .unit = comparison.unit,
          .values_are = comparison.sampling,
          .a = {comparison.a, comparison.a_count},
          .b = {comparison.b, comparison.b_count},
          .formula = comparison.formula,
          .own_name = comparison.own_name};
}

void TakeLists(const StoredAnswer& answer, documents::Stored& document) {
  for (const StoredComparison& found : answer.all) document.all.push_back(SeriesDocument(found));
  for (const auto& [side, runs] : answer.failed)
    document.failed.push_back({.side = side == "A" ? "a" : "b",
                               .series = runs.series,
                               .failed = runs.failed,
                               .all = runs.all,
                               .what = std::string(runs.what),
                               .why = runs.why});
  document.only_in_a = answer.only_in_a;
  document.only_in_b = answer.only_in_b;
  document.threshold = answer.threshold;
  if (!answer.threshold) return;
  document.beyond_threshold.emplace();
  for (const StoredComparison* found : answer.BeyondThreshold()) document.beyond_threshold->push_back(found->b_name);
}

}  // namespace

std::string StoredJson(const StoredAnswer& answer) {
  const StoredComparison& comparison = answer.Main();
  documents::Stored document{.verdict = answer.Verdict(),
                             .speedup = comparison.speedup,
                             .p_mann_whitney = comparison.p_mann_whitney,
                             .p_welch = comparison.p_welch,
                             .mde_share = comparison.mde_share,
                             .margin = comparison.margin,
                             .series = comparison.name,
                             .series_of_b = OtherName(comparison),
                             .unit = comparison.unit,
                             .values_are = comparison.sampling,
                             .other_machine = comparison.other_machine,
                             .shows = WhatTheyShow(comparison),
                             .a = {comparison.a, comparison.a_count},
                             .b = {comparison.b, comparison.b_count}};
  if (comparison.p_mann_whitney)
    document.statistically_significant =
        document.verdict == SpeedVerdict::kFaster || document.verdict == SpeedVerdict::kSlower;
  if (comparison.p_mann_whitney || comparison.p_welch)
    document.nominal = "the p values hold if the numbers of runs were fixed beforehand";
  TakeLists(answer, document);
  return DocumentOf("compare", document, answer.left_out);
}

}  // namespace gapless::internal
