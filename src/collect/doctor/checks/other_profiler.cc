// SPDX-License-Identifier: Apache-2.0
// Checks for variables by which other profilers are switched on. Only one of them can use CUPTI.
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal::other_profiler_doctorcheck {
namespace {

struct Variable {
  const char* name;
  const char* whose;
};
constexpr Variable kVariables[] = {
    {"CUDA_INJECTION64_PATH", "a library is injected into CUDA programs"},
    {"NVTX_INJECTION64_PATH", "a library takes the NVTX ranges"},
    {"NSYS_PROFILING_SESSION_ID", "nsys is recording this shell"},
    {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "ncu is measuring this shell"},
    {"KINETO_USE_DAEMON", "a daemon drives PyTorch's profiler"},
};

std::vector<HealthFinding> Look(const Surroundings& around) {
  std::vector<HealthFinding> findings;
  for (const auto& [name, whose] : kVariables) {
    const auto value = around.environment(name);
    if (!value || value->empty()) continue;
    findings.push_back(
        {Health::kWarning, "other profiler", Printable(StrCat(name, '=', Ellipsize(*value, 60))),
         StrCat(whose, "; two profilers cannot use CUPTI at the same time, so gapless then does not record the GPU"),
         StrCat("unset ", name)});
  }
  if (findings.empty()) findings.push_back({Health::kOk, "other profiler", "none switched on", "", ""});
  return findings;
}

}  // namespace

DOCTORCHECK(other_profiler) = {
    .name = "other_profiler", .help = "Is another profiler switched on already?", .look = Look};

}  // namespace gapless::internal::other_profiler_doctorcheck
