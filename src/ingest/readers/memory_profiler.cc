// SPDX-License-Identifier: Apache-2.0
// Reads what memory_profiler measured: the file of mprof (memory of a process and its children over time) and the table
// that @profile prints (memory by line).
//
// MEM and CHLD lines become counters of bytes; FUNC lines, one per call, functions with calls and total time. Of a
// table the increments become lines with bytes: what the memory grew by while they ran, over all their runs.
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"

namespace gapless::internal::memory_profiler_reader {
namespace {

constexpr std::string_view kExtensions[] = {".mprof.dat", "mprofile.dat"};
constexpr std::string_view kHint = "mprof run -o memory.dat python train.py writes one";
constexpr double kMib = 1024.0 * 1024.0, kMaxMib = 1e9, kMaxSeconds = 9e9;

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' '))
    if (!word.empty() && word != "\r") words.push_back(word.ends_with('\r') ? word.substr(0, word.size() - 1) : word);
  return words;
}

double RealOf(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && !word.empty() ? value : kNan;
}

bool IsMib(double value) { return std::abs(value) < kMaxMib; }
bool IsTime(double value) { return value >= 0 && value < kMaxSeconds; }

Sniff SniffHead(std::string_view head) {
  if (head.find('\0') != head.npos) return Sniff::kNo;
  if (head.find("Line #") != head.npos && head.find("Mem usage    Increment") != head.npos) return Sniff::kYes;
  const std::string_view line = head.substr(0, head.find('\n'));
  const std::vector<std::string_view> words = WordsOf(line);
  if (words.size() >= 3 && words[0] == "MEM") return IsTime(RealOf(words[2])) ? Sniff::kYes : Sniff::kNo;
  if (words.size() >= 6 && words[0] == "FUNC") return IsTime(RealOf(words[5])) ? Sniff::kYes : Sniff::kNo;
  return words.size() >= 2 && words[0] == "CMDLINE" &&
                 (head.find("\nMEM ") != head.npos || head.find("\nFUNC ") != head.npos)
             ? Sniff::kYes
             : Sniff::kNo;
}

class Lines {
 public:
  explicit Lines(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void Take(std::string_view line) {
    if (line.find("Line #") != line.npos && line.find("Mem usage") != line.npos) return void(in_table_ = true);
    if (line.starts_with("Filename: ")) return void(file_ = Printable(line.substr(10)));
    if (in_table_) return TakeLine(line);
    const std::vector<std::string_view> words = WordsOf(line);
    if (words.empty() || words[0] == "CMDLINE") return;
    if (words[0] == "MEM" && words.size() >= 3) return TakeMemory("host memory", words[1], words[2]);
    if (words[0] == "CHLD" && words.size() >= 4)
      return TakeMemory(StrCat("host memory of child ", Printable(words[1])), words[2], words[3]);
    if (words[0] == "FUNC" && words.size() >= 6) return TakeCall(words);
    Bad();
  }

  void Finish() {
    for (const auto& [name, sums] : functions_)
      builder_.AddHostFunction({.file = "", .function = name, .calls = sums.first, .total_ns = sums.second});
  }
  int64_t rows() const { return rows_; }
  int64_t samples() const { return samples_; }

 private:
  void Bad() { builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "a line that is no measurement"); }

  void TakeMemory(std::string_view name, std::string_view mib, std::string_view seconds) {
    const double value = RealOf(mib), at = RealOf(seconds);
    if (!IsMib(value) || !IsTime(at)) return Bad();
    ++rows_, ++samples_;
    shard_.Add(CounterRow{.name = shard_.Text(name),
                          .unit = shard_.Text("bytes"),
                          .ts_ns = std::llround(at * 1e4) * 100'000,
                          .value = value * kMib});
  }
  // FUNC name, memory and time at its beginning, memory and time at its end.
  void TakeCall(const std::vector<std::string_view>& words) {
    const double from = RealOf(words[3]), to = RealOf(words[5]);
    if (!IsTime(from) || !IsTime(to) || to < from) return Bad();
    ++rows_;
    auto& [calls, total_ns] = functions_[std::string(words[1])];
    ++calls, total_ns += std::llround((to - from) * 1e9);
  }
  // "    13     48.8 MiB      7.8 MiB           1       a = [1]". A line that never ran has a number alone.
  void TakeLine(std::string_view line) {
    const std::vector<std::string_view> words = WordsOf(line);
    if (words.empty()) return;
    const double number = RealOf(words[0]);
    if (words.size() < 5 || !(number >= 0 && number < 1e9) || words[2] != "MiB" || words[4] != "MiB") return;
    if (!IsMib(RealOf(words[3]))) return Bad();
    ++rows_;
    const double runs = words.size() > 5 ? RealOf(words[5]) : kNan;
    HostFunctionRow row{.file = file_, .line = static_cast<int64_t>(number)};
    row.bytes = std::llround(RealOf(words[3]) * kMib);
    if (has_runs_ && runs >= 0 && runs < 1e15) row.calls = static_cast<int64_t>(runs);
    builder_.AddHostFunction(row);
  }

 public:
  // Older tables have no column of occurrences; the first number of the code is none.
  void TakeHead(std::string_view line) { has_runs_ = line.find("Occur") != line.npos; }

 private:
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::string file_;
  bool in_table_ = false, has_runs_ = false;
  std::map<std::string, std::pair<int64_t, int64_t>> functions_;
  int64_t rows_ = 0, samples_ = 0;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  Lines lines(builder);
  for (const std::string_view line : Split(text, '\n')) {
    if (line.find("Mem usage") != line.npos) lines.TakeHead(line);
    lines.Take(line);
  }
  if (lines.rows() == 0)
    return Fail(ErrorCode::kInput, "the file of memory_profiler holds no measurement", source.path(),
                std::string(kHint));
  lines.Finish();
  builder.info().event_count = lines.rows();
  builder.AddEnvironment("python.profile", "memory_profiler");
  return {};
}

void Complete(Trace& trace) {
  if (trace.counters.size() > 0) trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(memory_profiler) = {.name = "memory_profiler",
                           .help = "Memory of a Python program over time (mprof) or by line (memory_profiler)",
                           .extensions = kExtensions,
                           .sniff = SniffHead,
                           .read = Read,
                           .complete = Complete};

}  // namespace gapless::internal::memory_profiler_reader
