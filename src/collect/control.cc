// SPDX-License-Identifier: Apache-2.0
// Implements the control block: a file in the run directory with a header and a ring of commands. It appears
// complete or not at all, and any process may post a command.
//
// A command is a slot with a sequence number; its place is the number modulo the number of slots. The slot is
// written before the header's sequence, so that a reader that sees the number finds the slot. Posting is
// serialised by a lock of the file; reading takes no lock, since a slot whose number is not the expected one was
// overwritten and is left out. The file is read and written with pread and pwrite, and never mapped.
#include "collect/control.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/strings.h"
#include "collect/private_files.h"
#include "collect/ring.h"

namespace gapless::internal {
namespace {

using wire::ControlHeader;
using wire::ControlSlot;

constexpr std::string_view kName = "control";
constexpr int64_t kLateTasksNs = 600'000'000'000;  // tasks of one start do not begin further apart

// Returns the offset of the slot of a command; numbers start at 1.
off_t SlotAt(uint64_t sequence) {
  return static_cast<off_t>(wire::kControlHeaderBytes + (sequence - 1) % wire::kControlSlots * wire::kControlSlotBytes);
}

template <class T>
bool ReadAt(int file, T& out, off_t offset) {
  return ::pread(file, &out, sizeof out, offset) == static_cast<ssize_t>(sizeof out);
}

// A Lock holds the file's lock, also against other processes, until it is destroyed.
class Lock {
 public:
  explicit Lock(int file) : file_(file) {
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() { ::flock(file_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

// Copies as much of the text as fits, with a terminating zero.
template <size_t N>
void PutText(char (&into)[N], std::string_view text) {
  std::memset(into, 0, N);
  text.copy(into, N - 1);
}

std::string HostName() {
  char name[64] = "";
  (void)::gethostname(name, sizeof name - 1);
  return name;
}

// Makes the control file. It is there whole, or not at all, and only one of many who try makes it: a file under a
// name of its own is linked to the final name, which fails where that exists.
Result<void> AppearOnce(int folder, const std::string& run_folder, std::string_view bytes) {
  const std::string name(kName), path = run_folder + "/" + name, temporary = TemporaryNameFor(name);
  const Descriptor file = MakeFileIn(folder, temporary);
  if (!file) return SystemFailure("cannot write the control block", path, errno);
  const bool whole = WriteAll(file.get(), bytes);
  const bool linked = whole && ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0;
  int error = linked ? 0 : errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  if (linked) return {};
  if (whole && error != EEXIST) {  // a file system without links
    const Descriptor direct = MakeFileIn(folder, name);
    if (direct && WriteAll(direct.get(), bytes)) return {};
    error = errno;
  }
  if (error == EEXIST)
    return Fail(ErrorCode::kUsage, "the folder for the run is not empty", run_folder,
                "name another with -o; nothing of an earlier run is replaced");
  return SystemFailure("cannot write the control block", path, error);
}

}  // namespace

Result<ControlBlock> ControlBlock::Make(const std::string& run_folder) {
  const Descriptor folder = OpenFolder(AT_FDCWD, run_folder);
  if (!folder) return SystemFailure("cannot open the folder of the run", run_folder, errno);
  return MakeIn(folder.get(), run_folder, std::nullopt);
}

Result<ControlBlock> ControlBlock::MakeIn(int folder, const std::string& run_folder,
                                          const std::optional<JobTask>& task) {
  ControlHeader header{};
  std::memcpy(header.magic, wire::kControlMagic.data(), sizeof header.magic);
  header.version = wire::kControlVersion;
  header.header_bytes = static_cast<uint32_t>(wire::kControlHeaderBytes);
  header.slot_bytes = static_cast<uint32_t>(wire::kControlSlotBytes);
  header.slots = wire::kControlSlots;
  header.launcher_pid = ::getpid();
  header.started_unix_ns = UnixNs();
  header.task = task ? task->task : -1;
  PutText(header.host, HostName());
  if (task) PutText(header.job, task->job);
  std::string bytes(wire::kControlBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  GAPLESS_TRY(AppearOnce(folder, run_folder, bytes));
  return OpenIn(folder, run_folder);
}

Result<ControlBlock> ControlBlock::Open(const std::string& run_folder) { return OpenIn(AT_FDCWD, run_folder); }

Result<ControlBlock> ControlBlock::OpenIn(int folder, const std::string& run_folder) {
  const std::string path = run_folder + "/" + std::string(kName);
  Descriptor file = OpenPlainFile(folder, folder == AT_FDCWD ? path : std::string(kName), O_RDWR);
  if (!file)
    return Fail(ErrorCode::kInput, "this is no run folder that can be controlled", run_folder,
                "give the folder that `gapless profile` or `gapless monitor` writes to");
  ControlHeader header{};
  if (!ReadAt(file.get(), header, 0) ||
      std::memcmp(header.magic, wire::kControlMagic.data(), sizeof header.magic) != 0 ||
      header.version != wire::kControlVersion)
    return Fail(ErrorCode::kInput, "this control block is not known here", path, "it is of another version of gapless");
  ControlBlock block(path, std::move(file));
  block.made_ = header;
  return block;
}

// A launcher may join a run of the same start of the same job, and only once per task. Clocks of hosts differ, so
// a start may lie up to ten minutes in either direction.
bool ControlBlock::MayJoin(const JobTask& task) const {
  ControlHeader header{};
  if (!ReadAt(file_.get(), header, 0)) return false;
  ControlHeader ours{};
  PutText(ours.job, task.job);
  PutText(ours.host, HostName());
  if (header.job[0] == '\0' || std::memcmp(header.job, ours.job, sizeof ours.job) != 0) return false;
  if (header.task == task.task) return false;
  const int64_t since_ns = UnixNs() - header.started_unix_ns;
  if (since_ns >= -kLateTasksNs && since_ns <= kLateTasksNs) return true;
  const bool here = std::memcmp(header.host, ours.host, sizeof ours.host) == 0;
  return header.ended_unix_ns == 0 && (!here || IsAlive(header.launcher_pid));
}

// Begins at the oldest slot that can still be there.
std::vector<wire::ControlSlot> ControlBlock::Since(uint64_t sequence) const {
  std::vector<ControlSlot> slots;
  ControlHeader header{};
  if (!ReadAt(file_.get(), header, 0) || header.sequence <= sequence) return slots;
  uint64_t next =
      std::max(sequence + 1, header.sequence - std::min<uint64_t>(header.sequence, wire::kControlSlots) + 1);
  for (; next <= header.sequence; ++next) {
    ControlSlot slot{};
    if (ReadAt(file_.get(), slot, SlotAt(next)) && slot.sequence == next) slots.push_back(slot);
  }
  return slots;
}

std::string_view TextIn(const wire::ControlSlot& slot) { return {slot.text, ::strnlen(slot.text, sizeof slot.text)}; }

bool ControlBlock::IsUnderWay() const {
  ControlHeader ours{};
  PutText(ours.host, HostName());
  const bool here = std::memcmp(made_.host, ours.host, sizeof ours.host) == 0;
  return made_.ended_unix_ns == 0 && (!here || IsAlive(made_.launcher_pid));
}

void ControlBlock::Hold() {
  while (::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

void ControlBlock::Release() { ::flock(file_.get(), LOCK_UN); }

bool ControlBlock::IsGone() const {
  struct stat facts {};
  return ::fstat(file_.get(), &facts) != 0 || facts.st_nlink == 0;
}

void ControlBlock::SetEnded() { (void)WriteAt(file_.get(), UnixNs(), offsetof(ControlHeader, ended_unix_ns)); }

Result<uint64_t> ControlBlock::Post(wire::AgentCommand command, int64_t argument, std::string_view text,
                                    int64_t at_step) {
  const Lock lock(file_.get());
  ControlHeader header{};
  if (!ReadAt(file_.get(), header, 0)) return SystemFailure("cannot read the control block", path_, errno);
  ControlSlot slot{.sequence = header.sequence + 1,
                   .command = command,
                   .flags = 0,
                   .at_step = at_step,
                   .argument = argument,
                   .posted_unix_ns = UnixNs(),
                   .text = {}};
  text.copy(slot.text, sizeof slot.text - 1);
  header.sequence = slot.sequence;
  if (!WriteAt(file_.get(), slot, SlotAt(slot.sequence)) ||
      !WriteAt(file_.get(), header.sequence, offsetof(ControlHeader, sequence)))
    return SystemFailure("cannot write the control block", path_, errno);
  return header.sequence;
}

int64_t ControlBlock::AgreedStep(uint64_t sequence) const {
  ControlSlot slot{};
  const bool there = ReadAt(file_.get(), slot, SlotAt(sequence)) && slot.sequence == sequence;
  return there ? slot.at_step : wire::kStepNotAgreed;
}

}  // namespace gapless::internal
