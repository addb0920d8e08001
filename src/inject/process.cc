// SPDX-License-Identifier: Apache-2.0
// Reads the rank of the process and the decision to record from the environment.
#include "inject/process.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace gapless::internal::inject {
namespace {

// A whole number that is not negative, else -1.
int64_t NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  char* end = nullptr;
  const long long number = std::strtoll(text, &end, 10);
  return *end == '\0' && number >= 0 ? number : -1;
}

bool Equals(const char* variable, const char* value) {
  const char* const text = std::getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

// Returns a sentence if one of Nsight's tools runs this process, by the variables that they set; else null.
const char* OtherProfiler() {
  if (std::getenv("NSYS_PROFILING_SESSION_ID") != nullptr)
    return "Nsight Systems records this process and owns CUPTI: the native collector does not record";
  if (std::getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") != nullptr || std::getenv("NV_TPS_LAUNCH_TOKEN") != nullptr)
    return "a tool of Nsight runs this process and owns CUPTI: the native collector does not record";
  return nullptr;
}

}  // namespace

Rank RankOfProcess() {
  struct Source {
    const char *rank, *world_size;
  };
  constexpr Source kSources[] = {{"RANK", "WORLD_SIZE"},
                                 {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                 {"PMIX_RANK", "PMIX_SIZE"},
                                 {"PMI_RANK", "PMI_SIZE"}};
  for (const Source& source : kSources)
    if (const int64_t rank = NumberIn(source.rank); rank >= 0) return {rank, NumberIn(source.world_size)};
  const int64_t tasks = NumberIn("SLURM_NTASKS");
  if (const int64_t rank = NumberIn("SLURM_PROCID"); rank >= 0 && tasks > 1) return {rank, tasks};
  return {};
}

uint64_t LimitBytes() {
  constexpr int64_t kDefaultMb = 4096, kMaxMb = int64_t{1} << 40;
  const int64_t given = NumberIn("GAPLESS_CUPTI_LIMIT_MB");
  return static_cast<uint64_t>(given > 0 && given < kMaxMb ? given : kDefaultMb) * 1'000'000;
}

Decision Decide(const char*& why) {
  const char* const run = std::getenv("GAPLESS_RUN");
  if (run == nullptr || *run == '\0' || Equals("GAPLESS_DISABLE", "1") || Equals("GAPLESS_CUPTI", "never"))
    return Decision::kOff;
  if (!Equals("GAPLESS_CUPTI", "always") && dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) return Decision::kOff;
  why = OtherProfiler();
  return why == nullptr ? Decision::kCollect : Decision::kStepAside;
}

}  // namespace gapless::internal::inject
