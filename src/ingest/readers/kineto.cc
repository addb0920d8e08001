// SPDX-License-Identifier: Apache-2.0
// Reads Kineto's JSON, which torch.profiler writes, and Chrome traces like it. docs/formats/kineto.md describes
// what is read.
//
// Threads take turns to fetch a chunk of whole events from the stream (kineto/chunks.h), parse it on their own
// (kineto/parse.h) and append rows to their own shard. What surrounds the events is parsed at the end as one small
// document.
//
// Fetching decompresses, so it is the part that only one thread does at a time. Memory is a chunk per thread
// beside the rows. Chunks are numbered, and the builder orders rows by chunk, so the trace does not depend on
// which thread took which chunk. If a chunk turns out to be cut within an event, all rows are dropped and the file
// is read a second time with exact cutting.
#include <algorithm>
#include <mutex>
#include <optional>

#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/kineto/parse.h"
#include "ingest/readers/kineto/scan.h"
#include "ingest/refine.h"
#include "ingest/steps.h"

namespace gapless::internal::kineto_reader {
namespace {

using kineto::Chunk;
using kineto::ChunkReader;
using kineto::EventParser;
using kineto::EventRows;
using kineto::ExecutionTrace;
using kineto::LaneRecorder;
using kineto::Lanes;
using kineto::Meeting;

constexpr std::string_view kExtensions[] = {".json", ".json.gz", ".json.zst"};
constexpr int64_t kUnixTimeFrom =
    1'000'000'000'000'000'000;  // ns: later than 2001, so a clock that starts at boot is below

// Returns kMaybe for any other JSON: a trace may begin with more than 64 KiB of metadata.
Sniff SniffHead(std::string_view head) {
  const size_t at = head.find_first_not_of(" \n\r\t\xEF\xBB\xBF");
  if (at == std::string_view::npos || (head[at] != '{' && head[at] != '[')) return Sniff::kNo;
  for (const std::string_view sign : {"\"traceEvents\"", "\"deviceProperties\"", "\"ph\""})
    if (head.find(sign) != std::string_view::npos) return Sniff::kYes;
  return Sniff::kMaybe;
}

// A Pass reads the input once with all threads of the pool. Rows are in the builder's shards only when it
// succeeded.
class Pass {
 public:
  // `lanes`: see EventRows.
  Pass(ChunkReader& chunks, TraceBuilder& builder, const ReadContext& context, bool exact, const Lanes* lanes,
       const ExecutionTrace* known)
      : chunks_(chunks), context_(context), exact_(exact) {
    const size_t threads = std::max<size_t>(1, context.pool.size());  // a pool without threads works in the caller
    for (size_t i = 0; i < threads; ++i) rows_.push_back(std::make_unique<EventRows>(builder.NewShard(), lanes, known));
  }

  // False: a chunk was cut at a wrong place.
  bool Run() {
    context_.pool.ParallelFor(rows_.size(), [this](size_t i) { Work(*rows_[i]); });
    return !mis_cut_.load();
  }

  bool truncated() const { return truncated_; }
  uint64_t truncated_at() const { return truncated_at_; }
  const std::string& rest() const { return rest_; }
  const std::vector<std::unique_ptr<EventRows>>& rows() const { return rows_; }

 private:
  // Parses chunks until the input ends, on one thread. Only the thread that gets the last chunk writes the results
  // of the pass. Other threads stop soon after a chunk was cut wrongly.
  void Work(EventRows& rows) {
    EventParser parser(rows, exact_);
    Chunk chunk;
    std::string rest;
    while (!mis_cut_.load(std::memory_order_relaxed) && !context_.cancelled() && chunks_.Next(chunk)) {
      const auto outcome = parser.Parse(chunk, rest);
      if (context_.progress) context_.progress();
      if (outcome == EventParser::Outcome::kMisCut) mis_cut_ = true;
      if (!chunk.last) continue;
      const std::lock_guard lock(mutex_);
      rest_ = std::move(rest);
      truncated_ = outcome == EventParser::Outcome::kTruncated;
      truncated_at_ = chunk.offset + chunk.size;
    }
  }

  ChunkReader& chunks_;
  const ReadContext& context_;
  const bool exact_;
  std::vector<std::unique_ptr<EventRows>> rows_;
  std::atomic<bool> mis_cut_{false};
  std::mutex mutex_;
  std::string rest_;
  bool truncated_ = false;
  uint64_t truncated_at_ = 0;
};

// Adds what is known once all events are read: metadata, names, notes, and how the input ended. A file that ends
// in the middle lacks the metadata behind the events, so the text before them is closed instead.
void DescribeInput(const ChunkReader& chunks, const Pass& pass, TraceBuilder& builder) {
  int64_t base_time_ns = kAbsent;
  std::string_view rest = pass.truncated() || pass.rest().empty() ? std::string_view("}") : pass.rest();
  if (chunks.nested()) rest = rest.substr(0, kineto::ObjectEnd(rest));
  if (!chunks.bare_array() && !kineto::ParseShell(StrCat(chunks.head(), "[]", rest), builder, base_time_ns))
    builder.Count("unreadable_metadata", Severity::kLoss, 1, kAbsent,
                  "what the recorder says around the events is no valid JSON");
  builder.info().start_unix_ns = base_time_ns;  // completed in Complete(), once the first time is known
  bool framework = false, python = false;
  for (const auto& rows : pass.rows()) python |= rows->saw_python();
  for (const auto& rows : pass.rows()) {
    // Any thread may have seen the Python functions, so all threads are asked first.
    if (python) rows->ForgetStackLines();
    rows->Finish(builder);
    builder.info().event_count += rows->events();
    framework |= rows->saw_framework();
    if (!rows->accelerator().empty()) builder.AddEnvironment("accelerator", rows->accelerator());
  }
  if (framework && builder.info().framework.empty()) builder.info().framework = "pytorch";
  if (const Error* error = chunks.stream_error())
    builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(chunks.bytes()),
                  StrCat("reading stopped: ", error->message));
  else if (chunks.overlong())
    builder.Count("overlong_event", Severity::kError, 1, static_cast<int64_t>(chunks.bytes()),
                  "reading stopped: no event ended in hundreds of megabytes");
  else if (pass.truncated() && !chunks.bare_array())
    builder.Count("truncated_input", Severity::kError, 1, static_cast<int64_t>(pass.truncated_at()),
                  "the file ends in the middle; the events before are all there");
}

// Returns the error for an input without any event. A small compressed file can hold spaces without end, which is no
// damage: a copy of it would be the same.
Unexpected NoEvents(const ChunkReader& chunks, const std::string& path) {
  if (chunks.overlong())
    return Fail(ErrorCode::kInput,
                StrCat("this is no profiler trace: no event in ", FormatBytes(kineto::kMaxChunkBytes),
                       " of text, after decompression"),
                path, "give a trace written by torch.profiler (export_chrome_trace)");
  return Fail(ErrorCode::kInput, "no event could be read", path, "the file was cut off or damaged: copy it again");
}

// Returns the error for JSON without a list of events: names the files of other tools that are known.
Unexpected NoTrace(const ChunkReader& chunks, const std::string& path) {
  if (chunks.bytes() == 0)
    return Fail(ErrorCode::kInput, "the file is empty", path,
                "give a trace written by torch.profiler (export_chrome_trace)");
  if (chunks.head().find("\"schema\"") != std::string::npos && chunks.head().find("\"nodes\"") != std::string::npos)
    return Fail(ErrorCode::kInput, "this seems to be an execution trace: a graph of operators, without device times",
                path,
                "it has shapes and no times: record with torch.profiler in the same run, and give what "
                "export_chrome_trace wrote; beside it this one is read, too");
  return Fail(ErrorCode::kInput, "no \"traceEvents\" in it: this is no profiler trace", path,
              "give a trace written by torch.profiler (export_chrome_trace)");
}

// Keys that only recorders of training write around the events.
bool IsOfAProfiler(std::string_view around) {
  for (const std::string_view key :
       {"\"deviceProperties\"", "\"distributedInfo\"", "\"traceName\"", "\"baseTimeNanoseconds\"", "\"gapless"})
    if (around.find(key) != around.npos) return true;
  return false;
}

// A key that others write, too: it speaks for a recorder of training that recorded nothing.
bool MayBeOfAProfiler(std::string_view around) { return around.find("\"schemaVersion\"") != around.npos; }

// Returns an error for a file of another program: no event in it is one of a profiler of training, nor is what
// surrounds them. A profiler that recorded nothing is no other program.
Result<void> RefuseForeign(const ChunkReader& chunks, const Pass& pass, int64_t events, const std::string& path) {
  if (IsOfAProfiler(chunks.head()) || IsOfAProfiler(pass.rest())) return {};
  kineto::ForeignSigns signs;
  bool has_phase = false;
  signs.SeeText(chunks.head());
  signs.SeeText(pass.rest());
  for (const auto& rows : pass.rows()) {
    if (rows->saw_known() || rows->saw_framework()) return {};
    signs.Add(rows->signs());
    has_phase |= rows->saw_phase();
  }
  const std::string categories = signs.Categories();
  if (categories.empty() && (MayBeOfAProfiler(chunks.head()) || MayBeOfAProfiler(pass.rest()))) return {};
  if (events == 0)
    return Fail(ErrorCode::kInput, "the file holds no event", path, "`gapless formats` lists what can be read");
  if (!has_phase)
    return Fail(ErrorCode::kInput, "this is no trace: nothing in the list has a phase (\"ph\"), as events have", path,
                "`gapless formats` lists what can be read");
  std::string message = signs.Origin().empty()
                            ? "this seems to be the trace of a program that is no profiler of training"
                            : StrCat("this seems to be ", signs.Origin(), ", which cannot be read");
  message += StrCat(": none of its ", FormatCounted(events, "event"), " has a known category");
  if (!categories.empty()) message += StrCat(" (they have ", categories, ")");
  return Fail(ErrorCode::kInput, std::move(message), path,
              "looked for: categories of a profiler (kernel, cpu_op, cuda_runtime, …), lanes of a device, slices named "
              "after a step; `gapless formats` lists what can be read");
}

// Returns true if the file is of a profiler whose categories are known, or of one that recorded nothing.
bool IsOfAKnownProfiler(const ChunkReader& chunks, const Pass& pass) {
  if (IsOfAProfiler(chunks.head()) || IsOfAProfiler(pass.rest())) return true;
  return std::ranges::any_of(pass.rows(), [](const auto& rows) { return rows->saw_known() || rows->saw_framework(); });
}

// The lanes of a file of TensorFlow, JAX or rocprof.
Lanes LanesOf(const Pass& pass) {
  Lanes lanes;
  for (const auto& rows : pass.rows()) rows->NameLanes(lanes);
  lanes.Settle();
  return lanes;
}

std::string_view FrameworkOf(LaneRecorder recorder) {
  return recorder == LaneRecorder::kTensorFlow ? "tensorflow" : recorder == LaneRecorder::kXla ? "xla" : "rocprof";
}

// The execution trace beside the recording, and how they met when the recording was read.
struct Beside {
  std::string name{};
  const ExecutionTrace* trace = nullptr;  // null: there is none, or it is of another run
  Meeting meeting{};
};

// Looks how operators met. Returns false if the execution trace is of another run, and what it gave must be taken back.
bool Settle(const Pass& pass, Beside& beside) {
  if (beside.trace == nullptr) return true;
  beside.meeting = {};
  for (const auto& rows : pass.rows()) beside.meeting.Add(rows->meeting());
  if (beside.meeting.IsOfTheSameRun()) return true;
  beside.trace = nullptr;
  return beside.meeting.joined == 0;
}

// Reads the file once. Returns the lanes if they, and not categories, say what its events are: then nothing was kept,
// and the file is read again with them.
Result<Lanes> ReadWith(const Lanes* lanes, Source& source, TraceBuilder& builder, const ReadContext& context,
                       Beside& beside) {
  // The first try cuts chunks where an event seems to end; the second, if that was wrong once, scans every byte.
  for (const bool exact : {false, true}) {
    GAPLESS_ASSIGN(auto stream, source.Open());
    ChunkReader chunks(std::move(stream), exact);
    GAPLESS_ASSIGN(auto found, chunks.FindEvents());
    if (!found && chunks.overlong()) return NoEvents(chunks, source.path());
    if (!found) return NoTrace(chunks, source.path());
    builder.DropShards();
    Pass pass(chunks, builder, context, exact, lanes, beside.trace);
    const bool well_cut = pass.Run();
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    if (!well_cut && !exact) continue;
    if (!Settle(pass, beside)) return ReadWith(lanes, source, builder, context, beside);
    if (lanes == nullptr && !IsOfAKnownProfiler(chunks, pass))
      if (Lanes of = LanesOf(pass); of.recorder() != LaneRecorder::kNone) return of;
    DescribeInput(chunks, pass, builder);
    if (builder.info().event_count == 0 && (chunks.stream_error() != nullptr || chunks.overlong() || pass.truncated()))
      return NoEvents(chunks, source.path());
    if (lanes != nullptr) return Lanes();
    GAPLESS_TRY(RefuseForeign(chunks, pass, builder.info().event_count, source.path()));
    return Lanes();
  }
  return Lanes();
}

// An execution trace that cannot be read costs what it would have given, and no more.
std::optional<ExecutionTrace> TraceBeside(const std::string& path, TraceBuilder& builder) {
  if (path.empty()) return std::nullopt;
  const auto opened = OpenFile(path);
  auto trace = opened ? ExecutionTrace::Read(**opened) : Result<ExecutionTrace>(Unexpected{opened.error()});
  if (trace) return std::move(*trace);
  builder.Count("other_execution_trace", Severity::kLoss, 1, kAbsent,
                StrCat("the execution trace beside this recording cannot be read: ", trace.error().message));
  return std::nullopt;
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  Beside beside{.name = context.execution_trace.substr(context.execution_trace.find_last_of('/') + 1)};
  const std::optional<ExecutionTrace> known = TraceBeside(context.execution_trace, builder);
  if (known) beside.trace = &*known;
  GAPLESS_ASSIGN(const Lanes lanes, ReadWith(nullptr, source, builder, context, beside));
  if (lanes.recorder() != LaneRecorder::kNone) {
    GAPLESS_TRY(ReadWith(&lanes, source, builder, context, beside));
    builder.info().framework = FrameworkOf(lanes.recorder());
  }
  if (known) CountMeeting(beside.meeting, *known, beside.name, builder);
  return {};
}

// Times are unix times, or since a base time that newer recorders write; a sum that overflows is absent. Steps and
// classes need the launches linked, so the order counts.
void Complete(Trace& trace) {
  const int64_t base = trace.info.start_unix_ns;
  const int64_t origin = trace.info.origin_ns;
  int64_t start = kAbsent;
  if (base < kUnixTimeFrom || __builtin_add_overflow(base, origin, &start)) start = kAbsent;  // kAbsent is the least
  trace.info.start_unix_ns = origin >= kUnixTimeFrom ? origin : start;
  LinkByArrows(trace);
  FindSteps(trace);
  RefineGpuOpClasses(trace);
  FillBlocksPerSm(trace);
}

}  // namespace

READER(kineto) = {.name = "kineto",
                  .help = "Traces of PyTorch (Kineto), TensorFlow, JAX, rocprof: JSON, also gzip or Zstandard",
                  .extensions = kExtensions,
                  .sniff = SniffHead,
                  .read = Read,
                  .complete = Complete};

}  // namespace gapless::internal::kineto_reader
