// SPDX-License-Identifier: Apache-2.0
// Checks which external tools (such as nsys and ncu) are installed, and their versions. A tool that is missing is
// no fault: it is reported as unknown, with what it would be good for.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/nsight/programs.h"

namespace gapless::internal::tools_doctorcheck {
namespace {

struct Tool {
  const char* program;
  const char* lets;  // what it is good for here
};
constexpr Tool kTools[] = {
    {"nsys", "gapless profile --with nsys"},
    {"ncu", "gapless profile --with ncu"},
    {"dcgmi", "telemetry of tensor cores and memory"},
    {"py-spy", "Python profiles of native frames"},
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
      findings.push_back({Health::kUnknown, tool.program, "not installed", StrCat("only needed for: ", tool.lets),
                          std::string(HowToGet(tool.program))});
      continue;
    }
    const std::string version = VersionIn(*lines);
    findings.push_back({Health::kOk, tool.program, version.empty() ? "there" : version, "", ""});
  }
  return findings;
}

}  // namespace

DOCTORCHECK(tools) = {.name = "tools", .help = "Other profilers: nsys, ncu, dcgmi, py-spy", .look = Look};

}  // namespace gapless::internal::tools_doctorcheck
