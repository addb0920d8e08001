// SPDX-License-Identifier: Apache-2.0
// Copies new records from each agent's ring to its events file before the ring wraps, and counts overwritten
// records.
//
// The events file starts with the ring's header, its capacity set to 0, and holds whole records only, so readers
// need no other format. A ring is removed only when its process has ended and every record is in the events file;
// otherwise it stays, and readers take both.
#include "collect/ring_keeper.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kDiscoverEveryNs = 500'000'000;
constexpr std::string_view kRing = ".ring", kEvents = ".events";
constexpr size_t kMaxMessages = 100;

bool IsRankFolder(std::string_view name) { return name == "main" || name.starts_with("rank"); }

std::string EventsOf(const std::string& ring) {
  return StrCat(std::string_view(ring).substr(0, ring.size() - kRing.size()), kEvents);
}

// Appends whole records: a part of a record that did not fit is cut off again.
void Append(AgentProcess& process, std::string_view bytes) {
  const off_t before = ::lseek(process.events.get(), 0, SEEK_CUR);
  if (WriteAll(process.events.get(), bytes)) return;
  process.events_error = errno;
  const off_t written = std::max<off_t>(::lseek(process.events.get(), 0, SEEK_CUR) - before, 0);
  const off_t whole =
      before + written / static_cast<off_t>(wire::kRingRecordBytes) * static_cast<off_t>(wire::kRingRecordBytes);
  (void)::ftruncate(process.events.get(), whole);
}

// The ring's own header with a capacity of 0: a file of records.
std::string HeadOf(const RingReader& ring) {
  std::string head(wire::kRingHeaderBytes, '\0');
  wire::RingHeader header = ring.header();
  header.capacity = 0;
  std::memcpy(head.data(), &header, sizeof header);
  return head;
}

void MakeEvents(AgentProcess& process, const std::string& name) {
  process.events = MakeFileIn(process.rank_folder.get(), EventsOf(name));
  if (!process.events) return void(process.events_error = errno);
  Append(process, HeadOf(process.ring));
}

// Keeps apart the steps with the profiler on, and the first step behind them, in which the profiler still works.
void NoteStep(AgentProcess& process, const wire::RingRecord& record) {
  const bool recorded = (record.flags & wire::kStepRecorded) != 0;
  process.last_step_ns = record.dur_ns;
  process.steps_ns = wire::SumOf(process.steps_ns, record.dur_ns);
  if (recorded)
    process.recorded_steps.Add(record.dur_ns);
  else if (!process.was_recorded && (record.flags & wire::kStepFirst) == 0)
    process.other_steps.Add(record.dur_ns);
  process.was_recorded = recorded;
  process.trains = process.trains || (record.flags & wire::kStepInference) == 0;
}

void Note(AgentProcess& process, const wire::RingRecord& record) {
  process.texts.Add(record);
  process.recording_cost.Add(record);
  if (record.kind == wire::RecordKind::kStep) NoteStep(process, record);
  constexpr int kFileWritten = 4, kNotRecorded = 5, kWarning = 1;
  if (record.kind == wire::RecordKind::kRecorder && record.value == kFileWritten)
    process.recordings.push_back(process.texts[record.a]);
  if (record.kind == wire::RecordKind::kRecorder && record.value == kNotRecorded)
    process.unrecorded = process.texts[record.a];
  const bool is_warning = record.kind == wire::RecordKind::kMessage && record.value >= kWarning;
  if (is_warning && process.messages.size() < kMaxMessages) process.messages.push_back(process.texts[record.a]);
}

}  // namespace

void RingKeeper::Discover() {
  for (const std::string& folder : NamesIn(folder_.get()))
    if (IsRankFolder(folder)) DiscoverIn(folder);
}

// Adds the rings of one rank's directory that are not known yet. A ring of another launcher is remembered, so that
// it is not opened again.
void RingKeeper::DiscoverIn(const std::string& rank_folder) {
  Descriptor open = OpenFolder(folder_.get(), rank_folder);
  if (!open) return;
  for (const std::string& name : NamesIn(open.get())) {
    if (!name.ends_with(kRing) || IsTemporaryName(name)) continue;
    const std::string path = StrCat(path_, "/", rank_folder, "/", name);
    const bool known = std::any_of(processes_.begin(), processes_.end(),
                                   [&](const auto& process) { return process->ring.path() == path; });
    if (known || foreign_.contains(path)) continue;
    auto ring = RingReader::OpenIn(open.get(), name, path, save_);
    if (!ring) continue;  // still being made, or not ours: looked at again
    if (save_ && ring->header().launcher != launcher_) {
      foreign_.insert(path);
      continue;
    }
    auto process = std::make_unique<AgentProcess>(AgentProcess{.folder = rank_folder, .ring = std::move(*ring)});
    process->rank_folder = Descriptor(::fcntl(open.get(), F_DUPFD_CLOEXEC, 0));
    if (save_) MakeEvents(*process, name);
    processes_.push_back(std::move(process));
  }
}

// Appends all new records with one write.
void RingKeeper::Take(AgentProcess& process, const OnRecord& on_record) {
  std::string saved;
  process.ring.ReadNew([&](const wire::RingRecord& record) {
    Note(process, record);
    if (process.events) saved.append(reinterpret_cast<const char*>(&record), sizeof record);
    if (on_record) on_record(process, record);
  });
  if (!saved.empty() && process.events_error == 0) Append(process, saved);
}

void RingKeeper::Drain(bool now, const OnRecord& on_record) {
  const int64_t clock = ClockNs(CLOCK_MONOTONIC);
  if (now || clock - discovered_ns_ > kDiscoverEveryNs) {
    Discover();
    discovered_ns_ = clock;
  }
  for (const auto& process : processes_) Take(*process, on_record);
}

void RingKeeper::Finish() {
  Drain(true);
  for (const auto& process : processes_) {
    const wire::RingHeader& header = process->ring.header();
    process->ended = header.state != wire::AgentState::kRuns || !IsAlive(header.pid);
    if (!save_ || !process->ended || !process->events) continue;
    // The header says how it ended: it goes into the saved file in its last state. What could not be saved stays in the
    // ring.
    const std::string head = HeadOf(process->ring);
    const bool kept = ::pwrite(process->events.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size());
    if (!kept && process->events_error == 0) process->events_error = errno;
    const std::string name = process->ring.path().substr(process->ring.path().rfind('/') + 1);
    if (process->events_error == 0 && process->ring.read() == header.written)
      ::unlinkat(process->rank_folder.get(), name.c_str(), 0);
  }
}

bool RingKeeper::AnyAlive() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& process) {
    const wire::RingHeader& header = process->ring.header();
    return header.state == wire::AgentState::kRuns && IsAlive(header.pid);
  });
}

uint64_t RingKeeper::steps() const {
  std::pair<bool, uint64_t> most{};
  for (const auto& process : processes_)
    if (process->ring.header().role == wire::AgentRole::kTrains)
      most = std::max(most, {process->trains, process->ring.header().step});
  return most.second;
}

}  // namespace gapless::internal
