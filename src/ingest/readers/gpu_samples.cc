// SPDX-License-Identifier: Apache-2.0
// Reads samples of GPUs that people's own tools took. Each form has a file in gpu_samples/: tables (CSV of nvidia-smi,
// amd-smi, rocm-smi, W&B, nvitop, Zeus; dmon, pmon, dcgmi), reports (nvidia-smi, nvidia-smi -q as text and XML,
// rocm-smi), metrics of Prometheus, and JSON.
//
// Every number becomes a row of `counter` under the name that our own telemetry gives it
// (docs/formats/telemetry.md), so analyses read all of them alike. nvidia-smi prints local times: they are read in
// the time zone of this machine. Without times a row of a device is a second after the one before, which is the
// default interval of these tools; trace/run.cc then lets the samples begin with the recording.
//
// A line is a head if it names columns that are known, so a table may follow other output, and a file may hold several
// forms one after the other. The file is read into memory, up to 256 MiB; what lies behind is not read.
#include "base/strings.h"
#include "ingest/dead_counters.h"
#include "ingest/reader.h"
#include "ingest/readers/gpu_samples/json_forms.h"
#include "ingest/readers/gpu_samples/prometheus.h"
#include "ingest/readers/gpu_samples/report_text.h"
#include "ingest/readers/gpu_samples/tables.h"
#include "ingest/readers/nsys_stats/tables.h"
#include "ingest/whole_text.h"
#include "trace/formats.h"

namespace gapless::internal::gpu_samples_reader {
namespace {

using gpu_samples::Form;
using gpu_samples::FormOf;
using gpu_samples::SampleSink;

constexpr std::string_view kExtensions[] = {".gpu.csv", "nvidia-smi.csv", "nvidia_smi.csv", "gpu_usage.csv", ".dmon",
                                            "dmon.txt", "dmon.log",       "dcgm.txt",       "dcgm.log"};
// Bytes of text that are read at most.

// Windows' shells write UTF-16: what is no ASCII in it becomes "?". A mark at the begin of UTF-8 is dropped.
std::string Decoded(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) return std::string(text.substr(3));
  const bool big = text.starts_with("\xFE\xFF");
  if (!big && !text.starts_with("\xFF\xFE")) return std::string(text);
  std::string plain;
  for (size_t at = 2; at + 1 < text.size(); at += 2) {
    const char low = text[at + (big ? 1 : 0)], high = text[at + (big ? 0 : 1)];
    plain += high == 0 && static_cast<unsigned char>(low) < 128 ? low : '?';
  }
  return plain;
}

Sniff SniffHead(std::string_view raw) {
  const std::string head = Decoded(raw);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return Sniff::kNo;
  if (head[first] == '{' || head[first] == '[') return gpu_samples::HasJsonSamples(head) ? Sniff::kYes : Sniff::kNo;
  if (head[first] == '<') return head.find("<nvidia_smi_log>") != head.npos ? Sniff::kYes : Sniff::kNo;
  // Logs of batch jobs often begin with nvidia-smi, before what the job itself prints.
  if (nsys_stats::HasReports(head)) return Sniff::kMaybe;
  if (gpu_samples::HasReport(head) || gpu_samples::HasMetrics(head)) return Sniff::kYes;
  constexpr size_t kMaxLines = 40;  // maximum number of lines of a log before the table
  size_t lines = 0;
  for (std::string_view line : Split(head, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (FormOf(line) != Form::kNone) return Sniff::kYes;
    if (++lines == kMaxLines) break;
  }
  // A log of several commands, with their help before what they say.
  return head.find("NVIDIA-SMI version") != head.npos ? Sniff::kMaybe : Sniff::kNo;
}

// Gives each line to the form that it belongs to.
void ReadLines(std::string_view text, SampleSink& sink) {
  gpu_samples::ReportLines reports(sink);
  gpu_samples::MetricLines metrics(sink);
  gpu_samples::TableLines tables(sink);
  for (std::string_view line : Split(text, '\n')) {
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (FormOf(line) == Form::kNone && (reports.TakeLine(line) || metrics.TakeLine(line))) continue;
    tables.TakeLine(line);
  }
  tables.Leave();
  reports.End();
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(std::string text, ReadWholeText(source, builder, context, "all behind that"));
  text = Decoded(text);
  SampleSink sink(builder);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const char start = first == std::string::npos ? '\0' : text[first];
  if (start == '{' || start == '[')
    gpu_samples::ReadJsonSamples(text, sink);
  else if (start == '<')
    gpu_samples::ReadReportXml(text, sink);
  else
    ReadLines(text, sink);
  if (sink.samples() == 0 && sink.contradictory() > 0)
    return Fail(ErrorCode::kInput, "no row of this table can be read: its times or its GPUs are in no form known here",
                source.path(), "write times as nvidia-smi does, 2026/03/01 12:00:00.000, or as seconds since 1970");
  if (sink.samples() == 0)
    return Fail(ErrorCode::kInput, "there is no sample of a GPU in this file", source.path(),
                "nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used --format=csv -l 1");
  sink.Finish();
  return {};
}

// Without a clock the samples have no place in time.
void Complete(Trace& trace) {
  DropDeadCounters(trace);
  for (size_t row = 0; row < trace.read_stats.size(); ++row)
    if (trace.Text(trace.read_stats.kind[row]) == "no_clock") return;
  if (trace.counters.size() > 0) trace.info.start_unix_ns = trace.info.origin_ns;
}

}  // namespace

READER(gpu_samples) = {.name = kGpuSamplesFormat,
                       .help = "GPUs as sampled by nvidia-smi, DCGM, Prometheus, rocm-smi, amd-smi, W&B and others",
                       .extensions = kExtensions,
                       .sniff = SniffHead,
                       .read = Read,
                       .complete = Complete};

}  // namespace gapless::internal::gpu_samples_reader
