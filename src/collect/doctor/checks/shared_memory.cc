// SPDX-License-Identifier: Apache-2.0
// Checks the size of /dev/shm: containers have 64 MiB by default, and less than 1 GiB is warned about.
#include <sys/statvfs.h>

#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::shared_memory_doctorcheck {
namespace {

constexpr int64_t kDefaultOfContainers = int64_t{64} * 1024 * 1024, kLittle = int64_t{1} << 30;

std::vector<HealthFinding> Look(const Surroundings& around) {
  struct statvfs info {};
  if (statvfs(around.shared_memory.c_str(), &info) != 0)
    return {{Health::kUnknown, "shared memory", StrCat("there is no ", around.shared_memory), "", ""}};
  const auto bytes = static_cast<int64_t>(info.f_blocks * info.f_frsize);
  const std::string saw = FormatBytes(bytes);
  if (bytes >= kLittle) return {{Health::kOk, "shared memory", saw, "", ""}};
  return {{bytes <= kDefaultOfContainers ? Health::kProblem : Health::kWarning, "shared memory", saw,
           "loader workers and NCCL pass data through it, and die with a bus error when it is full",
           "docker run --shm-size=8g (or --ipc=host); sudo mount -o remount,size=8g /dev/shm"}};
}

}  // namespace

DOCTORCHECK(shared_memory) = {.name = "shared_memory", .help = "Size of /dev/shm", .look = Look};

}  // namespace gapless::internal::shared_memory_doctorcheck
