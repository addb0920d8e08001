// SPDX-License-Identifier: Apache-2.0
// Tables that PyTorch's profiler prints: prof.key_averages().table(), as text, also in a log or behind "# ".
// docs/formats/op_table.md describes what is read.
//
// The lines of dashes say where the columns are, which names that hold spaces need. A file may hold several tables;
// they may be of one recording, sorted otherwise, so the first is read and the others are counted.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/whole_text.h"

namespace gapless::internal::op_table_reader {
namespace {

constexpr std::string_view kExtensions[] = {".key_averages.txt"};
constexpr std::string_view kHint =
    "print(prof.key_averages().table(row_limit=-1)) writes one; export_chrome_trace more";
constexpr size_t kNone = std::string_view::npos;

enum Column : uint8_t { kName, kSelfCpu, kCpu, kSelfDevice, kDevice, kCalls, kColumns };

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == kNone ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "1.853s", "4.692ms", "29.184us", "12ns", in ns; NaN for anything else.
double NsOf(std::string_view text) {
  double value = 0;
  text = Trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0 || value > 1e12) return kNan;
  const std::string_view unit = Trimmed(text.substr(static_cast<size_t>(end - text.data())));
  if (unit == "s") return value * 1e9;
  if (unit == "ms") return value * 1e6;
  if (unit == "us") return value * 1e3;
  return unit == "ns" ? value : kNan;
}

// The runs of dashes of a line that holds nothing else behind what a comment begins with; empty: it is none.
std::vector<TextSpan> RunsOf(std::string_view line) {
  const size_t first = line.find("-----");
  if (first == kNone || first > 8) return {};
  std::vector<TextSpan> runs = DashesIn(line, first);
  if (runs.size() < 4) runs.clear();
  return runs;
}

std::string_view CellIn(std::string_view line, const TextSpan& span) {
  return span.from < line.size() ? Trimmed(line.substr(span.from, span.size)) : std::string_view();
}

// The titles of a head, which stand two spaces apart: PyTorch writes "CUDA time avg" into a column that is too narrow
// for it, so that titles behind it stand beside their columns.
std::vector<std::string_view> TitlesOf(std::string_view line) {
  std::vector<std::string_view> titles;
  while (!(line = Trimmed(line)).empty()) {
    const size_t end = std::min(line.find("  "), line.size());
    titles.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return titles;
}

// A device is named by its kind: "Self CUDA", "Self XPU", "HPU total". Versions before 1.8 call own times totals.
Column ColumnOf(std::string_view title) {
  if (title == "Name") return kName;
  if (title == "Self CPU" || title == "Self CPU total") return kSelfCpu;
  if (title == "CPU total") return kCpu;
  if (title == "# of Calls" || title == "Number of Calls") return kCalls;
  if (title.find('%') != kNone || title.find("avg") != kNone || title.find("Mem") != kNone) return kColumns;
  if (title.starts_with("Self ")) return kSelfDevice;
  return title.ends_with(" total") ? kDevice : kColumns;
}

struct Row {
  std::string_view name{};
  double self_cpu = kNan, cpu = kNan, self_device = kNan;
  int64_t calls = kAbsent;
  bool IsOfDevice() const { return self_device > 0 && !(self_cpu > 0) && !(cpu > 0); }
};

struct PrintedTable {
  std::vector<Row> rows{};
  std::string_view device{};  // "CUDA"
  double cpu_total = kNan, device_total = kNan;
  int64_t bad_rows = 0, others = 0;
  bool ended = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(Split(text, '\n')) {}

  PrintedTable Run() {
    PrintedTable table;
    for (size_t i = 0; i + 2 < lines_.size(); ++i) {
      const auto runs = RunsOf(lines_[i]);
      if (runs.empty() || RunsOf(lines_[i + 2]).size() != runs.size() || !TakeHead(lines_[i + 1], runs)) continue;
      if (!table.rows.empty()) {
        ++table.others;
        continue;
      }
      i = TakeRows(i + 3, runs, table);
    }
    return table;
  }

 private:
  bool TakeHead(std::string_view line, const std::vector<TextSpan>& runs) {
    std::fill(std::begin(places_), std::end(places_), kNone);
    device_ = {};
    const auto titles = TitlesOf(line.substr(std::min(line.size(), runs[0].from)));
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string_view title = titles.size() == runs.size() ? titles[i] : CellIn(line, runs[i]);
      const Column column = ColumnOf(title);
      if (column == kColumns || places_[column] != kNone) continue;
      places_[column] = i;
      if (column == kSelfDevice) device_ = Trimmed(title.substr(5));
    }
    return places_[kName] != kNone && places_[kCalls] != kNone && (places_[kCpu] != kNone || !device_.empty());
  }

  std::string_view Cell(std::string_view line, const std::vector<TextSpan>& runs, Column column) const {
    return places_[column] == kNone ? std::string_view() : CellIn(line, runs[places_[column]]);
  }

  // Returns the last line that belongs to the table.
  size_t TakeRows(size_t at, const std::vector<TextSpan>& runs, PrintedTable& table) {
    table.device = device_;
    for (; at < lines_.size(); ++at) {
      if (!RunsOf(lines_[at]).empty()) {
        table.ended = true;
        break;
      }
      TakeRow(lines_[at], runs, table);
    }
    for (size_t i = at + 1; i < std::min(at + 4, lines_.size()); ++i) {
      const size_t colon = lines_[i].find(" time total: ");
      if (colon == kNone) continue;
      const double ns = NsOf(lines_[i].substr(colon + 13));
      (lines_[i].find("Self CPU") != kNone ? table.cpu_total : table.device_total) = ns;
    }
    return at;
  }

  // A line without a count continues the stack of the one before.
  void TakeRow(std::string_view line, const std::vector<TextSpan>& runs, PrintedTable& table) {
    Row row{.name = Cell(line, runs, kName)};
    if (row.name.empty() || row.name == "...") return;
    const std::string_view calls = Cell(line, runs, kCalls);
    if (std::from_chars(calls.data(), calls.data() + calls.size(), row.calls).ec != std::errc()) row.calls = kAbsent;
    row.self_cpu = NsOf(Cell(line, runs, kSelfCpu)), row.cpu = NsOf(Cell(line, runs, kCpu));
    row.self_device = NsOf(Cell(line, runs, kSelfDevice));
    if (row.calls <= 0 || (std::isnan(row.self_cpu) && std::isnan(row.cpu) && std::isnan(row.self_device)))
      return void(++table.bad_rows);
    table.rows.push_back(row);
  }

  std::vector<std::string_view> lines_;
  size_t places_[kColumns] = {};
  std::string_view device_{};
};

Sniff SniffHead(std::string_view head) {
  const bool titles =
      (head.find("# of Calls") != kNone || head.find("Number of Calls") != kNone) && head.find("CPU total") != kNone;
  return titles && head.find("----------  ----------") != kNone ? Sniff::kYes : Sniff::kNo;
}

int64_t Whole(double ns) { return std::isnan(ns) ? kAbsent : std::llround(ns); }

// Newer versions have rows of kernels, and their time also as the own time of the operator that launched them; without
// rows of kernels that time stands with the operators alone.
void AddRows(const PrintedTable& table, TraceBuilder& builder) {
  const bool has_kernels = std::ranges::any_of(table.rows, &Row::IsOfDevice);
  int64_t index = 0;
  for (const Row& row : table.rows) {
    if (row.self_cpu > 0 || row.cpu > 0)
      builder.AddHostFunction({.file = "",
                               .function = row.name,
                               .calls = row.calls,
                               .self_ns = Whole(row.self_cpu),
                               .total_ns = Whole(row.cpu)});
    const bool is_step = row.name.starts_with("ProfilerStep");
    if (!(row.self_device > 0) || is_step || (has_kernels && !row.IsOfDevice())) continue;
    const auto add = [&](std::string_view metric, double value, std::string_view unit) {
      builder.AddKernelMetric(
          {.kernel_name = row.name, .launch_index = index, .metric = metric, .value = value, .unit = unit});
    };
    add("summary.calls", static_cast<double>(row.calls), "");
    add("summary.total", row.self_device, "ns");
    add("duration", row.self_device / static_cast<double>(row.calls), "ns");
    ++index;
  }
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  const PrintedTable table = Parser(text).Run();
  if (table.rows.empty())
    return Fail(ErrorCode::kInput, "there is no row of a profiler's table in this text", source.path(),
                std::string(kHint));
  AddRows(table, builder);
  builder.AddEnvironment("summary", "key_averages");
  const auto total = [&](std::string_view key, double ns) {
    if (!std::isnan(ns)) builder.AddEnvironment(key, StrCat(Whole(ns)));
  };
  total("summary.cpu_ns", table.cpu_total), total("summary.device_ns", table.device_total);
  builder.info().event_count = static_cast<int64_t>(table.rows.size());
  builder.info().framework = "pytorch";
  builder.Count("bad_rows", Severity::kLoss, table.bad_rows, kAbsent, "rows without times or calls were left out");
  builder.Count("other_tables", Severity::kInfo, table.others, kAbsent,
                "tables behind the first were left out: they may be of the same recording");
  builder.Count("truncated_input", Severity::kError, table.ended ? 0 : 1, static_cast<int64_t>(text.size()),
                "the table ends without its last line; the rows before are all there");
  return {};
}

}  // namespace

READER(op_table) = {.name = "op_table",
                    .help = "Tables that PyTorch's profiler prints: prof.key_averages().table(), as text",
                    .extensions = kExtensions,
                    .sniff = SniffHead,
                    .read = Read,
                    .complete = nullptr};

}  // namespace gapless::internal::op_table_reader
