// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_keeper.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kDiscoverEveryNs = 500'000'000;
constexpr std::string_view kRing = ".ring", kEvents = ".events";
constexpr size_t kMostMessages = 100;

bool IsRankFolder(std::string_view name) { return name == "main" || name.starts_with("rank"); }

void Append(int file, const void* bytes, size_t size) {
  [[maybe_unused]] const ssize_t written = ::write(file, bytes, size);
}

// A file of records starts with the ring's own header, as long as the ring's, with a capacity of 0.
Descriptor MakeEvents(const RingReader& ring) {
  std::string path = ring.path();
  path.replace(path.size() - kRing.size(), kRing.size(), kEvents);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return file;
  std::string head(wire::kRingHeaderBytes, '\0');
  wire::RingHeader header = ring.header();
  header.capacity = 0;
  std::memcpy(head.data(), &header, sizeof header);
  Append(file.get(), head.data(), head.size());
  return file;
}

void Note(AgentProcess& process, const wire::RingRecord& record) {
  process.texts.Add(record);
  if (record.kind == wire::RecordKind::kStep) process.last_step_ns = record.dur_ns;
  constexpr int kFileWritten = 4, kWarning = 1;
  if (record.kind == wire::RecordKind::kRecorder && record.value == kFileWritten)
    process.recordings.push_back(process.texts[record.a]);
  const bool told = record.kind == wire::RecordKind::kMessage && record.value >= kWarning;
  if (told && process.messages.size() < kMostMessages) process.messages.push_back(process.texts[record.a]);
}

}  // namespace

void RingKeeper::Discover() {
  for (const std::string& folder : NamesIn(run_folder_)) {
    if (!IsRankFolder(folder)) continue;
    for (const std::string& name : NamesIn(StrCat(run_folder_, "/", folder))) {
      if (!name.ends_with(kRing)) continue;
      const std::string path = StrCat(run_folder_, "/", folder, "/", name);
      const bool known = std::any_of(processes_.begin(), processes_.end(),
                                     [&](const auto& process) { return process->ring.path() == path; });
      if (known) continue;
      auto ring = RingReader::Open(path, save_);
      if (!ring) continue;  // still being made, or not ours: looked at again
      auto process = std::make_unique<AgentProcess>(AgentProcess{.folder = folder, .ring = std::move(*ring)});
      if (save_) process->events = MakeEvents(process->ring);
      processes_.push_back(std::move(process));
    }
  }
}

void RingKeeper::Take(AgentProcess& process, const OnRecord& on_record) {
  std::string saved;
  process.ring.ReadNew([&](const wire::RingRecord& record) {
    Note(process, record);
    if (process.events) saved.append(reinterpret_cast<const char*>(&record), sizeof record);
    if (on_record) on_record(process, record);
  });
  if (!saved.empty()) Append(process.events.get(), saved.data(), saved.size());
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
    // The header says how it ended: it goes into the saved file in its last state.
    wire::RingHeader last = header;
    last.capacity = 0;
    const Descriptor file(::open(
        (process->ring.path().substr(0, process->ring.path().size() - kRing.size()) + std::string(kEvents)).c_str(),
        O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    const bool kept = file && ::pwrite(file.get(), &last, sizeof last, 0) == static_cast<ssize_t>(sizeof last);
    if (kept && process->ring.read() == header.written) ::unlink(process->ring.path().c_str());
  }
}

uint64_t RingKeeper::steps() const {
  uint64_t most = 0;
  for (const auto& process : processes_)
    if (process->ring.header().role == wire::AgentRole::kTrains) most = std::max(most, process->ring.header().step);
  return most;
}

}  // namespace gapless::internal
