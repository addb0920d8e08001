// SPDX-License-Identifier: Apache-2.0
// Checks the soft limits of open files and locked memory, with which large jobs fail late and with unclear
// messages.
#include <sys/resource.h>

#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::limits_doctorcheck {
namespace {

constexpr uint64_t kFewFiles = 4096;  // a loader worker holds a descriptor per tensor it passes on
constexpr uint64_t kLittleMemory = 64ULL * 1024 * 1024;

HealthFinding OpenFiles(const Surroundings& around) {
  const auto limit = around.soft_limit(RLIMIT_NOFILE);
  const std::string saw = limit ? FormatCount(static_cast<int64_t>(*limit)) : "unlimited";
  if (!limit || *limit >= kFewFiles) return {Health::kOk, "open files", saw, "", ""};
  return {Health::kWarning, "open files", saw, "data loaders with many workers fail with \"Too many open files\"",
          "ulimit -n 65536"};
}

HealthFinding LockedMemory(const Surroundings& around) {
  const auto limit = around.soft_limit(RLIMIT_MEMLOCK);
  const std::string saw = limit ? FormatBytes(static_cast<int64_t>(*limit)) : "unlimited";
  if (!limit || *limit >= kLittleMemory) return {Health::kOk, "locked memory", saw, "", ""};
  return {Health::kWarning, "locked memory", saw,
          "NCCL over InfiniBand needs to lock its buffers; pinned memory of CUDA does not count",
          "ulimit -l unlimited (in a container: --ulimit memlock=-1)"};
}

std::vector<HealthFinding> Look(const Surroundings& around) {
  if (!around.soft_limit) return {};
  return {OpenFiles(around), LockedMemory(around)};
}

}  // namespace

DOCTORCHECK(limits) = {.name = "limits", .help = "Limits of open files and locked memory", .look = Look};

}  // namespace gapless::internal::limits_doctorcheck
