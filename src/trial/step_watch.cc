// SPDX-License-Identifier: Apache-2.0
// Implements StepWatch: counts the steps of each process after warm-up, and asks the program to stop when enough were
// measured. SIGTERM and SIGKILL follow if it does not stop.
#include "trial/step_watch.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <tuple>

#include "base/json_value.h"

namespace gapless::internal {
namespace {

constexpr auto kSigtermDelay = std::chrono::seconds(15),
               kSigkillDelay = std::chrono::seconds(25);        // after the request to stop
constexpr auto kSigkillAfterTimeout = std::chrono::seconds(6);  // a time limit, such as that of --budget, is kept
constexpr double kLongestCallNs = 1e15;
constexpr size_t kAskEvery = 10;                     // steps
constexpr auto kAskAfter = std::chrono::seconds(1);  // pause between questions where a step takes longer
constexpr size_t kMaxMessages = 8;
constexpr size_t kParityPatience = 20;  // steps that are allowed beyond twice those of a recording
constexpr int kWarning = 1;             // level of a message, see python/gapless/agent/README.md
// A loss may be reported before its step, and a ring that wrapped may have lost steps. A loss further ahead than this
// is ignored.
constexpr int64_t kMaxStepsAhead = 1 << 16;

// Returns the call with the time until its result was there: when the device has it, which may be after the call
// has returned.
ModelCall CallFrom(const wire::RingRecord& record) {
  ModelCall call{.step = record.a, .start_unix_ns = record.ts_ns, .dur_ns = record.dur_ns, .tokens = record.value};
  if (record.x > static_cast<double>(record.dur_ns) && record.x < kLongestCallNs)
    call.dur_ns = static_cast<int64_t>(record.x);
  if (record.b > 0) call.rows = record.b;
  return call;
}

// Returns how many batches the workers of a loader may have ready. `settings`: JSON, as the agent describes the loader.
size_t StockOf(int64_t workers, std::string_view settings) {
  constexpr int64_t kUsualPrefetch = 2, kMost = 4096;
  if (workers <= 0) return 0;
  const auto described = JsonValue::Parse(settings);
  const int64_t ahead = described ? described->Get("prefetch_factor").Int().value_or(kUsualPrefetch) : kUsualPrefetch;
  return static_cast<size_t>(std::min(kMost, workers) * std::clamp<int64_t>(ahead, 1, kMost));
}

}  // namespace

void StepWatch::OnStart(int64_t pid) {
  pid_ = pid;
  started_ = Clock::now();
}

void StepWatch::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  const wire::RingHeader& header = process.ring.header();
  if (header.role != wire::AgentRole::kTrains) return;
  WatchedProcess& seen = processes_[header.pid];
  switch (record.kind) {
    case wire::RecordKind::kStep:
      seen.rank = header.rank;
      if (seen.versions.empty())
        seen.versions.assign(header.versions, ::strnlen(header.versions, sizeof header.versions));
      seen.step_ns.push_back(record.dur_ns);
      seen.begin_unix_ns.push_back(record.ts_ns);
      seen.inference_steps += (record.flags & wire::kStepInference) != 0;
      seen.samples.push_back(record.b > 0 ? record.b : -1);
      EndOverdueParity(seen);
      break;
    case wire::RecordKind::kLoss:
      if (record.b == 0 && record.a >= 0 && record.a < kMaxStepsAhead + static_cast<int64_t>(seen.step_ns.size()))
        seen.losses[record.a] = record.x;
      break;
    case wire::RecordKind::kMemory:
      if (record.b > 0) seen.memory_bytes = std::max(seen.memory_bytes.value_or(0), static_cast<double>(record.b));
      break;
    case wire::RecordKind::kFix: seen.fixes.push_back({record.value, record.b, process.texts[record.a]}); break;
    case wire::RecordKind::kLoader:
      seen.loaders.push_back(record.value);
      seen.stock = std::max(seen.stock, StockOf(record.value, process.texts[record.a]));
      break;
    case wire::RecordKind::kOptimizer:
      if (!seen.host_threads && record.x >= 1) seen.host_threads = wire::WholeOf(record.x);
      break;
    case wire::RecordKind::kSave: seen.saved.push_back(process.texts[record.a]); break;
    case wire::RecordKind::kFailure:
      seen.failure = process.texts[record.a];
      seen.out_of_memory = seen.out_of_memory || record.value == 1;
      break;
    case wire::RecordKind::kMessage:
      if (record.value >= kWarning && seen.messages.size() < kMaxMessages)
        seen.messages.push_back(process.texts[record.a]);
      break;
    case wire::RecordKind::kParity:
      seen.parity_events = record.value;
      seen.parity_steps = seen.step_ns.size();
      break;
    case wire::RecordKind::kCall: seen.calls.push_back(CallFrom(record)); break;
    default: break;
  }
}

// Ends a recording that would never end: the program's steps are counted, but no optimiser of torch.optim takes them,
// or the calls of its model were not recorded.
void StepWatch::EndOverdueParity(WatchedProcess& seen) const {
  const size_t overdue = kParityPatience + 2 * static_cast<size_t>(std::max(0, request_.parity.steps));
  const size_t steps = seen.step_ns.size() - (request_.inference ? 0 : seen.inference_steps);
  if (!request_.parity.IsOn() || seen.parity_events || steps < overdue) return;
  seen.parity_events = 0;
  seen.parity_steps = seen.step_ns.size();
}

std::span<const ModelCall> StepWatch::CallsAfterWarmup(const WatchedProcess& process) const {
  if (request_.parity.IsOn() && !process.parity_events) return {};
  const auto first = std::find_if(process.calls.begin(), process.calls.end(), [&](const ModelCall& call) {
    return call.step >= static_cast<int64_t>(ShortWarmup(process));
  });
  return {first, process.calls.end()};
}

// Without the stock of the loader.
size_t StepWatch::ShortWarmup(const WatchedProcess& process) const {
  return request_.warmup + (request_.parity.IsOn() ? process.parity_steps : 0);
}

size_t StepWatch::WarmupOf(const WatchedProcess& process) const {
  const size_t steps = process.step_ns.size(), warmup = ShortWarmup(process);
  if (request_.parity.IsOn() && !process.parity_events) return steps;
  return warmup + std::min(process.stock, (steps - std::min(steps, warmup)) * 3 / 4);
}

// Processes that train come before those that only call a model: a parent evaluates what its children trained.
const WatchedProcess* StepWatch::First() const {
  const auto order = [](const WatchedProcess& process) {
    return std::tuple(process.OnlyInfers(), process.rank, -static_cast<int64_t>(process.step_ns.size()));
  };
  const WatchedProcess* first = nullptr;
  for (const auto& [pid, process] : processes_)
    if (!process.step_ns.empty() && (first == nullptr || order(process) < order(*first))) first = &process;
  return first;
}

// Returns true if the program may be stopped. A program whose output is measured is never stopped, because its
// numbers may come at the end.
bool StepWatch::Enough() const {
  const WatchedProcess* first = First();
  const bool to_the_end =
      request_.to_the_end || request_.whole_process || !request_.pattern.empty() || !request_.metric.empty();
  if (to_the_end || first == nullptr) return false;
  const size_t steps = first->step_ns.size();
  const size_t warmup = ShortWarmup(*first) + first->stock;
  if ((request_.parity.IsOn() && !first->parity_events) || steps < warmup + request_.measure) return false;
  if (request_.inference) {
    const std::vector<int64_t> latency_ns = LatenciesOf(CallsAfterWarmup(*first), true);
    return latency_ns.size() >= request_.measure && (!request_.enough || request_.enough(latency_ns));
  }
  return !request_.enough || request_.enough(std::span(first->step_ns).subspan(warmup));
}

// Signals all processes of the command, not only the first: launchers do not always pass signals on.
void StepWatch::Signal(int signal) {
  tree_.Refresh(pid_);
  for (const int64_t pid : tree_.pids()) ::kill(static_cast<pid_t>(pid), signal);
}

// Asking whether it is enough may be costly, so it happens every ten steps, or every second where steps are
// longer.
void StepWatch::OnTick(RingKeeper& /*rings*/, ControlBlock& control, std::vector<RunEvent>& events) {
  const auto now = Clock::now();
  if (!asked_ && !timed_out_) {
    const WatchedProcess* first = First();
    const size_t steps = first == nullptr ? 0 : first->step_ns.size();
    const bool look = steps >= looked_at_ + kAskEvery || (steps > looked_at_ && now - looked_when_ > kAskAfter) ||
                      !(request_.enough || request_.inference);
    if (look) looked_at_ = steps, looked_when_ = now;
    if (look && Enough()) {
      asked_ = static_cast<bool>(control.Post(wire::AgentCommand::kStop, 0));
      asked_at_ = now;
      events.push_back({UnixNs(), "enough was measured: the command was asked to stop"});
    } else if (request_.timeout_s > 0 && now - started_ > std::chrono::duration<double>(request_.timeout_s)) {
      timed_out_ = true;
      asked_at_ = now;
      Signal(SIGTERM);
      events.push_back({UnixNs(), "the command's time was up"});
    }
    return;
  }
  if (asked_ && now - asked_at_ > kSigtermDelay && now - asked_at_ < kSigtermDelay + std::chrono::seconds(1))
    Signal(SIGTERM);
  if (now - asked_at_ > (timed_out_ ? kSigkillAfterTimeout : kSigkillDelay)) Signal(SIGKILL);
}

}  // namespace gapless::internal
