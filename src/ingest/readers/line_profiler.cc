// SPDX-License-Identifier: Apache-2.0
// Reads what line_profiler measured: the file of kernprof -l (.lprof) and the table that it prints. Each line becomes a
// row of host_function with its hits and time; each function one with the sum of its lines.
//
// The file is a pickle of one object, LineStats, which holds a dictionary and a number: it is read as these, and
// nothing is imported (ingest/pickle.h). Times of a line contain what it calls, so a function has a total and no own
// time.
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "ingest/pickle.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::line_profiler_reader {
namespace {

constexpr std::string_view kExtensions[] = {".lprof"};
constexpr std::string_view kHint = "kernprof -l train.py; python -m line_profiler train.py.lprof > lines.txt";
constexpr std::string_view kObjects[] = {"line_profiler.line_profiler.LineStats",
                                         "line_profiler._line_profiler.LineStats", "_line_profiler.LineStats",
                                         "line_profiler.LineStats"};
constexpr std::string_view kTable = "Line #      Hits         Time", kTotal = "Total time: ", kUnit = "Timer unit: ";
constexpr double kMaxNs = 1e18;

Sniff SniffHead(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (Pickle::LooksLikeOne(head)) return has("LineStats") && has("timings") ? Sniff::kYes : Sniff::kNo;
  if (head.find('\0') != head.npos) return Sniff::kNo;
  return has("Timer unit: ") && has("Line #") && has("Per Hit") ? Sniff::kYes : Sniff::kNo;
}

class Rows {
 public:
  explicit Rows(TraceBuilder& builder) : builder_(builder) {}

  void Begin(std::string_view file, std::string_view function, int64_t line) {
    End();
    open_ = true, file_ = file, function_ = function, begin_ = line, sum_ns_ = 0;
  }
  void Add(int64_t line, int64_t hits, double ns) {
    if (!(ns >= 0 && ns < kMaxNs) || line < 0 || hits < 0) return Bad();
    ++lines_, sum_ns_ += std::llround(ns);
    builder_.AddHostFunction({.file = file_, .line = line, .calls = hits, .self_ns = std::llround(ns)});
  }
  void Bad() { builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "an entry that is no line with a time"); }
  void End() {
    if (open_) builder_.AddHostFunction({.file = file_, .line = begin_, .function = function_, .total_ns = sum_ns_});
    open_ = false;
  }
  int64_t lines() const { return lines_; }

 private:
  TraceBuilder& builder_;
  bool open_ = false;
  std::string file_, function_;
  int64_t begin_ = kAbsent, sum_ns_ = 0, lines_ = 0;
};

double RealOf(PickleValue value) {
  if (value.kind == PickleValue::Kind::kReal) return value.real();
  return value.kind == PickleValue::Kind::kInt ? static_cast<double>(value.integer) : std::nan("");
}

// {(file, line, function): [(line, hits, time), …]}
Result<void> ReadPickle(Source& source, const ReadContext& context, Rows& rows) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  auto read = Pickle::Read(*stream, {}, context.cancel, kObjects);
  if (!read) {
    Error error = read.error();
    error.place = source.path(), error.hint = kHint;
    return Unexpected{std::move(error)};
  }
  const double unit = RealOf(read->Get(read->root(), "unit"));
  const auto timings = read->Items(read->Get(read->root(), "timings"));
  for (size_t i = 0; i + 1 < timings.size(); i += 2) {
    const auto key = read->Items(timings[i]);
    if (key.size() != 3) {
      rows.Bad();
      continue;
    }
    const auto is_whole = [](PickleValue value) { return value.kind == PickleValue::Kind::kInt; };
    rows.Begin(read->Text(key[0]), read->Text(key[2]), is_whole(key[1]) ? key[1].integer : kAbsent);
    for (const PickleValue& entry : read->Items(timings[i + 1])) {
      const auto line = read->Items(entry);
      if (line.size() == 3 && is_whole(line[0]) && is_whole(line[1]))
        rows.Add(line[0].integer, line[1].integer, RealOf(line[2]) * unit * 1e9);
      else
        rows.Bad();
    }
  }
  rows.End();
  return {};
}

double NumberAt(std::string_view text) {
  const size_t from = std::min(text.find_first_not_of(' '), text.size());
  double value = 0;
  return std::from_chars(text.data() + from, text.data() + text.size(), value).ec == std::errc() ? value : std::nan("");
}

// The printed table: "    11     30000      41249.3      1.4      0.9  row = …". A line that never ran has no numbers.
class Table {
 public:
  explicit Table(Rows& rows) : rows_(rows) {}

  void Take(std::string_view line) {
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const size_t at = line.find(kUnit); at != line.npos) unit_ns_ = NumberAt(line.substr(at + kUnit.size())) * 1e9;
    if (line.starts_with("File: ")) file_ = line.substr(6), in_table_ = false;
    if (line.starts_with("Function: ")) TakeFunction(line.substr(10));
    if (line.starts_with("Line #")) return void(in_table_ = true);
    if (line.empty() || line.starts_with("Total time:")) in_table_ = false;
    if (in_table_) TakeLine(line);
  }

 private:
  void TakeFunction(std::string_view text) {
    const size_t at = text.rfind(" at line ");
    const double begin = at == text.npos ? std::nan("") : NumberAt(text.substr(at + 9));
    rows_.Begin(file_, text.substr(0, at), begin >= 0 && begin < 1e9 ? static_cast<int64_t>(begin) : kAbsent);
  }
  void TakeLine(std::string_view line) {
    constexpr size_t kColumns = 3;
    double values[kColumns];
    size_t at = 0, from = 0;
    for (; at < kColumns; ++at) {
      from = std::min(line.find_first_not_of(' ', from), line.size());
      const size_t end = std::min(line.find(' ', from), line.size());
      const auto [stop, error] = std::from_chars(line.data() + from, line.data() + end, values[at]);
      if (end == from || error != std::errc() || stop != line.data() + end) break;
      from = end;
    }
    // Source code begins behind the columns, so a number in it is none of the line's.
    constexpr size_t kWidth = 32;
    if (at < kColumns || from > kWidth + 16 || !(values[0] < 1e9) || !(values[1] < 1e18)) return;
    rows_.Add(static_cast<int64_t>(values[0]), static_cast<int64_t>(values[1]), values[2] * unit_ns_);
  }

  Rows& rows_;
  std::string file_;
  double unit_ns_ = 1000;
  bool in_table_ = false;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  Rows rows(builder);
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  if (Pickle::LooksLikeOne(text)) {
    GAPLESS_TRY(ReadPickle(source, context, rows));
  } else {
    Table table(rows);
    for (const std::string_view line : Split(text, '\n')) table.Take(line);
    rows.End();
  }
  if (rows.lines() == 0)
    return Fail(ErrorCode::kInput, "the profile of line_profiler holds no line that ran", source.path(),
                std::string(kHint));
  builder.info().event_count = rows.lines();
  builder.AddEnvironment("python.profile", "lines");
  builder.AddEnvironment("python.profiler", "line_profiler");
  return {};
}

}  // namespace

READER(line_profiler) = {.name = "line_profiler",
                         .help = "Lines of Python by time, as line_profiler measured them: .lprof or its printed table",
                         .extensions = kExtensions,
                         .sniff = SniffHead,
                         .read = Read,
                         .complete = nullptr};

}  // namespace gapless::internal::line_profiler_reader
