// SPDX-License-Identifier: Apache-2.0
// Plain numbers: one a line, or columns separated by commas, with or without a line of names, or an array of JSON.
// Empty lines and lines that begin with # are left out. The unit of a value is unknown.
//
// A first row without any number is the line of names. A column counts if its first cell is a number, or if it was
// asked for by name or place (from 1). Empty cells are absent; anything else that is not a finite number is an error
// with its row, because a value that is silently dropped would change the median.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/strings.h"
#include "store/result_reader.h"

namespace gapless::internal::plain_resultreader {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<double> NumberOf(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsLeftOut(const std::vector<std::string>& row) {
  return row.empty() || row[0].starts_with('#') || (row.size() == 1 && Trimmed(row[0]).empty());
}

// The first two rows that count; fewer in a shorter text.
std::vector<std::vector<std::string>> FirstRows(std::string_view text) {
  CsvReader csv(text);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  while (rows.size() < 2 && csv.Next(row))
    if (!IsLeftOut(row)) rows.push_back(row);
  return rows;
}

bool HasNumber(const std::vector<std::string>& row) {
  return std::ranges::any_of(row, [](const std::string& cell) { return NumberOf(cell).has_value(); });
}

bool IsNumbers(const JsonValue* json) {
  return json != nullptr && json->is_array() && !json->items().empty() &&
         std::ranges::all_of(json->items(), [](const JsonValue& item) { return item.Number().has_value(); });
}

// Returns true if one of the first two rows has a number. A zero byte in the first 4 KiB means a binary file.
bool Recognises(const ResultInput& input) {
  if (IsNumbers(input.json)) return true;
  if (input.json != nullptr || input.text.substr(0, 4096).find('\0') != std::string_view::npos) return false;
  const auto rows = FirstRows(input.text);
  return (!rows.empty() && HasNumber(rows[0])) || (rows.size() == 2 && HasNumber(rows[1]));
}

struct Column {
  size_t index = 0;
  bool asked_for = false;  // then everything in it is a number
  ResultSeries series;
};

// Returns the columns: the one that was asked for, or those with a number in their first row of values.
Result<std::vector<Column>> ColumnsOf(const ResultInput& input, bool has_names) {
  const auto rows = FirstRows(input.text);
  const std::vector<std::string>& first = rows[has_names ? 1 : 0];
  std::vector<Column> columns;
  size_t place = 0;
  const std::string_view wanted = input.column;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), place);
  const bool by_place = code == std::errc() && end == wanted.data() + wanted.size();
  for (size_t i = 0; i < first.size(); ++i) {
    std::string name(has_names && i < rows[0].size() ? Trimmed(rows[0][i]) : "");
    if (name.empty()) name = first.size() == 1 ? "value" : StrCat("column ", i + 1);
    const bool chosen = !wanted.empty() && (name == wanted || (by_place && i + 1 == place));
    if (wanted.empty() ? NumberOf(first[i]).has_value() : chosen)
      columns.push_back({i, chosen, {.name = name, .unit = {}, .values = {}, .higher_is_better = {}}});
  }
  if (columns.empty())
    return Fail(ErrorCode::kInput, StrCat("there is no column '", Printable(wanted), "'"), std::string(input.path),
                has_names ? "there are: " + Join(rows[0], ", ") : StrCat("there are ", first.size(), " columns"));
  return columns;
}

ResultFile OfJson(const JsonValue& json) {
  ResultFile file;
  ResultSeries& series = file.series.emplace_back();
  series.name = "value";
  for (const JsonValue& item : json.items()) series.values.push_back(*item.Number());
  return file;
}

// Reads all columns in one pass. Rows are counted from 1, those that are left out included.
Result<ResultFile> Read(const ResultInput& input) {
  if (input.json != nullptr) return OfJson(*input.json);
  const bool has_names = !HasNumber(FirstRows(input.text)[0]);
  GAPLESS_ASSIGN(auto columns, ColumnsOf(input, has_names));
  CsvReader csv(input.text);
  std::vector<std::string> row;
  bool skip_names = has_names;
  for (int64_t number = 1; csv.Next(row); ++number) {
    if (IsLeftOut(row)) continue;
    if (skip_names) {
      skip_names = false;
      continue;
    }
    for (Column& column : columns) {
      const std::string_view cell = column.index < row.size() ? Trimmed(row[column.index]) : std::string_view();
      if (cell.empty()) continue;  // absent
      const auto value = NumberOf(cell);
      if (!value || !std::isfinite(*value))
        return Fail(ErrorCode::kInput, StrCat("'", Printable(Ellipsize(cell, 40)), "' is not a number"),
                    StrCat(input.path, ":row ", number));
      column.series.values.push_back(*value);
    }
  }
  ResultFile file;
  for (Column& column : columns) file.series.push_back(std::move(column.series));
  return file;
}

}  // namespace

RESULTREADER(plain) = {
    .name = "plain", .help = "Numbers, one a line, or columns of CSV", .recognises = Recognises, .read = Read};

}  // namespace gapless::internal::plain_resultreader
