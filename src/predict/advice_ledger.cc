// SPDX-License-Identifier: Apache-2.0
// Parses the CSV of prediction test data. Columns are found by name, and rows without a test are skipped.
#include "predict/advice_ledger.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal {

extern const std::string_view kAdviceCsv;  // generated from bench/results/advice.csv

namespace {

// A number that is above 0; absent: an empty field.
Result<std::optional<double>> Share(std::string_view field, size_t row) {
  if (field.empty()) return std::optional<double>();
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc() && end == field.data() + field.size() && std::isfinite(value) && value > 0)
    return std::optional(value);
  return Fail(ErrorCode::kInput, "this is no share of a step", StrCat("row ", row, ": ", Printable(field)));
}

// Columns is where the columns that count stand.
struct Columns {
  size_t id = 0, kind = 0, recording = 0, measured = 0, low = 0, expected = 0, high = 0;
  std::optional<size_t> repository{}, machine{};
  size_t most() const { return std::max({id, kind, recording, measured, low, expected, high}); }
};

Result<Columns> FindColumns(const std::vector<std::string>& names) {
  Columns columns;
  const std::pair<std::string_view, size_t*> wanted[] = {{"id", &columns.id},
                                                         {"kind", &columns.kind},
                                                         {"recording", &columns.recording},
                                                         {"measured_ratio", &columns.measured},
                                                         {"predicted_low", &columns.low},
                                                         {"predicted_expected", &columns.expected},
                                                         {"predicted_high", &columns.high}};
  for (const auto& [name, place] : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return Fail(ErrorCode::kInput, StrCat("the ledger has no column ", name), "row 1");
    *place = static_cast<size_t>(found - names.begin());
  }
  for (const auto& [name, place] : {std::pair("repository", &columns.repository), {"machine", &columns.machine}}) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) *place = static_cast<size_t>(found - names.begin());
  }
  return columns;
}

// Absent: it was not measured, or nothing was predicted.
Result<std::optional<AdviceRow>> RowOf(const std::vector<std::string>& fields, const Columns& columns, size_t number) {
  if (fields.size() <= columns.most())
    return Fail(ErrorCode::kInput, "a row of the ledger is too short", StrCat("row ", number));
  double shares[4] = {};
  const size_t places[4] = {columns.measured, columns.low, columns.expected, columns.high};
  for (size_t i = 0; i < 4; ++i) {
    GAPLESS_ASSIGN(const auto share, Share(fields[places[i]], number));
    if (!share) return std::optional<AdviceRow>();
    shares[i] = *share;
  }
  const StepShares model{
      .low = std::min(shares[1], shares[2]), .expected = shares[2], .high = std::max(shares[3], shares[2])};
  const auto text = [&](std::optional<size_t> place) {
    return place && *place < fields.size() ? fields[*place] : std::string();
  };
  return std::optional<AdviceRow>({.id = fields[columns.id],
                                   .kind = fields[columns.kind],
                                   .recording = fields[columns.recording],
                                   .repository = text(columns.repository),
                                   .machine = text(columns.machine),
                                   .measured = shares[0],
                                   .model = model});
}

}  // namespace

std::string_view NameOf(Machine machine) { return machine == Machine::kGpu ? "gpu" : "cpu"; }

Result<std::vector<AdviceRow>> ParseLedger(std::string_view csv) {
  CsvReader reader(csv);
  std::vector<std::string> fields;
  if (!reader.Next(fields)) return Fail(ErrorCode::kInput, "the ledger has no line of names");
  GAPLESS_ASSIGN(const auto columns, FindColumns(fields));
  std::vector<AdviceRow> rows;
  for (size_t number = 2; reader.Next(fields); ++number) {
    GAPLESS_ASSIGN(auto row, RowOf(fields, columns, number));
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

std::span<const AdviceRow> BuiltInLedger() {
  static const std::vector<AdviceRow> kRows = [] {
    auto parsed = ParseLedger(kAdviceCsv);
    return parsed ? std::move(*parsed) : std::vector<AdviceRow>();  // a test parses it
  }();
  return kRows;
}

}  // namespace gapless::internal
