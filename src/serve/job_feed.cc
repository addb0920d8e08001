// SPDX-License-Identifier: Apache-2.0
#include "serve/job_feed.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

constexpr std::chrono::milliseconds kFeedTick{250};
constexpr int64_t kBetweenGaugesMs = 1000;
constexpr int64_t kNsInMs = 1'000'000;
constexpr size_t kMostEvents = 1000, kMostGauges = 1024;

// The series of telemetry that are drawn, and what each is.
struct DrawnSeries {
  std::string_view series, what, unit;
};
constexpr DrawnSeries kDrawn[] = {
    {"gpu.utilization", "utilization", "share"},
    {"gpu.memory.used", "memory", "bytes"},
    {"gpu.power", "power", "W"},
};

int64_t NowMs() { return ClockNs(CLOCK_REALTIME) / kNsInMs; }

template <class T>
void KeepNewest(std::deque<T>& all, size_t most) {
  while (all.size() > most) all.pop_front();
}

}  // namespace

JobFeed::JobFeed(std::string folder, ControlBlock control)
    : folder_(std::move(folder)), control_(std::move(control)), rings_(folder_, false) {}

Result<std::unique_ptr<JobFeed>> JobFeed::Start(const std::string& folder) {
  GAPLESS_ASSIGN(auto control, ControlBlock::Open(folder));
  std::unique_ptr<JobFeed> feed(new JobFeed(folder, std::move(control)));
  GAPLESS_TRY(StartThread(feed->thread_, [&at = *feed] { at.Follow(); }));
  return feed;
}

JobFeed::~JobFeed() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void JobFeed::Follow() {
  while (!stop_) {
    // Asked before the rings are drained: what the agents wrote before the end is then still taken.
    // The block says how it was when it was opened.
    const auto control = ControlBlock::Open(folder_);
    const bool under_way = (control && control->IsUnderWay()) || rings_.AnyAlive();
    std::vector<RunEvent> events;
    rings_.Drain(false, [&](AgentProcess& process, const wire::RingRecord& record) {
      Take(process, record);
      slow_.OnRecord(process, record);
      late_.OnRecord(process, record);
    });
    slow_.OnTick(rings_, control_, events);
    late_.OnTick(rings_, control_, events);
    ReadHeaders();
    ReadGauges();
    AddEvents(events, !under_way);
    if (!under_way) return;
    std::this_thread::sleep_for(kFeedTick);
  }
}

void JobFeed::AddEvents(const std::vector<RunEvent>& events, bool over) {
  const std::lock_guard lock(mutex_);
  for (const RunEvent& event : events)
    if (events_.size() < kMostEvents)
      events_.push_back({.at_unix_ms = event.unix_ns / kNsInMs, .text = RedactText(event.text)});
  over_ = over;
}

void JobFeed::Take(const AgentProcess& process, const wire::RingRecord& record) {
  using wire::RecordKind;
  const std::lock_guard lock(mutex_);
  Process& seen = processes_[process.ring.header().pid];
  switch (record.kind) {
    case RecordKind::kStep:
      ++seen.about.steps;
      seen.steps.push_back({.step = record.a,
                            .at_unix_ms = (record.ts_ns + record.dur_ns) / kNsInMs,
                            .dur_ns = record.dur_ns,
                            .wait_ns = std::max<int64_t>(wire::WholeOf(record.x), 0),
                            .samples = record.b > 0 ? record.b : -1});
      KeepNewest(seen.steps, kKeptPoints);
      break;
    case RecordKind::kLoss:
      if (std::isfinite(record.x)) seen.about.loss = record.x;
      break;
    case RecordKind::kMemory:
      if (record.x >= 0 && std::isfinite(record.x)) seen.about.memory_bytes = record.x;
      break;
    default: break;
  }
}

void JobFeed::ReadHeaders() {
  const std::lock_guard lock(mutex_);
  for (const auto& process : rings_.processes()) {
    const wire::RingHeader& header = process->ring.header();
    Process& seen = processes_[header.pid];
    seen.about.name = process->folder, seen.about.pid = header.pid;
    if (header.rank >= 0) seen.about.rank = header.rank;
    seen.trains = header.role == wire::AgentRole::kTrains;
    seen.about.alive = header.state == wire::AgentState::kRuns && IsAlive(header.pid);
  }
}

void JobFeed::ReadGauges() {
  telemetry_.ReadNew(rings_.folder());
  const int64_t now_ms = NowMs();
  if (now_ms - gauges_read_ms_ < kBetweenGaugesMs) return;
  gauges_read_ms_ = now_ms;
  const std::lock_guard lock(mutex_);
  for (const auto& [file, host] : telemetry_.hosts())
    for (const auto& [key, value] : host.values)
      for (const DrawnSeries& drawn : kDrawn) {
        if (key.first != drawn.series || !std::isfinite(value)) continue;
        const std::string id = StrCat(file, " ", drawn.series, " ", key.second);
        if (!gauges_.contains(id) && gauges_.size() >= kMostGauges) continue;
        Gauge& gauge = gauges_[id];
        gauge.about.what = drawn.what, gauge.about.unit = drawn.unit;
        gauge.about.name = StrCat(host.name, host.name.empty() ? "" : " ", "GPU ", key.second);
        gauge.points.emplace_back(now_ms, value);
        KeepNewest(gauge.points, kKeptPoints);
      }
}

ServedJob JobFeed::Snapshot() const {
  const std::lock_guard lock(mutex_);
  ServedJob job{.folder = folder_, .state = over_ ? "over" : "running", .events = events_};
  const size_t of_each = std::max<size_t>(kMostPoints / std::max<size_t>(processes_.size() + gauges_.size(), 1), 20);
  for (const auto& [pid, seen] : processes_) {
    if (!seen.trains) continue;
    JobProcess& process = job.processes.emplace_back(seen.about);
    const size_t from = seen.steps.size() - std::min(seen.steps.size(), of_each);
    for (size_t i = from; i < seen.steps.size(); ++i) {
      const Step& step = seen.steps[i];
      process.step.push_back(step.step);
      process.at_unix_ms.push_back(step.at_unix_ms);
      process.step_ns.push_back(step.dur_ns);
      process.wait_ns.push_back(step.wait_ns);
      process.samples.push_back(step.samples);
    }
  }
  std::ranges::stable_sort(job.processes, {}, [](const JobProcess& one) { return one.rank.value_or(-1); });
  for (const auto& [id, gauge] : gauges_) {
    JobGauge& shown = job.gauges.emplace_back(gauge.about);
    const size_t from = gauge.points.size() - std::min(gauge.points.size(), of_each);
    for (size_t i = from; i < gauge.points.size(); ++i) {
      shown.at_unix_ms.push_back(gauge.points[i].first);
      shown.value.push_back(gauge.points[i].second);
    }
  }
  return job;
}

}  // namespace gapless::internal
