// SPDX-License-Identifier: Apache-2.0
// Writes Chrome trace events: the JSON that ui.perfetto.dev and chrome://tracing open, in the words of Kineto, so
// that what reads torch.profiler's files reads these too. docs/formats/chrome.md describes it track by track.
//
// One trace per file reads back as it was. A directory gets one file per trace; several traces in one file are for
// looking at: their numbers of devices, correlations and ranks cannot be distinguished again.
//
// Each table is written from its first to its last row, so events are ordered within a table and not over the
// file; viewers sort them. The time is linear in the rows. What is held besides the run is the layout, the cache
// of texts (a byte per distinct text) and one block of output.
#include <set>

#include "base/strings.h"
#include "convert/writer.h"
#include "convert/writers/chrome/own.h"
#include "convert/writers/chrome/surroundings.h"

namespace gapless::internal::chrome_writer {
namespace {

using chrome::Events;
using chrome::Job;
using chrome::Layout;

constexpr std::string_view kExtensions[] = {".json", ".json.gz", ".json.zst"};

// Returns true if our own tracks are written for this trace: findings exist for the primary traces of the first
// execution only.
bool IsAnnotated(const WriteInput& input, const RunTrace& of) {
  return input.parts.annotations && input.tables != nullptr && input.advice != nullptr && of.role == Role::kPrimary &&
         of.counts();
}

// Writes our own tracks, in a process of their own that viewers show above those of the rank.
bool WriteOwn(const Job& job) {
  chrome::WriteName(job.out, "process_name", {job.places.own_pid, 0},
                    job.of.rank() == kAbsent ? "gapless" : StrCat("gapless (rank ", job.of.rank(), ")"));
  chrome::WriteOrder(job.out, "process_sort_index", {job.places.own_pid, 0}, int64_t{job.of.index} * 1000);
  return WriteSteps(job) && WriteCriticalPath(job) && WriteIdle(job) && WriteBottlenecks(job) &&
         (!job.input.parts.counters || WriteOwnCounters(job));
}

// Writes all rows of one trace. Returns false if the sink takes no more or the user cancelled.
bool WriteTrace(const Job& job, bool of_several, int64_t& next_flow) {
  const WriteParts& parts = job.input.parts;
  chrome::WriteNames(job.of, job.places, of_several, job.out);
  return (!IsAnnotated(job.input, job.of) || WriteOwn(job)) && WriteSlices(job) && WriteGpuOps(job) &&
         WriteGpuAnnotations(job) && WriteSyncs(job) && (!parts.memory || WriteMemoryEvents(job)) &&
         (!parts.counters || WriteCounters(job)) && (!parts.flows || WriteFlows(job, next_flow));
}

struct Progress {
  int64_t rows_done = 0, rows_total = 0;
};

// Writes the traces `first` to `last` of the input into one file.
Result<void> WriteFileOf(const WriteInput& input, size_t first, size_t last, Sink& sink, Progress& progress,
                         Written& written) {
  const std::span traces = std::span(input.traces).subspan(first, last - first);
  const Layout layout = chrome::MakeLayout(traces);
  Events out(sink);
  chrome::WriteHead(traces, layout, !input.windows.has_value(), out);
  int64_t next_flow = 0;
  bool going = true;
  for (size_t i = 0; going && i < traces.size(); ++i) {
    chrome::TextCache texts(traces[i]->trace->strings);
    out.SetTrace(layout.traces[i].offset_ns, texts);
    const WriteWindows* windows = input.windows ? &(*input.windows)[first + i] : nullptr;
    const Job job{input, *traces[i], layout.traces[i], windows, out, progress.rows_done, progress.rows_total};
    going = WriteTrace(job, traces.size() > 1, next_flow);
  }
  chrome::WriteTail(out);
  out.Flush();
  if (input.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted");
  written.bytes += out.bytes();
  for (const auto& [kind, count] : out.counts()) {
    const auto known = std::ranges::find(written.events, kind, [](const auto& item) { return item.first; });
    if (known == written.events.end())
      written.events.emplace_back(kind, count);
    else
      known->second += count;
  }
  return sink.Finish();
}

// "run/rank3.pt.trace.json.gz" → "rank3.pt.trace.json.gz", whatever the form was; never the same twice.
std::string NameIn(std::string_view path, std::set<std::string>& taken) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view end : {".gz", ".zst", ".json"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  if (name.empty()) name = "trace";
  std::string unique(name);
  for (int again = 2; !taken.insert(unique).second; ++again) unique = StrCat(name, "-", again);
  return unique + ".json.gz";
}

Result<Written> Write(const WriteInput& input, Destination& destination) {
  Written written;
  Progress progress;
  for (const RunTrace* run_trace : input.traces) progress.rows_total += chrome::RowsOf(*run_trace->trace);
  if (!destination.is_folder()) {
    GAPLESS_ASSIGN(auto sink, destination.Open(""));
    GAPLESS_TRY(WriteFileOf(input, 0, input.traces.size(), *sink, progress, written));
    return written;
  }
  std::set<std::string> taken;
  for (size_t i = 0; i < input.traces.size(); ++i) {
    if (input.windows && (*input.windows)[i].empty()) continue;  // none of the chosen steps
    GAPLESS_ASSIGN(auto sink, destination.Open(NameIn(input.traces[i]->trace->info.path, taken)));
    GAPLESS_TRY(WriteFileOf(input, i, i + 1, *sink, progress, written));
  }
  return written;
}

}  // namespace

WRITER(chrome) = {.name = "chrome",
                  .help = "Chrome trace events, for ui.perfetto.dev and chrome://tracing",
                  .extensions = kExtensions,
                  .write = Write};

}  // namespace gapless::internal::chrome_writer
