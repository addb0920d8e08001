// SPDX-License-Identifier: Apache-2.0
// Writes `gapless compare A.json B.json --json`. `statistically_significant` is absent where no verdict can be given,
// so that a script does not take "unknown" for "no".
#include "cli/commands/compare/document.h"
#include "cli/commands/compare/stored.h"

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

// The whole document.
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
  };
};

}  // namespace documents

constinit const TypeInfo kStoredDocument = describe::MakeType<documents::Stored>();

std::string StoredJson(const StoredComparison& comparison) {
  documents::Stored document{.verdict = comparison.verdict,
                             .speedup = comparison.speedup,
                             .p_mann_whitney = comparison.p_mann_whitney,
                             .p_welch = comparison.p_welch,
                             .mde_share = comparison.mde_share,
                             .margin = comparison.margin,
                             .series = comparison.name,
                             // Left out if both sides have the same name.
                             .series_of_b = comparison.b_name == comparison.name ? "" : comparison.b_name,
                             .unit = comparison.unit,
                             .values_are = comparison.sampling,
                             .other_machine = comparison.other_machine,
                             .shows = WhatTheyShow(comparison),
                             .a = {comparison.a, comparison.a_count},
                             .b = {comparison.b, comparison.b_count}};
  if (comparison.p_mann_whitney)
    document.statistically_significant =
        comparison.verdict == SpeedVerdict::kFaster || comparison.verdict == SpeedVerdict::kSlower;
  if (comparison.p_mann_whitney || comparison.p_welch)
    document.nominal = "the p values hold if the numbers of runs were fixed beforehand";
  return DocumentOf("compare", document);
}

}  // namespace gapless::internal
