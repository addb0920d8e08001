// SPDX-License-Identifier: Apache-2.0
// Each version of nsys has its own titles, so a table is what its columns say. Calls of CUDA and of the system have the
// same columns: names tell them apart.
#include "ingest/readers/nsys_stats/tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/strings.h"
#include "ingest/whole_text.h"
#include "trace/ids.h"

namespace gapless::internal::nsys_stats {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kFewestColumns = 3;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == kNone ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void AddTitle(std::string_view title, Table& table) {
  const size_t open = title.find('('), close = title.rfind(')');
  const bool has_unit = open != kNone && close != kNone && close > open;
  std::string plain;
  for (const char c : title.substr(0, has_unit ? open : title.size()))
    if ((Lower(c) >= 'a' && Lower(c) <= 'z') || (c >= '0' && c <= '9')) plain += Lower(c);
  table.titles.push_back(std::move(plain));
  table.units.emplace_back(has_unit ? title.substr(open + 1, close - open - 1) : std::string_view());
}

Form FormOfTitles(const Table& table) {
  const auto has = [&](std::initializer_list<std::string_view> titles) { return table.Has(titles); };
  if (has({"apistart"}) && has({"kernelstart"}) && has({"kernelname"})) return Form::kExecTrace;
  if (has({"start"}) && has({"duration"}) && has({"name"})) {
    if (has({"strm"}) && has({"corrid"})) return Form::kGpuTrace;
    if (has({"result"}) && has({"corrid"})) return Form::kApiTrace;
    if (has({"lvl"}) && has({"end"})) return Form::kRangeTrace;
  }
  if (has({"totaltime"}) && has({"time"})) {
    if (has({"style", "range"})) return Form::kLeftOut;
    if (has({"category"}) && has({"operation"})) return Form::kDevice;
    if (has({"operations", "count"}) && has({"operation", "name"})) return Form::kCopies;
    if (has({"instances"}) && has({"name"})) return Form::kKernels;
    if (has({"numcalls", "calls"}) && has({"name"})) return Form::kCalls;
  }
  return has({"total"}) && has({"operations", "count"}) ? Form::kLeftOut : Form::kNone;
}

bool IsOfCuda(std::string_view name) {
  return (name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z') || name.starts_with("cuda");
}

// Calls of CUDA and of the system have the same columns.
void Settle(Table& table) {
  // In a language that writes numbers with a comma, nsys has printed 0 for starts, or whole seconds: no time is known
  // then.
  const int start = table.form == Form::kGpuTrace || table.form == Form::kApiTrace ? table.PlaceOf({"start"}) : -1;
  const auto has_none = [&](const auto& row) { return !(std::abs(NumberIn(row[static_cast<size_t>(start)])) > 0); };
  if (start >= 0 && 2 * std::ranges::count_if(table.rows, has_none) > static_cast<int64_t>(table.rows.size()))
    table.form = Form::kLeftOut;
  if (table.form != Form::kCalls) return;
  const int name = table.PlaceOf({"name"});
  const auto of_cuda = std::ranges::count_if(
      table.rows, [&](const auto& row) { return IsOfCuda(Trimmed(row[static_cast<size_t>(name)])); });
  if (2 * of_cuda < static_cast<int64_t>(table.rows.size())) table.form = Form::kLeftOut;
}

// "52,0 %" and "43.985.471 ns", as some languages write numbers, become "52.0" and "43985471".
void TakeOverNumbers(Table& table) {
  const auto is_number = [](std::string_view cell) {
    return !cell.empty() && cell.find_first_not_of("0123456789.,") == kNone;
  };
  const bool comma = std::ranges::any_of(table.rows, [&](const auto& row) {
    const size_t at = row[0].find(',');
    return is_number(row[0]) && at != std::string::npos && row[0].find(',', at + 1) == kNone && row[0].size() - at != 4;
  });
  if (!comma) return;
  for (auto& row : table.rows)
    for (std::string& cell : row)
      if (is_number(cell)) std::erase(cell, '.'), std::ranges::replace(cell, ',', '.');
}

// The runs of dashes of a line that holds nothing else; empty: it is none.
std::vector<TextSpan> RunsOf(std::string_view line) {
  std::vector<TextSpan> runs = DashesIn(line);
  if (runs.size() < kFewestColumns) runs.clear();
  return runs;
}

// The last column goes to the end of the line: names may hold characters of several bytes.
std::string_view CellIn(std::string_view line, const std::vector<TextSpan>& runs, size_t column) {
  const TextSpan& span = runs[column];
  if (span.from >= line.size()) return {};
  return Trimmed(column + 1 == runs.size() ? line.substr(span.from) : line.substr(span.from, span.size));
}

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text), lines_(Split(text, '\n')) {}

  std::vector<Table> Run() {
    for (size_t at = 0; at < lines_.size();) {
      const size_t next = TakePrinted(at);
      at = next > at ? next : TakeCsv(at);
    }
    return std::move(found_);
  }

 private:
  // Returns the line behind a printed table that begins here; the same line: there is none.
  size_t TakePrinted(size_t at) {
    if (at + 1 >= lines_.size()) return at;
    const auto runs = RunsOf(lines_[at + 1]);
    if (runs.empty()) return at;
    Table table;
    for (size_t column = 0; column < runs.size(); ++column) AddTitle(CellIn(lines_[at], runs, column), table);
    table.form = FormOfTitles(table);
    size_t row = at + 2;
    for (; row < lines_.size(); ++row) {
      const std::string_view line = lines_[row];
      if (Trimmed(line).empty() || Trimmed(line).starts_with("```")) break;
      std::vector<std::string> cells;
      for (size_t column = 0; column < runs.size(); ++column) cells.emplace_back(CellIn(line, runs, column));
      if (std::isnan(NumberIn(cells[0]))) {
        if (RowsEndAt(line)) break;
        ++table.bad_rows;
        continue;
      }
      table.cut = row + 1 == lines_.size() && cells.back().empty();
      if (!table.cut) table.rows.push_back(std::move(cells));
    }
    TakeOverNumbers(table);
    Keep(std::move(table));
    return row;
  }

  static bool RowsEndAt(std::string_view line) {
    const std::string_view text = Trimmed(line);
    return text.starts_with("[") || text.starts_with("Processing") || text.starts_with("**") ||
           text.ends_with("Statistics:");
  }

  // Returns the line behind the one or, where a table in CSV begins, behind that.
  size_t TakeCsv(size_t at) {
    const std::string_view line = lines_[at];
    if (std::ranges::count(line, ',') + 1 < static_cast<int64_t>(kFewestColumns)) return at + 1;
    CsvReader head(line);
    std::vector<std::string> fields;
    Table table;
    if (!head.Next(fields)) return at + 1;
    for (const std::string& field : fields) AddTitle(Trimmed(field), table);
    table.form = FormOfTitles(table);
    if (table.form == Form::kNone) return at + 1;
    const auto from = static_cast<size_t>(line.data() - text_.data()) + line.size();
    const std::string_view rest = text_.substr(std::min(text_.size(), from + 1));
    CsvReader csv(rest);
    size_t taken = 0;
    while (csv.Next(fields)) {
      if (fields.size() != table.titles.size()) {
        table.cut = csv.offset() >= rest.size() && fields.size() > 1;
        break;
      }
      table.rows.push_back(fields), taken = csv.offset();
    }
    table.cut = table.cut || csv.cut();
    Keep(std::move(table));
    return at + 1 + static_cast<size_t>(std::ranges::count(rest.substr(0, taken), '\n'));
  }

  void Keep(Table table) {
    if (table.form == Form::kNone) return;
    Settle(table);
    found_.push_back(std::move(table));
  }

  std::string_view text_;
  std::vector<std::string_view> lines_;
  std::vector<Table> found_{};
};

}  // namespace

int Table::PlaceOf(std::initializer_list<std::string_view> titles_of_it) const {
  for (const std::string_view title : titles_of_it)
    if (const auto known = std::ranges::find(titles, title); known != titles.end())
      return static_cast<int>(known - titles.begin());
  return -1;
}

bool HasReports(std::string_view text) {
  constexpr std::string_view kSigns[] = {"Total Time (",           "Total Time  ",    "Start (ns),Duration (ns)",
                                         "Start(ns),Duration(ns)", "API Start (ns),", "Start (ns),End (ns)"};
  const auto is_in = [&](std::string_view sign) { return text.find(sign) != kNone; };
  return std::ranges::any_of(kSigns, is_in) && !TablesIn(text).empty();
}

std::vector<Table> TablesIn(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Finder(text).Run();
}

double NsIn(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr Unit kUnits[] = {
      {"", 1},       {"ns", 1},   {"nsec", 1},   {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3},
      {"usec", 1e3}, {"ms", 1e6}, {"msec", 1e6}, {"s", 1e9},  {"sec", 1e9}};
  for (const auto& [name, ns] : kUnits)
    if (unit == name) return ns;
  return 0;
}

double NumberIn(std::string_view text) {
  std::string plain;
  for (const char c : Trimmed(text))
    if (c != ',') plain += c;
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  return error == std::errc() && end == plain.data() + plain.size() && std::isfinite(value) ? value : kNan;
}

}  // namespace gapless::internal::nsys_stats
