// SPDX-License-Identifier: Apache-2.0
// Tables of ROCm's profilers: rocprofv3 --output-format csv, results.csv of the older rocprof, pmc_perf.csv of
// rocprof-compute (omniperf), and all their summaries. docs/formats/rocm.md describes what is read.
//
// rocprofv3 writes a table of its own for kernels, copies, calls, … with one beginning of the name. They are one
// recording: the table of kernels is read with those beside it (ingest/input_paths.cc leaves these out then).
#include <filesystem>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/rocprof_csv/table.h"

namespace gapless::internal::rocprof_csv_reader {
namespace {

using rocm::Form;

// Endings that files are looked for by in folders; what a file is decides its head.
constexpr std::string_view kExtensions[] = {
    "_kernel_trace.csv",  "_counter_collection.csv", "_memory_copy_trace.csv", "_hip_api_trace.csv",
    "_hsa_api_trace.csv", "_marker_api_trace.csv",   "_kernel_stats.csv",      "_hip_api_stats.csv",
    "_domain_stats.csv",  "/pmc_perf.csv",           "/results.csv",           "/results.stats.csv"};
constexpr std::string_view kMain = "_kernel_trace.csv";
constexpr std::string_view kBeside[] = {
    "_agent_info.csv",        "_hip_api_trace.csv",     "_hsa_api_trace.csv",           "_marker_api_trace.csv",
    "_rccl_api_trace.csv",    "_memory_copy_trace.csv", "_memory_allocation_trace.csv", "_scratch_memory_trace.csv",
    "_counter_collection.csv"};
constexpr size_t kLongestHead = size_t{64} * 1024;

Sniff SniffHead(std::string_view head) {
  const std::string_view line = head.substr(0, std::min(head.find('\n'), kLongestHead));
  if (line.find(',') == line.npos) return Sniff::kNo;
  return rocm::FormOf(line) == Form::kNone ? Sniff::kNo : Sniff::kYes;
}

// Returns the tables beside the one of kernels, the agents first.
std::vector<std::string> PathsBeside(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  if (!path.ends_with(kMain)) return found;
  const std::string stem = path.substr(0, path.size() - kMain.size());
  for (const std::string_view ending : kBeside)
    if (const std::string other = StrCat(stem, ending); std::filesystem::is_regular_file(other, error))
      found.push_back(other);
  return found;
}

// A table of calls alone names no GPU; the agents beside it name those of its machine, which is not read then.
Result<void> ReadBeside(const std::string& path, rocm::Gpus& gpus, const ReadContext& context, TraceBuilder& builder,
                        rocm::Meaning& meaning) {
  GAPLESS_ASSIGN(const auto source, OpenFile(path));
  GAPLESS_ASSIGN(const std::string text, ReadAll(*source));
  if (SniffHead(std::string_view(text).substr(0, kLongestHead)) != Sniff::kYes) {
    builder.Count("tables_beside", Severity::kInfo, 1, kAbsent,
                  "tables beside this one were left out: they are none of rocprofv3");
    return {};
  }
  rocm::ReadTable(text, gpus, context, builder, meaning);
  return {};
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  rocm::Gpus gpus;
  rocm::Meaning meaning(builder, builder.NewShard());
  meaning.BeginProcess();
  for (const std::string& path : PathsBeside(source.path()))
    if (const auto read = ReadBeside(path, gpus, context, builder, meaning); !read)
      builder.Count("tables_beside", Severity::kLoss, 1, kAbsent,
                    StrCat("a table beside this one cannot be read: ", read.error().message));
  if (rocm::FormOf(text) == Form::kSummary) builder.AddEnvironment("summary", "rocprof");
  const int64_t rows = rocm::ReadTable(text, gpus, context, builder, meaning);
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  if (rows <= 0)
    return Fail(ErrorCode::kInput, "a table of ROCm's profiler without rows", source.path(),
                "write it again: rocprofv3 --sys-trace --output-format csv -- ./program");
  meaning.Finish();
  builder.info().event_count = std::max(builder.info().event_count, rows);
  builder.info().framework = "rocprof";
  return {};
}

}  // namespace

READER(rocprof_csv) = {.name = "rocprof_csv",
                       .help = "Tables of ROCm's profilers: rocprofv3, rocprof, rocprof-compute (omniperf)",
                       .extensions = kExtensions,
                       .sniff = SniffHead,
                       .read = Read,
                       .complete = rocm::CompleteTrace};

}  // namespace gapless::internal::rocprof_csv_reader
