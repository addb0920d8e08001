// SPDX-License-Identifier: Apache-2.0
// Reads the head and the rows of ncu's wide and long tables, with the number style of the file's locale.
//
// In a wide table a row is a launch and a column a metric; in a long one a row is one metric of a launch. All rows
// are split first, then the style of numbers is found over all of them, then rows become metrics: a single "1,234"
// may be a thousand or one. A file may hold several tables; each head begins another.
#include "ingest/readers/ncu_csv/table.h"

#include <cmath>

#include "base/strings.h"
#include "ingest/readers/ncu_csv/printed.h"
#include "ingest/readers/ncu_csv/text.h"

namespace gapless::internal::ncu {
namespace {

constexpr double kMaxId = 1e15;

}  // namespace

void MetricTable::TakeHead(Row head) {
  head_ = std::move(head);
  units_.clear();
  column_.clear();
  for (size_t i = 0; i < head_.size(); ++i) column_.emplace(head_[i], i);
}

std::string_view MetricTable::Get(const Row& row, std::string_view column) const {
  const auto at = column_.find(column);
  return at == column_.end() || at->second >= row.size() ? std::string_view() : row[at->second];
}

// A row of one field is a line that the program printed: a table of ncu has more columns.
void MetricTable::ReadRows() {
  Row row;
  while (csv_.Next(row)) {
    if (row.empty() || row[0].starts_with("==") || (row.size() == 1 && row[0].empty())) continue;
    if (row.size() == 1) {
      ++other_lines_;
      continue;
    }
    rows_.push_back(std::move(row));
  }
}

void MetricTable::FindStyle() {
  StyleFinder finder;
  for (const Row& row : rows_) {
    if (IsHead(row)) {
      TakeHead(row);
      continue;
    }
    for (size_t i = 0; i < row.size() && i < head_.size(); ++i)
      if (head_[i] == "Metric Value" || head_[i] == "Average" || (!IsLong() && !IsAbout(head_[i]))) finder.See(row[i]);
  }
  style_ = finder.style();
}

Result<void> MetricTable::Read(const std::string& path) {
  Row head;
  if (!csv_.Next(head) || !IsHead(head))
    return Fail(ErrorCode::kInput, "the table has no column \"Kernel Name\"", path, "ncu --csv --page raw");
  rows_.push_back(std::move(head));
  ReadRows();
  FindStyle();
  for (Row& row : rows_) {
    if (IsHead(row)) {
      TakeHead(row);
      launches_.BeginRun();
      continue;
    }
    JoinBrackets(row, head_.size());
    IsLong() ? AddLong(row) : AddWide(row);
  }
  Finish();
  return {};
}

bool MetricTable::TakeLaunch(const Row& row, std::string_view metric) {
  const std::string_view kernel = Get(row, "Kernel Name");
  int64_t id = -1;
  if (column_.contains("ID")) {
    const double number = ParseValue(Get(row, "ID"), {});
    if (!(number >= 0) || number > kMaxId) return false;
    id = static_cast<int64_t>(number);
  } else if (kernel.empty()) {
    return false;
  }
  kernel_ = kernel;
  launch_ = launches_.IndexOf(
      id, StrCat(Get(row, "Process ID"), "\n", kernel, "\n", Get(row, "Grid Size"), "\n", Get(row, "Block Size")),
      kernel, metric);
  TakeAbout(row);
  return true;
}

// Each launch is described once.
void MetricTable::TakeAbout(const Row& row) {
  if (!described_.insert(launch_).second) return;
  for (const AboutColumn& about : AboutColumns()) {
    const std::string_view text = Get(row, about.printed);
    if (!text.empty()) Add(about.metric, kNan, text, "");
  }
  if (const std::string_view process = Get(row, "Process Name"); !process.empty())
    builder_.AddEnvironment("ncu.process", process);
}

void MetricTable::Add(std::string_view metric, double value, std::string_view text, std::string_view unit) {
  builder_.AddKernelMetric(
      {.kernel_name = kernel_, .launch_index = launch_, .metric = metric, .value = value, .text = text, .unit = unit});
  ++metrics_;
}

void MetricTable::AddValue(std::string_view metric, std::string_view printed, std::string_view unit) {
  if (IsAbsentValue(printed)) {
    absent_ += !printed.empty();
    return;
  }
  const double value = ParseValue(printed, style_);
  if (std::isnan(value)) return Add(metric, kNan, printed, unit);
  const BaseUnit& base = BaseOf(unit);
  Add(metric, value * base.factor, "", base.unit);
}

// Adds all metrics of a launch. A row with neither id nor kernel is the row of units below the head. A row with
// too few fields is counted, but what it has is taken.
void MetricTable::AddWide(const Row& row) {
  if (Get(row, "Kernel Name").empty() && Get(row, "ID").empty()) {  // the row of units
    units_ = row;
    return;
  }
  if (!TakeLaunch(row, "")) return void(++contradictory_);
  contradictory_ += row.size() != head_.size();
  for (size_t i = 0; i < row.size() && i < head_.size(); ++i)
    if (!IsAbout(head_[i]))
      AddValue(head_[i], row[i], i < units_.size() ? std::string_view(units_[i]) : std::string_view());
}

// Adds one metric of a launch, or what a rule says about it, or both.
void MetricTable::AddLong(const Row& row) {
  const std::string_view printed = Get(row, "Metric Name"), rule = Get(row, "Rule Name");
  const std::string metric = printed.empty() ? StrCat("rule:", rule) : MetricOf(Get(row, "Section Name"), printed);
  if (!TakeLaunch(row, metric)) return void(++contradictory_);
  // --print-summary has three values instead of one.
  const std::string_view value = Get(row, column_.contains("Metric Value") ? "Metric Value" : "Average");
  if (!printed.empty()) {
    AddValue(metric, value, Get(row, "Metric Unit"));
    if (const std::string_view section = Get(row, "Section Name"); !section.empty()) sections_.emplace(section);
  }
  if (rule.empty()) return;
  const double speedup = ParseValue(Get(row, "Estimated Speedup"), style_);
  Add(StrCat("rule:", rule), speedup, Get(row, "Rule Description"), std::isnan(speedup) ? "" : "%");
}

// Caches units, which are few, while values are many.
const BaseUnit& MetricTable::BaseOf(std::string_view unit) {
  auto known = bases_.find(unit);
  if (known == bases_.end()) known = bases_.emplace(std::string(unit), ToBaseUnit(unit)).first;
  return known->second;
}

void MetricTable::Finish() {
  if (!sections_.empty())
    builder_.AddEnvironment("ncu.sections", Join(std::vector<std::string>(sections_.begin(), sections_.end()), ", "));
  builder_.info().event_count = metrics_;
  builder_.Count("absent_values", Severity::kInfo, absent_, kAbsent, "metrics without a value were left out");
  builder_.Count("other_lines", Severity::kInfo, other_lines_, kAbsent,
                 "lines in or behind the table that the program printed were left out");
  builder_.Count("contradictory_rows", Severity::kLoss, contradictory_, kAbsent,
                 "rows that name no launch, or have another number of fields than the header");
  if (csv_.cut())
    builder_.Count("truncated_input", Severity::kError, 1, kAbsent,
                   "the file ends in the middle; the rows before are all there");
}

}  // namespace gapless::internal::ncu
