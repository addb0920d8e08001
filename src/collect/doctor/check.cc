// SPDX-License-Identifier: Apache-2.0
// Runs all checks of `gapless doctor` and sorts their findings by severity. Surroundings are the real machine here;
// tests pass a fake one.
#include "collect/doctor/check.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/strings.h"
#include "collect/telemetry/child_lines.h"

namespace gapless::internal {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// Returns the output of a program by lines; nullopt if it is not installed, or has not ended in time: it is then
// killed.
std::optional<std::vector<std::string>> OutputOf(const std::vector<std::string>& argv) {
  if (argv.empty()) return std::nullopt;
  std::vector<std::string> command = argv;
  command[0] = FindProgram(argv[0]);
  ChildLines child;
  if (command[0].empty() || !child.Start(command)) return std::nullopt;
  std::vector<std::string> lines;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!child.ended()) {
    if (std::chrono::steady_clock::now() > until) return std::nullopt;
    for (std::string& line : child.Take()) lines.push_back(std::move(line));
    poll(nullptr, 0, 5);
  }
  return lines;
}

std::optional<uint64_t> SoftLimit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

// Returns the place of a finding in the report: problems first.
int Order(Health health) {
  switch (health) {
    case Health::kProblem: return 0;
    case Health::kWarning: return 1;
    case Health::kOk: return 2;
    case Health::kUnknown: return 3;
  }
  return 3;
}

}  // namespace

Surroundings RealSurroundings() {
  Surroundings around;
  around.environment = [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
  around.output_of = OutputOf;
  around.soft_limit = SoftLimit;
  around.privileged = geteuid() == 0;
  auto library = nvml::Library::Open(around.sources.nvml_library);
  if (library)
    around.nvml = std::move(*library);
  else
    around.nvml_error = library.error();
  return around;
}

std::vector<CheckedFinding> Examine(const Surroundings& around) {
  std::vector<CheckedFinding> all;
  for (const DoctorCheck* check : AllDoctorChecks())
    for (HealthFinding& finding : check->look(around)) all.push_back({check->name, std::move(finding)});
  std::stable_sort(all.begin(), all.end(), [](const CheckedFinding& a, const CheckedFinding& b) {
    return Order(a.finding.health) < Order(b.finding.health);
  });
  return all;
}

std::vector<HealthFinding> ForEachGpu(const Surroundings& around,
                                      const std::function<std::optional<HealthFinding>(size_t, nvml::Device)>& device) {
  std::vector<HealthFinding> findings;
  if (around.nvml == nullptr) return findings;
  const auto& devices = around.nvml->devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] == nullptr) continue;
    auto finding = device(i, devices[i]);
    if (!finding) continue;
    finding->subject = StrCat("GPU ", i, ' ', finding->subject);
    findings.push_back(std::move(*finding));
  }
  return findings;
}

}  // namespace gapless::internal
