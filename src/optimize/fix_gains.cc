// SPDX-License-Identifier: Apache-2.0
// Parses the CSV of measured gains and checks each row. Columns are found by their names, so further columns do no
// harm; a missing column or a figure that is no speedup is an error that names the row.
#include "optimize/fix_gains.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal {

extern const std::string_view kFixGainsCsv;  // generated from bench/results/fixes.csv

namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kTexts[] = {"fix", "script", "machine", "outcome", "losses", "torch", "date", "reason"};
constexpr std::string_view kFigures[] = {"measured_low", "measured_expected", "measured_high", "predicted"};

// Returns a speedup above 0; an empty field is absent, not 0.
Result<std::optional<double>> Speedup(const Fields& fields, std::string_view name, size_t row) {
  const std::string& field = fields.find(name)->second;
  if (field.empty()) return std::optional<double>();
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc() && end == field.data() + field.size() && std::isfinite(value) && value > 0)
    return std::optional(value);
  return Fail(ErrorCode::kInput, StrCat(name, " is no speedup"), StrCat("row ", row, ": ", Printable(field)));
}

Result<FixGain> GainOf(const Fields& fields, size_t row) {
  const auto text = [&](std::string_view name) { return fields.find(name)->second; };
  FixGain gain{.item = text("fix"), .script = text("script"), .machine = text("machine"), .outcome = text("outcome")};
  gain.losses = text("losses"), gain.torch = text("torch"), gain.date = text("date"), gain.reason = text("reason");
  std::optional<double> figures[std::size(kFigures)];
  for (size_t i = 0; i < std::size(kFigures); ++i) {
    GAPLESS_ASSIGN(const auto figure, Speedup(fields, kFigures[i], row));
    figures[i] = figure;
  }
  if (figures[1]) gain.measured = RatioInterval{.low = figures[0], .high = figures[2], .expected = *figures[1]};
  gain.predicted = figures[3];
  return gain;
}

}  // namespace

Result<std::vector<FixGain>> ParseFixGains(std::string_view csv) {
  CsvReader reader(csv);
  std::vector<std::string> names, cells;
  if (!reader.Next(names)) return Fail(ErrorCode::kInput, "the ledger has no line of names");
  std::vector<FixGain> gains;
  for (size_t row = 2; reader.Next(cells); ++row) {
    Fields fields;
    for (size_t i = 0; i < cells.size() && i < names.size(); ++i) fields[names[i]] = cells[i];
    for (const auto& wanted : {std::span<const std::string_view>(kTexts), std::span<const std::string_view>(kFigures)})
      for (const std::string_view name : wanted)
        if (!fields.contains(name))
          return Fail(ErrorCode::kInput, StrCat("a row of the ledger has no ", name), StrCat("row ", row));
    GAPLESS_ASSIGN(auto gain, GainOf(fields, row));
    gains.push_back(std::move(gain));
  }
  return gains;
}

std::span<const FixGain> MeasuredGains() {
  static const std::vector<FixGain> kGains = [] {
    auto parsed = ParseFixGains(kFixGainsCsv);
    return parsed ? std::move(*parsed) : std::vector<FixGain>();  // a test parses it
  }();
  return kGains;
}

}  // namespace gapless::internal
