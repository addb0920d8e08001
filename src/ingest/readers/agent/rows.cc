// SPDX-License-Identifier: Apache-2.0
// Maps each kind of agent record to slices, steps, counters and messages of a trace.
//
// A record has fixed fields (a, b, x, y, value) whose meaning depends on its kind, see wire/ and
// python/gapless/agent/README.md. Texts come as records of their own before the records that refer to them. A record
// whose time or step cannot be is counted and dropped, and so is a counter that is not finite. Kinds that this version
// does not know are ignored: later agents add kinds.
#include "ingest/readers/agent/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/strings.h"
#include "trace/formats.h"
#include "trace/marks.h"

namespace gapless::internal::agent {
namespace {

using wire::RecordKind;
using wire::RingRecord;

// Values of the record kRecorder: the profiler has begun to keep events, or has been switched off.
constexpr int kRecorderKeeps = 2, kRecorderOff = 3;
constexpr int kCompiledAgain = 1, kGraphBreak = 2;

// Returns the text in a fixed array, which need not end with a zero.
template <size_t N>
std::string TextOf(const char (&bytes)[N]) {
  return std::string(bytes, ::strnlen(bytes, N));
}

// Returns kAbsent for the agent's negative "not known".
int64_t Known(int64_t value) { return value < 0 ? kAbsent : value; }

constexpr int64_t kLatestUnixNs = int64_t{1} << 62;  // in the year 2116

}  // namespace

Rows::Rows(const wire::RingHeader& header, TraceBuilder& builder)
    : header_(header), builder_(builder), shard_(builder.NewShard()) {
  TraceInfo& info = builder.info();
  info.pid = Known(header.pid);
  info.rank = Known(header.rank);
  info.world_size = Known(header.world_size);
  if (header.start_unix_ns > 0 && header.heartbeat_unix_ns >= header.start_unix_ns &&
      header.heartbeat_unix_ns <= kLatestUnixNs)
    info.process_start_unix_ns = header.start_unix_ns, info.process_end_unix_ns = header.heartbeat_unix_ns;
  info.host = TextOf(header.host);
  info.framework = "pytorch";
  builder.AddEnvironment("agent.versions", TextOf(header.versions));
  if (header.role == wire::AgentRole::kLoads) builder.AddEnvironment(kAgentRoleKey, kRoleLoads);
  if (header.state == wire::AgentState::kOff)
    builder.Count("agent_off", Severity::kLoss, 1, kAbsent, "the agent switched itself off");
}

// Keeps the step until Finish(), where its end and its loss are known. A skipped step (GradScaler found infinite
// gradients) also becomes a counter.
void Rows::AddStep(const RingRecord& record) {
  trains_ = trains_ || (record.flags & wire::kStepInference) == 0;
  steps_.push_back({.number = record.a,
                    .name = StringId::kNone,
                    .ts_ns = record.ts_ns,
                    .dur_ns = record.dur_ns,
                    .complete = true,
                    .source = StepSource::kAgent,
                    .samples = Known(record.b),
                    .wait_ns = Known(wire::WholeOf(record.x))});
  if (std::isfinite(record.y)) AddCounter(record, "agent cost", "ns", record.y);
  if ((record.flags & wire::kStepSkipped) != 0) AddCounter(record, kSkippedStepName, "", 1);
}

void Rows::AddSlice(const RingRecord& record, std::string_view name, std::string_view line) {
  shard_.Add(SliceRow{.name = shard_.Text(name),
                      .category = SliceCategory::kAnnotation,
                      .pid = header_.pid,
                      .tid = header_.pid,
                      .ts_ns = record.ts_ns,
                      .dur_ns = record.dur_ns,
                      .source_line = shard_.Text(line)});
}

// A graph break takes no time of its own: the piece behind it is compiled by itself.
void Rows::AddCompile(const RingRecord& record) {
  const std::string& text = Text(record.a);
  if (record.value == kGraphBreak) return AddSlice(record, StrCat(kGraphBreakName, text));
  AddSlice(record, StrCat(record.value == kCompiledAgain ? kCompiledAgainName : "", text, kCompileSuffix));
}

void Rows::AddSave(const RingRecord& record) {
  const std::string& line = Text(wire::WholeOf(record.y));
  if ((record.flags & wire::kInThread) == 0) return AddSlice(record, kSaveName, line);
  AddSlice(record, StrCat(kInThreadName, "checkpoint: ", kSaveName), line);
}

// A slice stands for all calls that the record adds up; their number and the longest are counters of the same name.
void Rows::AddBeside(const RingRecord& record) {
  const std::string name = StrCat((record.flags & wire::kInThread) != 0 ? kInThreadName : kBesideName, Text(record.a));
  AddCounter(record, StrCat(name, kCallsSuffix), "", record.value);
  AddCounter(record, StrCat(name, kLongestSuffix), "ns", record.x);
  AddSlice(record, name, Text(wire::WholeOf(record.y)));
}

const std::string& Rows::LineOfLoader(int64_t loader) const {
  const auto line = loader_lines_.find(loader);
  return Text(line == loader_lines_.end() ? 0 : line->second);
}

void Rows::AddCounter(const RingRecord& record, std::string_view name, std::string_view unit, double value,
                      bool of_device) {
  if (!std::isfinite(value)) return;
  shard_.Add(CounterRow{.name = shard_.Text(name),
                        .unit = shard_.Text(unit),
                        .device = of_device ? record.value : kAbsent32,
                        .ts_ns = record.ts_ns,
                        .value = value});
}

// Adds the mean and the longest time in ns of the samples that a loader's process read since its last report.
void Rows::AddLoaded(const RingRecord& record) {
  const double samples = static_cast<double>(record.a), spent_ns = static_cast<double>(record.b);
  AddCounter(record, "samples timed", "", samples);
  if (samples > 0) AddCounter(record, "reading a sample", "ns", spent_ns / samples);
  AddCounter(record, "reading a sample, longest", "ns", record.x);
}

void Rows::AddMessage(const RingRecord& record) {
  builder_.Count("agent_message", record.value > 0 ? Severity::kLoss : Severity::kInfo, 1, kAbsent, Text(record.a));
}

// Adds what the process is for in its job.
void Rows::AddProcess(const RingRecord& record) {
  constexpr std::string_view kKeys[] = {kJobRoleKey, kActorKey, kProgramKey, kPackagesKey};
  if (record.value >= 0 && static_cast<size_t>(record.value) < std::size(kKeys))
    builder_.AddEnvironment(kKeys[record.value], Text(record.a));
}

// Joins the two records that switch the profiler on and off into one slice, so that analyses see which steps were
// slowed down by it. A switch-off without its switch-on was overwritten, and is ignored.
void Rows::AddRecorder(const RingRecord& record) {
  if (record.value == kRecorderKeeps) recording_since_ns_ = record.ts_ns;
  if (record.value == kRecorderOff && recording_since_ns_ != kAbsent && record.ts_ns >= recording_since_ns_) {
    RingRecord whole = record;
    whole.ts_ns = recording_since_ns_;
    whole.dur_ns = record.ts_ns - recording_since_ns_;
    AddSlice(whole, kProfilerRecordsName);
    recording_since_ns_ = kAbsent;
  }
}

void Rows::Add(const RingRecord& record) {
  if (record.kind == RecordKind::kText) return texts_.Add(record);
  if (!wire::IsSound(record))
    return builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "a record whose time or step cannot be");
  switch (record.kind) {
    case RecordKind::kStep: return AddStep(record);
    case RecordKind::kGpuStep:
      return AddCounter(record, "step on the device", "ns", static_cast<double>(record.dur_ns), true);
    case RecordKind::kWait: return AddSlice(record, kBatchWaitName, LineOfLoader(record.a));
    case RecordKind::kLoss: losses_[record.a] = record.x; return AddCounter(record, "loss", "", record.x);
    case RecordKind::kScale: return AddCounter(record, kLossScaleName, "", record.x);
    case RecordKind::kGc: return AddSlice(record, kGarbageName);
    case RecordKind::kCompile: return AddCompile(record);
    case RecordKind::kRollout:
      AddCounter(record, kEnvironmentStepsName, "", static_cast<double>(record.b));
      AddCounter(record, kEnvironmentTimeName, "ns", record.x);
      return AddSlice(record, kRolloutName);
    case RecordKind::kSave: return AddSave(record);
    case RecordKind::kBeside: return AddBeside(record);
    case RecordKind::kEvaluation: return AddSlice(record, kEvaluationName, Text(record.a));
    case RecordKind::kMemory:
      AddCounter(record, "allocated memory", "bytes", record.x, true);
      AddCounter(record, "reserved memory", "bytes", record.y, true);
      return AddCounter(record, "peak memory", "bytes", static_cast<double>(record.b), true);
    case RecordKind::kRecorder: return AddRecorder(record);
    case RecordKind::kMessage: return AddMessage(record);
    case RecordKind::kLoader:
      loader_lines_[record.b] = wire::WholeOf(record.x);
      return builder_.AddEnvironment(StrCat("loader.", record.b), Text(record.a));
    case RecordKind::kOptimizer: return builder_.AddEnvironment(StrCat("optimizer.", record.b), Text(record.a));
    case RecordKind::kMade: return builder_.AddEnvironment(StrCat("made.", record.b), Text(record.a));
    case RecordKind::kItems: return AddLoaded(record);
    case RecordKind::kProcess: return AddProcess(record);
    case RecordKind::kFailure: return builder_.AddEnvironment("failure", Text(record.a));
    case RecordKind::kFix: return builder_.AddEnvironment(StrCat("fix.", record.b), Text(record.a));
    default: return;  // kAck is for whoever asked; later versions add kinds
  }
}

// A step ends where the next one starts: the two were timed by clocks that differ by some nanoseconds.
void Rows::Finish() {
  if (!steps_.empty() && header_.role == wire::AgentRole::kTrains)
    builder_.AddEnvironment(kAgentRoleKey, trains_ ? kRoleTrains : kRoleOnlyInfers);
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    const int64_t until_next = steps_[i + 1].ts_ns - steps_[i].ts_ns;
    if (until_next > 0) steps_[i].dur_ns = std::min(steps_[i].dur_ns, until_next);
  }
  for (StepRow& step : steps_) {
    const auto loss = losses_.find(step.number);
    if (loss != losses_.end()) step.loss = loss->second;
    shard_.Add(step);
  }
}

}  // namespace gapless::internal::agent
