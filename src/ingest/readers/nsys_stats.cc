// SPDX-License-Identifier: Apache-2.0
// Tables that nsys stats writes of a recording of Nsight Systems, as CSV or as text, and what nsys profile --stats=true
// prints at its end, also in a log. docs/formats/nsys_stats.md describes what is read.
//
// Reports that list events with their times become rows as those of the recording; sums are a summary without a
// timeline. nsys writes a file for each report: the files of one recording are read together (nsys_stats/names.h).
#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys_stats/names.h"
#include "ingest/readers/nsys_stats/summary.h"
#include "ingest/readers/nsys_stats/trace_rows.h"

namespace gapless::internal::nsys_stats_reader {
namespace {

using nsys_stats::Form;
using nsys_stats::Table;

constexpr std::string_view kExtensions[] = {
    "_cuda_gpu_trace.csv",         "_cuda_gpu_trace_base.csv", "_gputrace.csv",           "_cuda_kern_exec_trace.csv",
    "_cuda_api_trace.csv",         "_cudaapitrace.csv",        "_nvtx_pushpop_trace.csv", "_cuda_gpu_kern_sum.csv",
    "_cuda_gpu_kern_sum_base.csv", "_gpukernsum.csv",          "_cuda_api_sum.csv",       "_cudaapisum.csv",
    "_cuda_gpu_mem_time_sum.csv",  "_gpumemtimesum.csv",       "_cuda_gpu_sum.csv",       "_cuda_gpu_kern_gb_sum.csv"};

// A log may print other things first.
Sniff SniffHead(std::string_view head) {
  if (head.starts_with("{") || head.starts_with("[{")) return Sniff::kNo;
  return nsys_stats::HasReports(head) ? Sniff::kYes : Sniff::kNo;
}

// All that was read of the files of a recording.
struct Parts {
  explicit Parts(TraceBuilder& builder) : summary(builder), trace(builder) {}
  nsys_stats::Summary summary;
  nsys_stats::TraceRows trace;
  int64_t left_out = 0, cut = 0, tables = 0;
};

bool ListsEvents(const Table& table) {
  return table.form == Form::kGpuTrace || table.form == Form::kApiTrace || table.form == Form::kExecTrace ||
         table.form == Form::kRangeTrace;
}

void Take(const std::vector<Table>& tables, bool events, Parts& parts) {
  for (const Table& table : tables) {
    ++parts.tables;
    parts.cut += table.cut ? 1 : 0;
    parts.left_out += table.form == Form::kLeftOut ? 1 : 0;
    if (events && ListsEvents(table)) parts.trace.Add(table);
    if (!events && !ListsEvents(table)) parts.summary.Add(table);
  }
}

void TakeBeside(const std::string& path, bool events, TraceBuilder& builder, Parts& parts) {
  std::error_code error;
  for (const std::string& other : nsys_stats::ReadWith(path)) {
    if (!std::filesystem::is_regular_file(other, error)) continue;
    const auto source = OpenFile(other);
    const auto text = source ? ReadAll(**source) : Result<std::string>(Unexpected{source.error()});
    if (text)
      Take(nsys_stats::TablesIn(*text), events, parts);
    else
      builder.Count("tables_beside", Severity::kLoss, 1, kAbsent,
                    StrCat("a report beside this one cannot be read: ", text.error().message));
  }
}

void CountAll(const Parts& parts, int64_t size, TraceBuilder& builder) {
  builder.Count("bad_rows", Severity::kLoss, parts.summary.bad_rows(), kAbsent,
                "rows without times or calls were left out");
  builder.Count("other_tables", Severity::kInfo, parts.summary.others() + parts.trace.others(), kAbsent,
                "reports behind the first of their kind were left out: they are of other runs, or the same again");
  builder.Count(
      "tables_left_out", Severity::kInfo, parts.left_out, kAbsent,
      "reports that are not read: calls of the system, sums of NVTX ranges, sizes of copies, events without times");
  builder.Count("truncated_input", Severity::kError, parts.cut, size,
                "a report ends in the middle; the rows before are all there");
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string text, ReadAll(source));
  const std::vector<Table> tables = nsys_stats::TablesIn(text);
  const bool events = std::ranges::any_of(tables, [](const Table& t) { return ListsEvents(t) && !t.rows.empty(); });
  Parts parts(builder);
  Take(tables, events, parts);
  TakeBeside(source.path(), events, builder, parts);
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  const int64_t rows = events ? parts.trace.rows() : parts.summary.rows();
  if (rows == 0)
    return Fail(ErrorCode::kInput, "reports of Nsight Systems without a kernel, a copy or a call of CUDA",
                source.path(),
                "record them: nsys profile --trace=cuda,nvtx -o report -- ./program, and give report.nsys-rep");
  if (events) parts.trace.Finish(builder);
  if (events) builder.info().format = "nsys";  // the rows mean what those of a recording mean
  if (!events) builder.AddEnvironment("summary", "nsys");
  builder.info().event_count = std::max(builder.info().event_count, rows);
  CountAll(parts, static_cast<int64_t>(text.size()), builder);
  return {};
}

}  // namespace

READER(nsys_stats) = {.name = "nsys_stats",
                      .help = "Reports of Nsight Systems: nsys stats, nsys profile --stats=true",
                      .extensions = kExtensions,
                      .sniff = SniffHead,
                      .read = Read,
                      .complete = nsys::CompleteTrace,
                      .ends_logs = true};

}  // namespace gapless::internal::nsys_stats_reader
