// SPDX-License-Identifier: Apache-2.0
// Pairs the series of files of results. A name is looked for as it is, then as a short one: pytest calls
// "tests/test_speed.py::test_forward" test_forward, and the folder in front of it may differ from file to file.
#include "proof/stored_series.h"

#include <algorithm>

#include "base/strings.h"
#include "proof/stored.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxNames = 8;
constexpr std::string_view kMainSeries = "step_time";  // main series of gapless bench, which writes other series too

// Lists at most eight names for a hint.
std::string NamesOf(const ResultFile& file) {
  std::vector<std::string> names;
  for (const ResultSeries& series : file.series) {
    if (names.size() == kMaxNames) {
      names.emplace_back("…");
      break;
    }
    names.push_back(Ellipsize(Printable(series.name), kSeriesColumns));
  }
  return Join(names, ", ");
}

// The series of this name, else the only one that is called so for short.
const ResultSeries* Find(const ResultFile& file, const std::string& name) {
  const ResultSeries* by_short_name = nullptr;
  for (const ResultSeries& series : file.series) {
    if (series.name == name) return &series;
    if (series.short_name.empty() || series.short_name != name) continue;
    if (by_short_name != nullptr) return nullptr;
    by_short_name = &series;
  }
  return by_short_name;
}

// The series of the other file that measures the same.
const ResultSeries* Counterpart(const ResultSeries& series, const ResultFile& own, const ResultFile& other) {
  if (const ResultSeries* const found = Find(other, series.name)) return found;
  if (series.short_name.empty() || Find(own, series.short_name) != &series) return nullptr;
  return Find(other, series.short_name);
}

std::vector<std::string> WithoutCounterpart(const ResultFile& own, const ResultFile& other) {
  std::vector<std::string> names;
  for (const ResultSeries& series : own.series)
    if (Counterpart(series, own, other) == nullptr) names.push_back(series.name);
  return names;
}

bool MeasureTheSame(const ResultSeries& a, const ResultSeries& b) {
  return a.unit == b.unit && a.higher_is_better == b.higher_is_better;
}

}  // namespace

Result<std::vector<SeriesPair>> PairsOf(const ResultFile& a, const ResultFile& b, const std::string& name) {
  if (!name.empty()) {
    const ResultSeries *const left = Find(a, name), *const right = Find(b, name);
    if (left != nullptr && right != nullptr) return std::vector<SeriesPair>{{left, right}};
    return Fail(ErrorCode::kInput, "cannot compare: this series is not in both files", name,
                StrCat("there are ", NamesOf(left == nullptr ? a : b)));
  }
  if (a.series.size() == 1 && b.series.size() == 1) return std::vector<SeriesPair>{{a.series.data(), b.series.data()}};
  std::vector<SeriesPair> common, sampled;  // sampled: pairs with more than one value, which say more
  for (const ResultSeries& series : a.series) {
    const ResultSeries* const other = Counterpart(series, a, b);
    if (other == nullptr) continue;
    common.push_back({&series, other});
    if (series.values.size() > 1 && other->values.size() > 1) sampled.push_back({&series, other});
  }
  if (common.empty()) {
    const Unpaired unpaired = UnpairedOf(a, b);
    return Fail(ErrorCode::kInput,
                StrCat("cannot compare: the files have no series in common; ", OnlyInText("A", unpaired.only_in_a),
                       "; ", OnlyInText("B", unpaired.only_in_b)));
  }
  auto candidates = sampled.empty() ? std::move(common) : std::move(sampled);
  const auto main =
      std::ranges::find_if(candidates, [](const SeriesPair& pair) { return pair.a->name == kMainSeries; });
  return main == candidates.end() ? candidates : std::vector<SeriesPair>{*main};
}

Unpaired UnpairedOf(const ResultFile& a, const ResultFile& b) {
  if (a.series.size() == 1 && b.series.size() == 1) return {};
  return {.only_in_a = WithoutCounterpart(a, b), .only_in_b = WithoutCounterpart(b, a)};
}

std::string OnlyInText(std::string_view side, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < kMaxNames) shown.push_back(Ellipsize(Printable(name), kSeriesColumns));
  const size_t more = names.size() - shown.size();
  return StrCat("only in ", side, ": ", Join(shown, ", "), more == 0 ? "" : StrCat(" and ", more, " more"));
}

Result<std::vector<SeriesPair>> PairsWithin(const ResultFile& file, const std::string& name) {
  const Unexpected refusal = Fail(ErrorCode::kInput, "cannot compare: the file holds one result", "",
                                  "gapless compare before.json after.json");
  if (file.is_one_run || !file.runs.empty() || file.series.size() < 2) return refusal;
  const ResultSeries& first = file.series[0];
  std::vector<SeriesPair> pairs;
  const ResultSeries* const wanted = name.empty() ? nullptr : Find(file, name);
  for (const ResultSeries& series : file.series)
    if (&series != &first && (name.empty() ? MeasureTheSame(first, series) : &series == wanted))
      pairs.push_back({&first, &series});
  if (!pairs.empty()) return pairs;
  if (name.empty()) return refusal;
  return Fail(ErrorCode::kInput, "cannot compare: no series of this name stands beside the first one", name,
              StrCat("there are ", NamesOf(file)));
}

}  // namespace gapless::internal
