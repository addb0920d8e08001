// SPDX-License-Identifier: Apache-2.0
#include "collect/control.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace gapless::internal {
namespace {

using wire::ControlHeader;
using wire::ControlSlot;

off_t SlotAt(uint64_t sequence) {
  return static_cast<off_t>(wire::kControlHeaderBytes + (sequence - 1) % wire::kControlSlots * wire::kControlSlotBytes);
}

template <class T>
bool ReadAt(int file, T& out, off_t offset) {
  return ::pread(file, &out, sizeof out, offset) == static_cast<ssize_t>(sizeof out);
}
template <class T>
bool WriteAt(int file, const T& value, off_t offset) {
  return ::pwrite(file, &value, sizeof value, offset) == static_cast<ssize_t>(sizeof value);
}

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

}  // namespace

Result<ControlBlock> ControlBlock::Make(const std::string& run_folder) {
  const std::string path = run_folder + "/control";
  ControlHeader header{.magic = {},
                       .version = wire::kControlVersion,
                       .header_bytes = static_cast<uint32_t>(wire::kControlHeaderBytes),
                       .slot_bytes = static_cast<uint32_t>(wire::kControlSlotBytes),
                       .slots = wire::kControlSlots,
                       .sequence = 0,
                       .launcher_pid = ::getpid()};
  std::memcpy(header.magic, wire::kControlMagic.data(), sizeof header.magic);
  std::string bytes(wire::kControlBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  GAPLESS_TRY(WriteFileAtomically(path, bytes, 0600));
  return Open(run_folder);
}

Result<ControlBlock> ControlBlock::Open(const std::string& run_folder) {
  const std::string path = run_folder + "/control";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file)
    return Fail(ErrorCode::kInput, "this is no run folder that can be controlled", run_folder,
                "give the folder that `gapless profile` or `gapless monitor` writes to");
  ControlHeader header{};
  if (!ReadAt(file.get(), header, 0) ||
      std::memcmp(header.magic, wire::kControlMagic.data(), sizeof header.magic) != 0 ||
      header.version != wire::kControlVersion)
    return Fail(ErrorCode::kInput, "this control block is not known here", path, "it is of another version of gapless");
  ControlBlock block(path, std::move(file));
  block.launcher_pid_ = header.launcher_pid;
  return block;
}

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
