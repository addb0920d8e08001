// SPDX-License-Identifier: Apache-2.0
#include "predict/calibration.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal {

extern const std::string_view kAdviceCsv;  // generated from bench/results/advice.csv

namespace {

constexpr double kLeastFactor = 0.5, kMostFactor = 4;

double ErrorOf(const AdviceRow& row) { return std::log(row.measured / row.model.expected); }

double WidthDown(const StepShares& model) { return std::hypot(std::log(model.expected / model.low), kLeastWidth); }
double WidthUp(const StepShares& model) { return std::hypot(std::log(model.high / model.expected), kLeastWidth); }

// The value of rank ⌈share · (n + 1)⌉ of n, the largest at most.
double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size() + 1)));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

// A number that is above 0; absent: an empty field.
Result<std::optional<double>> Share(std::string_view field, size_t row) {
  if (field.empty()) return std::optional<double>();
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc() && end == field.data() + field.size() && std::isfinite(value) && value > 0)
    return std::optional(value);
  return Fail(ErrorCode::kInput, "this is no share of a step", StrCat("row ", row, ": ", Printable(field)));
}

// Where the columns that count stand.
struct Columns {
  size_t id = 0, kind = 0, recording = 0, measured = 0, low = 0, expected = 0, high = 0;
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
  return columns;
}

// Absent: it was not measured, or nothing was predicted.
Result<std::optional<AdviceRow>> RowOf(const std::vector<std::string>& fields, const Columns& columns, size_t number) {
  if (fields.size() <= columns.most())
    return Fail(ErrorCode::kInput, "a row of the ledger is too short", StrCat("row ", number));
  double shares[4] = {};
  const size_t places[4] = {columns.measured, columns.low, columns.expected, columns.high};
  for (size_t i = 0; i < 4; ++i) {
    const auto share = Share(fields[places[i]], number);
    if (!share) return Unexpected{share.error()};
    if (!*share) return std::optional<AdviceRow>();
    shares[i] = **share;
  }
  const StepShares model{
      .low = std::min(shares[1], shares[2]), .expected = shares[2], .high = std::max(shares[3], shares[2])};
  return std::optional<AdviceRow>({.id = fields[columns.id],
                                   .kind = fields[columns.kind],
                                   .recording = fields[columns.recording],
                                   .measured = shares[0],
                                   .model = model});
}

}  // namespace

Result<std::vector<AdviceRow>> ParseLedger(std::string_view csv) {
  CsvReader reader(csv);
  std::vector<std::string> fields;
  if (!reader.Next(fields)) return Fail(ErrorCode::kInput, "the ledger has no line of names");
  const auto columns = FindColumns(fields);
  if (!columns) return Unexpected{columns.error()};
  std::vector<AdviceRow> rows;
  for (size_t number = 2; reader.Next(fields); ++number) {
    auto row = RowOf(fields, *columns, number);
    if (!row) return Unexpected{row.error()};
    if (*row) rows.push_back(std::move(**row));
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

Calibration::Calibration(std::span<const AdviceRow> rows) : rows_(rows.begin(), rows.end()) {
  std::map<std::string_view, double> pairs;
  for (const AdviceRow& row : rows_) shifts_[row.kind] += ErrorOf(row), ++pairs[row.kind];
  for (auto& [kind, sum] : shifts_) sum /= pairs[kind] + kPriorPairs;
  if (rows_.size() < kLeastPairs) return;
  std::vector<double> scaled;
  for (const AdviceRow& row : rows_) {
    const double off = ErrorOf(row) - ShiftOf(row.kind);
    scaled.push_back(std::abs(off) / (off > 0 ? WidthUp(row.model) : WidthDown(row.model)));
  }
  factor_ = std::clamp(Quantile(std::move(scaled), kCoverage), kLeastFactor, kMostFactor);
}

double Calibration::ShiftOf(std::string_view kind) const {
  if (const auto found = shifts_.find(kind); found != shifts_.end()) return found->second;
  const size_t end = kind.find('+');
  if (end == std::string_view::npos) return 0;
  // Of a combination that nobody tested: the sum of its parts', lest it be worse than one of them.
  return ShiftOf(kind.substr(0, end)) + ShiftOf(kind.substr(end + 1));
}

StepShares Calibration::Apply(std::string_view kind, const StepShares& model) const {
  const double expected = model.expected * std::exp(ShiftOf(kind));
  return {.low = expected * std::exp(-factor_ * WidthDown(model)),
          .expected = expected,
          .high = expected * std::exp(factor_ * WidthUp(model))};
}

std::optional<Calibration::Quote> Calibration::QuoteFor(std::string_view kind) const {
  const std::vector<StepShares> predicted = LeaveOneOut(rows_);
  std::vector<double> of_kind, of_any;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double off = std::abs(rows_[i].measured / predicted[i].expected - 1);
    of_any.push_back(off);
    if (rows_[i].kind == kind) of_kind.push_back(off);
  }
  const bool any = of_kind.size() < kLeastPairs;
  std::vector<double>& chosen = any ? of_any : of_kind;
  if (chosen.size() < kLeastPairs) return std::nullopt;
  return Quote{.within = Quantile(chosen, 0.5), .pairs = chosen.size(), .any_kind = any};
}

std::vector<StepShares> LeaveOneOut(std::span<const AdviceRow> rows) {
  std::vector<StepShares> predicted;
  for (size_t out = 0; out < rows.size(); ++out) {
    std::vector<AdviceRow> others(rows.begin(), rows.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
    predicted.push_back(Calibration(others).Apply(rows[out].kind, rows[out].model));
  }
  return predicted;
}

}  // namespace gapless::internal
