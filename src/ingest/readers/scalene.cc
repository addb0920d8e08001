// SPDX-License-Identifier: Apache-2.0
// Reads Scalene's profile (JSON). Shares of a line's time in Python, in native code and in the system become its time,
// of the elapsed time of the run; functions likewise. Memory that a line allocated becomes its bytes, memory over time
// a counter. Shares of the GPU, and what was copied, are facts of the run and not of a line: Scalene samples them.
#include <algorithm>

#include "ingest/reader.h"
#include "ingest/readers/profile_json/document.h"

namespace gapless::internal::scalene_reader {
namespace {

namespace dom = simdjson::dom;
using namespace profile_json;
constexpr std::string_view kExtensions[] = {".scalene.json", "scalene-profile.json"};
constexpr std::string_view kHint =
    "scalene run -o profile.json train.py (before version 2: scalene --json --outfile …)";
constexpr double kMb = 1024.0 * 1024.0, kMaxMb = 1e9;

Sniff SniffHead(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '{') return Sniff::kNo;
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  if (has("\"n_cpu_percent_python\"") || has("\"n_cpu_percent_c\"")) return Sniff::kYes;
  // The stacks that come first may fill the head.
  return has("\"alloc_samples\"") && (has("\"args\"") || has("\"combined_stacks\"")) ? Sniff::kYes : Sniff::kNo;
}

// The time of a line or function, of its three shares; absent: none of them is there.
int64_t TimeOf(const dom::element& entry, double elapsed) {
  double percent = 0;
  bool known = false;
  for (const std::string_view key : {"n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent"})
    if (const double part = RealAt(entry, key); part >= 0 && part <= 100.5) percent += part, known = true;
  return known ? NsOf(percent / 100 * elapsed) : kAbsent;
}

int64_t BytesOf(const dom::element& entry) {
  const double mb = RealAt(entry, "n_malloc_mb");
  return mb >= 0 && mb < kMaxMb ? std::llround(mb * kMb) : kAbsent;
}

class Writer {
 public:
  Writer(TraceBuilder& builder, double elapsed) : builder_(builder), elapsed_(elapsed) {}

  void AddFile(std::string_view file, const dom::element& of) {
    for (const dom::element entry : ArrayAt(of, "functions")) AddRow(file, TextAt(entry, "line"), entry);
    for (const dom::element entry : ArrayAt(of, "lines")) AddRow(file, {}, entry);
  }
  void AddMemory(const dom::element& root) {
    auto& shard = builder_.NewShard();
    for (const dom::element sample : ArrayAt(root, "samples")) {
      double ns = kNan, mb = kNan;
      dom::array pair;
      if (sample.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(ns) != simdjson::SUCCESS ||
          pair.at(1).get(mb) != simdjson::SUCCESS || !(ns >= 0 && ns < 1e18 && mb >= 0 && mb < kMaxMb)) {
        builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "a sample of memory that is none");
        continue;
      }
      shard.Add(CounterRow{.name = shard.Text("host memory"),
                           .unit = shard.Text("bytes"),
                           .ts_ns = std::llround(ns),
                           .value = mb * kMb});
    }
  }
  int64_t rows() const { return rows_; }

 private:
  // Lines without any time or memory are the text of the file.
  void AddRow(std::string_view file, std::string_view function, const dom::element& entry) {
    const int64_t line = IntAt(entry, "lineno"), ns = TimeOf(entry, elapsed_), bytes = BytesOf(entry);
    if (line == kAbsent || (ns == kAbsent && bytes == kAbsent))
      return builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "an entry that is no line with a time");
    if (ns <= 0 && bytes <= 0) return;
    ++rows_;
    HostFunctionRow row{.file = file, .line = line, .function = function, .self_ns = ns};
    row.bytes = bytes;
    builder_.AddHostFunction(row);
  }

  TraceBuilder& builder_;
  double elapsed_;
  int64_t rows_ = 0;
};

void AddFact(std::string_view key, double value, TraceBuilder& builder) {
  if (value >= 0 && value < kMaxMb) builder.AddEnvironment(key, FormatNumber(value, 3));
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  Document document;
  GAPLESS_TRY(Parse(source, "profile of Scalene", kHint, document));
  const double elapsed = RealAt(document.root, "elapsed_time_sec");
  dom::object files;
  if (document.root["files"].get(files) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the profile of Scalene has no files", source.path(), std::string(kHint));
  Writer writer(builder, elapsed);
  for (const auto [file, of] : files) writer.AddFile(file, of);
  writer.AddMemory(document.root);
  if (writer.rows() == 0)
    return Fail(ErrorCode::kInput, "the profile of Scalene holds no line with time or memory", source.path(),
                std::string(kHint));
  AddFact("scalene.elapsed_seconds", elapsed, builder);
  AddFact("scalene.peak_megabytes", RealAt(document.root, "max_footprint_mb"), builder);
  builder.info().event_count = writer.rows();
  builder.AddEnvironment("python.profile", "scalene");
  return {};
}

}  // namespace

READER(scalene) = {.name = "scalene",
                   .help = "Lines of Python by time and memory, as Scalene measured them (JSON)",
                   .extensions = kExtensions,
                   .sniff = SniffHead,
                   .read = Read,
                   .complete = nullptr};

}  // namespace gapless::internal::scalene_reader
