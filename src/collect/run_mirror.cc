// SPDX-License-Identifier: Apache-2.0
// Copies records of an inner run's processes to rings of the surrounding run, and passes its commands on to the
// inner processes.
//
// The copy looks like the ring of an agent of the surrounding run: the same header, with that run's launcher
// number. Records are written before the number that announces them, as an agent does. If a copy cannot be made,
// that process is simply not seen outside; the inner run is not affected.
#include "collect/run_mirror.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

// All that the agent goes on changing lies between the two, but for what says that a record is there.
void TellProgress(int file, const wire::RingHeader& now) {
  (void)WriteAt(file, now.state, offsetof(wire::RingHeader, state));
  (void)WriteAt(file, now.device, offsetof(wire::RingHeader, device));
  constexpr size_t kFrom = offsetof(wire::RingHeader, step), kTo = offsetof(wire::RingHeader, drained);
  (void)::pwrite(file, reinterpret_cast<const char*>(&now) + kFrom, kTo - kFrom, static_cast<off_t>(kFrom));
}

}  // namespace

// Makes an empty ring of the full size, so that a full disk shows now and not in the middle of a record.
RunMirror::Copy RunMirror::MakeCopy(const AgentProcess& process) const {
  const Descriptor run = OpenFolder(AT_FDCWD, around_.folder);
  if (!run) return {};
  const auto folder = MakeFolderIn(run.get(), process.folder, StrCat(around_.folder, "/", process.folder));
  if (!folder) return {};
  const std::string& path = process.ring.path();
  const std::string name = path.substr(path.rfind('/') + 1), temporary = TemporaryNameFor(name);
  wire::RingHeader header = process.ring.header();
  const uint64_t bytes = wire::kRingHeaderBytes + uint64_t{header.capacity} * wire::kRingRecordBytes;
  header.written = header.drained = 0;
  header.launcher = launcher_;
  Descriptor file = MakeFileIn(folder->get(), temporary);
  if (!file) return {};
  const bool whole = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) == 0 && WriteAt(file.get(), header, 0);
  if (whole && ::renameat(folder->get(), temporary.c_str(), folder->get(), name.c_str()) == 0)
    return {.file = std::move(file)};
  ::unlinkat(folder->get(), temporary.c_str(), 0);
  return {};
}

void RunMirror::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  auto found = copies_.find(&process);
  if (found == copies_.end()) found = copies_.emplace(&process, MakeCopy(process)).first;
  Copy& copy = found->second;
  const uint32_t capacity = process.ring.header().capacity;
  if (!copy.file || capacity == 0 || record.number == 0) return;
  const uint64_t place = (record.number - 1) % capacity;
  if (!WriteAt(copy.file.get(), record, wire::kRingHeaderBytes + place * wire::kRingRecordBytes)) return;
  copy.written = record.number;
  (void)WriteAt(copy.file.get(), copy.written, offsetof(wire::RingHeader, written));
}

void RunMirror::OnTick(RingKeeper& /*rings*/, ControlBlock& control, std::vector<RunEvent>& /*events*/) {
  for (const auto& [process, copy] : copies_)
    if (copy.file) TellProgress(copy.file.get(), process->ring.header());
  for (const wire::ControlSlot& slot : around_.control.Since(passed_on_)) {
    (void)control.Post(slot.command, slot.argument, TextIn(slot), slot.at_step);
    passed_on_ = slot.sequence;
  }
}

std::optional<RunMirror> MirrorOfRunAround() {
  auto around = FindRunAround();
  if (!around) return std::nullopt;
  const char* const number = std::getenv("GAPLESS_LAUNCHER");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return RunMirror(std::move(*around), number == nullptr ? 0 : std::strtoull(number, nullptr, 10));
}

}  // namespace gapless::internal
