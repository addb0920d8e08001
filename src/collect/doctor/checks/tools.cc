// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "collect/doctor/check.h"

namespace gapless::internal {
namespace {

struct Tool {
  const char* program;
  const char* lets;  // what it is good for here
  const char* get;
};
constexpr Tool kTools[] = {
    {"nsys", "gapless profile --with nsys", "apt install nsight-systems-cli (from NVIDIA's repository)"},
    {"ncu", "gapless profile --with ncu", "apt install nsight-compute (it comes with the CUDA toolkit)"},
    {"dcgmi", "telemetry of tensor cores and memory", "apt install datacenter-gpu-manager"},
    {"py-spy", "Python profiles of native frames", "pip install py-spy"},
};

// The last line with a digit: some print a name and a copyright first.
std::string VersionIn(const std::vector<std::string>& lines) {
  std::string found;
  for (const std::string& line : lines) {
    const bool names_version = ContainsIgnoreCase(line, "version") || found.empty();
    if (names_version && line.find_first_of("0123456789") != std::string::npos) found = line;
  }
  return Printable(Ellipsize(found, 50));
}

std::vector<HealthFinding> Look(const Surroundings& around) {
  std::vector<HealthFinding> findings;
  for (const Tool& tool : kTools) {
    const auto lines = around.output_of({tool.program, "--version"});
    if (!lines) {
      findings.push_back(
          {Health::kUnknown, tool.program, "not installed", StrCat("only needed for: ", tool.lets), tool.get});
      continue;
    }
    const std::string version = VersionIn(*lines);
    findings.push_back({Health::kOk, tool.program, version.empty() ? "there" : version, "", ""});
  }
  return findings;
}

}  // namespace

DOCTORCHECK(tools) = {.name = "tools", .help = "Other profilers: nsys, ncu, dcgmi, py-spy", .look = Look};

}  // namespace gapless::internal
