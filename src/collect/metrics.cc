// SPDX-License-Identifier: Apache-2.0
// Counts steps, waits, memory and loss from the agents' records, and formats them in the Prometheus text format.
// Names end in _total for counters; a metric that a process never reported has no line for it. Text() formats anew
// at each request, which costs time proportional to the processes.
#include "collect/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // value that a process never reported

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// Escapes a label as the format requires: backslashes, quotes and line ends.
std::string Label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

void Head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += StrCat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

// A metric of each GPU, and the series of telemetry that it comes from.
struct GpuFamily {
  std::string_view name, series, help;
};
constexpr GpuFamily kGpuFamilies[] = {
    {"gapless_gpu_utilization_ratio", "gpu.utilization", "Share of time with a kernel running, 0 to 1."},
    {"gapless_gpu_memory_used_bytes", "gpu.memory.used", "Memory in use, of all processes."},
    {"gapless_gpu_power_watts", "gpu.power", "Power drawn."},
    {"gapless_gpu_temperature_celsius", "gpu.temperature", "Temperature."},
    {"gapless_gpu_clock_hertz", "gpu.clock.sm", "Clock of the multiprocessors."},
};

}  // namespace

// A family without any value is left out, with its head.
void RunMetrics::AppendGpus(std::string& out) const {
  for (const GpuFamily& family : kGpuFamilies) {
    std::string lines;
    for (const auto& [file, host] : telemetry_.hosts())
      for (const auto& [key, value] : host.values)
        if (key.first == family.series)
          lines += StrCat(family.name, "{host=\"", Label(host.name), "\",device=\"", key.second, "\"} ", value, "\n");
    if (lines.empty()) continue;
    Head(out, family.name, "gauge", family.help);
    out += lines;
  }
}

void RunMetrics::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  using wire::RecordKind;
  const std::lock_guard lock(mutex_);
  Process& seen = processes_[process.ring.header().pid];
  seen.folder = process.folder;
  seen.trains = process.ring.header().role == wire::AgentRole::kTrains;
  switch (record.kind) {
    case RecordKind::kStep:
      ++seen.steps;
      if (seen.trains) late_.OnStep(process.ring.header().rank, record), ++taken_steps_;
      seen.step_ns = wire::SumOf(seen.step_ns, record.dur_ns);
      for (size_t i = 0; i < kEdges.size(); ++i) seen.below[i] += Seconds(record.dur_ns) <= kEdges[i] ? 1 : 0;
      seen.wait_ns = wire::SumOf(seen.wait_ns, std::max<int64_t>(wire::WholeOf(record.x), 0));
      if (record.b > 0) seen.samples += static_cast<uint64_t>(record.b), seen.has_samples = true;
      if ((record.flags & wire::kStepSkipped) != 0) ++seen.skipped;
      break;
    case RecordKind::kGc: seen.gc_ns = wire::SumOf(seen.gc_ns, record.dur_ns); break;
    case RecordKind::kSave:
      if ((record.flags & wire::kInThread) == 0) seen.save_ns = wire::SumOf(seen.save_ns, record.dur_ns);
      break;
    case RecordKind::kCompile:
      seen.compile_ns = wire::SumOf(seen.compile_ns, record.dur_ns), ++seen.compilations;
      break;
    case RecordKind::kLoss: seen.loss = record.x, seen.has_loss = true; break;
    case RecordKind::kScale: seen.scale = record.x, seen.has_scale = true; break;
    case RecordKind::kMemory: seen.memory[record.value] = {record.x, record.y}; break;
    case RecordKind::kItems:
      seen.items += static_cast<uint64_t>(record.a), seen.items_ns = wire::SumOf(seen.items_ns, record.b);
      break;
    case RecordKind::kFailure: ++seen.failures; break;
    case RecordKind::kRecorder: seen.recordings += record.value == 4 ? 1 : 0; break;
    default: break;
  }
}

// A rank is written down when it is first found; until there are steps anew there is nothing to look at.
void RunMetrics::LookForLate(std::vector<RunEvent>& events) {
  if (taken_steps_ == looked_steps_) return;
  looked_steps_ = taken_steps_, findings_ = late_.Findings();
  for (const LateRank::Finding& finding : findings_)
    if (finding.late && named_.emplace(finding.rank, finding.sign).second)
      events.push_back(
          {.unix_ns = ClockNs(CLOCK_REALTIME),
           .text = StrCat("late rank: ", LateRank::TextOf(finding, findings_.size() / std::size(kLateSigns)))});
}

// Takes what is in the rings' headers, which change without a record.
void RunMetrics::OnTick(RingKeeper& rings, ControlBlock& /*control*/, std::vector<RunEvent>& events) {
  const std::lock_guard lock(mutex_);
  LookForLate(events);
  slow_steps_ = flight_ == nullptr ? 0 : flight_->slow_steps();
  telemetry_.ReadNew(rings.folder());
  for (const auto& process : rings.processes()) {
    const wire::RingHeader& header = process->ring.header();
    Process& seen = processes_[header.pid];
    seen.folder = process->folder;
    seen.trains = header.role == wire::AgentRole::kTrains;
    seen.agent_cost_ns = static_cast<int64_t>(header.cost_ns);
    seen.heartbeat_unix_ns = header.heartbeat_unix_ns;
    seen.alive = header.state == wire::AgentState::kRuns && IsAlive(header.pid);
  }
}

const RunMetrics::Family RunMetrics::kFamilies[] = {
    {"gapless_up", "gauge", "1 while the process runs.", [](const Process& p) { return p.alive ? 1.0 : 0.0; }},
    {"gapless_steps_total", "counter", "Training steps completed.",
     [](const Process& p) { return p.trains ? static_cast<double>(p.steps) : kNone; }},
    {"gapless_samples_total", "counter", "Samples trained on, where the batch size is known.",
     [](const Process& p) { return p.has_samples ? static_cast<double>(p.samples) : kNone; }},
    {"gapless_loader_wait_seconds_total", "counter", "Time spent waiting for the next batch.",
     [](const Process& p) { return p.trains ? Seconds(p.wait_ns) : kNone; }},
    {"gapless_gc_seconds_total", "counter", "Time in Python's garbage collection.",
     [](const Process& p) { return p.trains ? Seconds(p.gc_ns) : kNone; }},
    {"gapless_checkpoint_seconds_total", "counter", "Time in torch.save.",
     [](const Process& p) { return p.trains ? Seconds(p.save_ns) : kNone; }},
    {"gapless_compile_seconds_total", "counter", "Time in torch.compile.",
     [](const Process& p) { return p.trains ? Seconds(p.compile_ns) : kNone; }},
    {"gapless_compilations_total", "counter", "Compilations, recompilations and graph breaks of torch.compile.",
     [](const Process& p) { return p.trains ? static_cast<double>(p.compilations) : kNone; }},
    {"gapless_skipped_steps_total", "counter", "Optimizer steps that the loss scaler skipped.",
     [](const Process& p) { return p.trains ? static_cast<double>(p.skipped) : kNone; }},
    {"gapless_loss", "gauge", "Last loss that was read.", [](const Process& p) { return p.has_loss ? p.loss : kNone; }},
    {"gapless_loss_scale", "gauge", "Loss scale under automatic mixed precision.",
     [](const Process& p) { return p.has_scale ? p.scale : kNone; }},
    {"gapless_items_total", "counter", "Samples whose reading was timed: all that loader workers read.",
     [](const Process& p) { return p.items > 0 ? static_cast<double>(p.items) : kNone; }},
    {"gapless_item_seconds_total", "counter", "Time that reading these samples took.",
     [](const Process& p) { return p.items > 0 ? Seconds(p.items_ns) : kNone; }},
    {"gapless_recordings_total", "counter", "Recordings of the profiler that were written.",
     [](const Process& p) { return p.trains ? static_cast<double>(p.recordings) : kNone; }},
    {"gapless_agent_seconds_total", "counter", "Time the agent itself took.",
     [](const Process& p) { return Seconds(p.agent_cost_ns); }},
    {"gapless_last_record_timestamp_seconds", "gauge", "When the process last reported, in unix time.",
     [](const Process& p) { return p.heartbeat_unix_ns > 0 ? Seconds(p.heartbeat_unix_ns) : kNone; }},
};

std::string RunMetrics::LabelsOf(int64_t pid, const Process& process) {
  return StrCat("rank=\"", process.folder == "main" ? "" : Label(process.folder.substr(4)), "\",pid=\"", pid, "\"");
}

void RunMetrics::AppendStepDurations(std::string& out) const {
  const std::string name = "gapless_step_duration_seconds";
  Head(out, name, "histogram", "Duration of steps on the host.");
  for (const auto& [pid, process] : processes_) {
    if (!process.trains) continue;
    const std::string labels = LabelsOf(pid, process);
    for (size_t i = 0; i < kEdges.size(); ++i)
      out += StrCat(name, "_bucket{", labels, ",le=\"", kEdges[i], "\"} ", process.below[i], "\n");
    out += StrCat(name, "_bucket{", labels, ",le=\"+Inf\"} ", process.steps, "\n", name, "_sum{", labels, "} ",
                  Seconds(process.step_ns), "\n", name, "_count{", labels, "} ", process.steps, "\n");
  }
}

void RunMetrics::AppendMemory(std::string& out) const {
  for (const bool reserved : {false, true}) {
    const std::string_view name =
        reserved ? "gapless_device_memory_reserved_bytes" : "gapless_device_memory_allocated_bytes";
    Head(out, name, "gauge", reserved ? "Memory PyTorch has reserved." : "Memory that tensors take.");
    for (const auto& [pid, process] : processes_)
      for (const auto& [device, bytes] : process.memory)
        out += StrCat(name, "{", LabelsOf(pid, process), ",device=\"", device, "\"} ",
                      reserved ? bytes.second : bytes.first, "\n");
  }
}

void RunMetrics::AppendLate(std::string& out) const {
  if (findings_.empty()) return;
  const auto labels = [](const LateRank::Finding& finding) {
    return StrCat("{rank=\"", finding.rank, "\",sign=\"", finding.sign == LateSign::kStepEnd ? "step_end" : "batch",
                  "\"} ");
  };
  Head(out, "gapless_last_in_steps_ratio", "gauge",
       "Share of the last steps of all ranks that this one ended last, or in which it waited longest for its batch.");
  for (const LateRank::Finding& finding : findings_)
    out += StrCat("gapless_last_in_steps_ratio", labels(finding),
                  static_cast<double>(finding.hits) / static_cast<double>(finding.steps), "\n");
  Head(out, "gapless_late_rank", "gauge", "1 where that is more than chance does in one of a hundred windows.");
  for (const LateRank::Finding& finding : findings_)
    out += StrCat("gapless_late_rank", labels(finding), finding.late ? 1 : 0, "\n");
}

std::string RunMetrics::Text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const Family& family : kFamilies) {
    Head(out, family.name, family.type, family.help);
    for (const auto& [pid, process] : processes_)
      if (const double number = family.value(process); !std::isnan(number))
        out += StrCat(family.name, "{", LabelsOf(pid, process), "} ", number, "\n");
  }
  AppendStepDurations(out);
  AppendMemory(out);
  AppendLate(out);
  AppendGpus(out);
  Head(out, "gapless_slow_steps_total", "counter", "Steps far above the run's own 99th percentile.");
  out += StrCat("gapless_slow_steps_total ", slow_steps_, "\n");
  return out;
}

}  // namespace gapless::internal
