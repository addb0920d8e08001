// SPDX-License-Identifier: Apache-2.0
// A check of `gapless doctor`: looks at one thing that makes a machine slow or unable to profile. One thing = one
// file in collect/doctor/checks/.
//
// To add one: write src/collect/doctor/checks/<name>.cc and end it with
//   DOCTORCHECK(<name>) = {.name = "<name>", .help = "…", .look = Look};
// A check changes nothing. It reports kUnknown for what it cannot inspect, and kOk or nothing where there is no
// GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/nvml.h"

namespace gapless::internal {

enum class Health : uint8_t {
  kOk,
  kWarning,  // costs time, or takes a part of what can be recorded
  kProblem,  // stands in the way of recording or training
  kUnknown   // is not there, or cannot be looked at
};
inline constexpr std::string_view kHealthNames[] = {"ok", "warning", "problem", "unknown"};
constexpr std::string_view ToString(Health health) { return kHealthNames[static_cast<size_t>(health)]; }

struct HealthFinding {
  Health health = Health::kUnknown;
  std::string subject{};  // "GPU 0 clocks": what was looked at, at most 20 columns
  std::string saw{};      // "64 MB": one line without a period
  std::string why{};      // why it matters, one sentence; "" when all is well
  std::string fix{};      // what to type; "" when there is nothing to do
};

// Surroundings are the machine as checks see it. Tests give directories and answers of their own.
struct Surroundings {
  TelemetrySources sources{};
  std::string shared_memory = "/dev/shm";
  std::function<std::optional<std::string>(std::string_view name)> environment{};
  // The lines a program prints when run as `argv`; nullopt: it is not there, or it did not end within five seconds.
  std::function<std::optional<std::vector<std::string>>(const std::vector<std::string>& argv)> output_of{};
  std::function<std::optional<uint64_t>(int resource)>
      soft_limit{};         // the limit that getrlimit returns; nullopt: unlimited
  bool privileged = false;  // may do what only root may
  // NVIDIA's library; when null, nvml_error says why.
  std::shared_ptr<const nvml::Library> nvml{};
  Error nvml_error{};
};
// Returns the surroundings of this machine and process.
Surroundings RealSurroundings();

struct DoctorCheck {
  std::string_view name;  // equals the file name
  std::string_view help;  // one line: what is looked at
  std::vector<HealthFinding> (*look)(const Surroundings& around);
};

#define DOCTORCHECK(n)                      \
  extern const DoctorCheck n##_doctorcheck; \
  constinit const DoctorCheck n##_doctorcheck

std::span<const DoctorCheck* const> AllDoctorChecks();  // sorted by name; generated from the folder

struct CheckedFinding {
  std::string_view check;
  HealthFinding finding;
};
// The findings of all checks: problems, then warnings, then what is well, then what is unknown.
std::vector<CheckedFinding> Examine(const Surroundings& around);

// Calls `one(number, device)` for every GPU that can be reached and joins the findings.
std::vector<HealthFinding> ForEachGpu(const Surroundings& around,
                                      const std::function<std::optional<HealthFinding>(size_t, nvml::Device)>& device);

}  // namespace gapless::internal
