// SPDX-License-Identifier: Apache-2.0
// Reads what NCCL, RCCL and their benchmarks print: the output of nccl-tests and rccl-tests, the lines of
// NCCL_DEBUG=INFO or WARN, and both within the output of any program.
//
// Lines of NCCL stand in the middle of rows of a benchmark, since both write to the same output; each line is divided
// into them and the rest first (nccl_log/log_lines.h), and the rest is read as a benchmark's (nccl_log/benchmark.h).
// JSON that nccl-tests writes (-J FILE) is read, too. The file is held in memory, up to 256 MiB.
#include <simdjson.h>

#include <cmath>

#include "base/strings.h"
#include "ingest/names.h"
#include "ingest/reader.h"
#include "ingest/readers/nccl_log/benchmark.h"
#include "ingest/readers/nccl_log/log_lines.h"
#include "ingest/readers/nccl_log/words.h"
#include "ingest/whole_text.h"

namespace gapless::internal::nccl_log_reader {
namespace {

namespace dom = simdjson::dom;
constexpr std::string_view kExtensions[] = {".nccl.log", "nccl.log", "nccl.txt", "nccl_tests.log"};
constexpr std::string_view kHint =
    "all_reduce_perf -b 8 -e 1G -f 2 -g 8 > nccl.log writes one; of a training: NCCL_DEBUG=INFO torchrun … > nccl.log";

bool IsJson(std::string_view text) { return nccl_log::Trimmed(text.substr(0, text.find('\n'))).starts_with('{'); }

Sniff SniffHead(std::string_view head) {
  if (IsJson(head)) {
    const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
    return has("\"nccl_version\"") && (has("\"start_time\"") || has("\"bus_bw\"")) ? Sniff::kYes : Sniff::kNo;
  }
  if (nccl_log::HasLogLine(head)) return Sniff::kYes;
  for (const std::string_view line : Split(head, '\n'))
    if (nccl_log::IsBenchmarkHead(line)) return Sniff::kYes;
  return Sniff::kNo;
}

// The results of `-J FILE`.
class JsonResults {
 public:
  JsonResults(const dom::element& document, TraceBuilder& builder) : builder_(builder) {
    std::string_view program;
    dom::array args, devices;
    if (document["args"].at(0).get(program) == simdjson::SUCCESS)
      program_ = std::string(program.substr(program.find_last_of('/') + 1));
    if (document["config"]["devices"].get(devices) == simdjson::SUCCESS) ranks_ = static_cast<int64_t>(devices.size());
    int64_t version = 0;
    if (document["nccl_version"].get(version) == simdjson::SUCCESS && version > 0)
      builder.AddEnvironment("nccl.version", VersionText(version));
    double average = 0;
    if (document["average_bus_bandwidth"]["bandwidth"].get(average) == simdjson::SUCCESS)
      builder.AddEnvironment("comm.test.0.average_bus_gbps", FormatDigits(average, 6));
  }

  void Take(const dom::element& result) {
    CommBenchmarkRow row{.test = 0, .bytes = 0, .placement = {}, .dur_ns = 0};
    std::string_view root;
    if (result["size"].get(row.bytes) != simdjson::SUCCESS || row.bytes < 0 || row.bytes > (int64_t{1} << 50))
      return void(++bad_);
    if (result["count"].get(row.elements) != simdjson::SUCCESS) row.elements = kAbsent;
    if (result["type"].get(row.dtype) != simdjson::SUCCESS) row.dtype = {};
    if (result["redop"].get(row.redop) != simdjson::SUCCESS) row.redop = {};
    if (result["root"].get(root) == simdjson::SUCCESS)
      if (const auto number = nccl_log::NumberOf<int64_t>(nccl_log::Trimmed(root))) row.root = *number;
    row.program = program_, row.ranks = ranks_;
    const std::string_view kind = CollectiveKind(program_);
    row.kind = kind == "other" ? std::string_view() : kind;
    for (const std::string_view placement : {"out_of_place", "in_place"}) AddBody(result[placement], placement, row);
  }

  int64_t rows() const { return rows_; }
  int64_t bad() const { return bad_; }

 private:
  // 22907 is 2.29.7, 2708 is 2.7.8.
  static std::string VersionText(int64_t version) {
    return version >= 10'000 ? StrCat(version / 10'000, ".", version / 100 % 100, ".", version % 100)
                             : StrCat(version / 1000, ".", version / 100 % 10, ".", version % 100);
  }

  void AddBody(const simdjson::simdjson_result<dom::element>& body, std::string_view placement, CommBenchmarkRow row) {
    double us = 0, wrong = 0;
    if (body["time"].get(us) != simdjson::SUCCESS && body["cpu_time"].get(us) != simdjson::SUCCESS) return;
    if (!(us >= 0) || us > 1e12) return void(++bad_);
    row.placement = placement, row.dur_ns = std::llround(us * 1000);
    if (body["alg_bw"].get(row.algo_gbps) != simdjson::SUCCESS) row.algo_gbps = kNan;
    if (body["bus_bw"].get(row.bus_gbps) != simdjson::SUCCESS) row.bus_gbps = kNan;
    if (body["nwrong"].get(wrong) == simdjson::SUCCESS && wrong >= 0 && wrong < 1e15) row.wrong = std::llround(wrong);
    builder_.Add(row);
    ++rows_;
  }

  TraceBuilder& builder_;
  std::string program_;
  int64_t ranks_ = kAbsent, rows_ = 0, bad_ = 0;
};

Result<void> ReadJson(const std::string& text, Source& source, TraceBuilder& builder) {
  dom::parser parser;
  dom::element document;
  dom::array results;
  if (parser.parse(text).get(document) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the results of nccl-tests are no valid JSON: they were cut off or damaged",
                source.path(), std::string(kHint));
  if (document["results"].get(results) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the file of nccl-tests has no results", source.path(), std::string(kHint));
  JsonResults rows(document, builder);
  for (const dom::element result : results) rows.Take(result);
  builder.Count("bad_record", Severity::kLoss, rows.bad(), kAbsent, "results without a size or a time were left out");
  if (rows.rows() == 0)
    return Fail(ErrorCode::kInput, "the file of nccl-tests has no result with a time", source.path(),
                std::string(kHint));
  builder.info().event_count = rows.rows();
  return {};
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadWholeText(source, builder, context, "all behind that"));
  if (IsJson(text)) return ReadJson(text, source, builder);
  nccl_log::LogLines log(builder);
  nccl_log::BenchmarkText benchmark(builder);
  int64_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (++number % 4096 == 0 && context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    for (const std::string_view piece : log.Take(line, number)) {
      benchmark.Take(piece);
      log.TakeOther(piece, number);
    }
  }
  benchmark.Finish();
  log.Finish();
  if (log.lines() + benchmark.rows() == 0)
    return Fail(ErrorCode::kInput, "the log has no result of a benchmark and no line of NCCL", source.path(),
                std::string(kHint));
  builder.info().event_count = log.lines() + benchmark.rows();
  builder.info().world_size = log.world_size();
  return {};
}

}  // namespace

READER(nccl_log) = {.name = "nccl_log",
                    .help = "Output of nccl-tests and rccl-tests, logs with NCCL_DEBUG=INFO, and both within others",
                    .extensions = kExtensions,
                    .sniff = SniffHead,
                    .read = Read,
                    .complete = nullptr};

}  // namespace gapless::internal::nccl_log_reader
