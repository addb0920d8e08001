// SPDX-License-Identifier: Apache-2.0
// The command `gapless doctor`: runs all checks of the machine and prints their findings. The exit status is that of an
// error of the environment if a check found a problem; warnings do not count.
#include "cli/command.h"
#include "cli/output.h"
#include "report/doctor/report.h"

namespace gapless::internal::doctor_command {
namespace {

// Examines the real machine; tests give Examine() surroundings of their own.
Result<int> Execute(const Arguments& arguments, Session& session) {
  const std::vector<CheckedFinding> findings = Examine(RealSurroundings());
  RenderOptions options;
  options.width = session.terminal.width;
  options.utf8 = session.terminal.utf8;
  options.colour = session.terminal.colour;
  auto printed = PrintTextOrJson(
      arguments, [&] { return DoctorText(findings, options); }, [&] { return DoctorJson(findings); });
  if (!printed) return printed;
  return IsHealthy(findings) ? *printed : ExitStatus(ErrorCode::kEnvironment);
}

constexpr const TypeInfo* kDocuments[] = {&kDoctorDocument};
constexpr Example kExamples[] = {{"gapless doctor", "Looks at this machine"},
                                 {"gapless doctor --json", "The same for scripts"}};

}  // namespace

COMMAND(doctor) = {
    .name = "doctor",
    .place = {groups::kMore, 4},
    .help = "Report what makes this machine slow or prevents profiling",
    .about =
        "Checks the driver, the GPUs and their clocks, memory errors and links, permissions and limits, the "
        "processors, and the installed tools. Each finding has an observation, its effect and a command to "
        "run. Nothing is changed.\n\nThe exit status is 4 if a problem prevents recording or training, else "
        "0.",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::doctor_command
