// SPDX-License-Identifier: Apache-2.0
// Tests the text and the JSON of `gapless doctor`.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "report/doctor/report.h"

namespace gapless::internal {
namespace {

const std::vector<CheckedFinding> kFindings = {
    {"shared_memory",
     {Health::kProblem, "shared memory", "64 MB", "loader workers pass batches through it and die when it is full",
      "docker run --shm-size=8g (or --ipc=host); sudo mount -o remount,size=8g /dev/shm"}},
    {"ptrace", {Health::kWarning, "attaching", "ptrace_scope is 1", "py-spy cannot attach", "sudo sysctl x=0"}},
    {"limits", {Health::kOk, "open files", "1,048,576", "", ""}},
    {"tools", {Health::kUnknown, "nsys", "not installed", "only needed for …", "apt install it"}},
};

TEST(DoctorText, OneLineForWhatIsWellMoreForWhatIsNot) {
  EXPECT_EQ(DoctorText(kFindings, {.width = 80, .colour = false, .utf8 = true}),
            "1 problem, 1 warning\n"
            "\n"
            "problem  shared memory     64 MB\n"
            "                           loader workers pass batches through it and die when\n"
            "                           it is full\n"
            "                           → docker run --shm-size=8g (or --ipc=host); sudo\n"
            "                             mount -o remount,size=8g /dev/shm\n"
            "warning  attaching         ptrace_scope is 1\n"
            "                           py-spy cannot attach\n"
            "                           → sudo sysctl x=0\n"
            "ok       open files        1,048,576\n"
            "unknown  nsys              not installed → apt install it\n");
}

TEST(DoctorText, KeepsToTheWidthAndToAscii) {
  for (const int width : {40, 60, 80, 120}) {
    const std::string text = DoctorText(kFindings, {.width = width, .colour = false, .utf8 = false});
    for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), std::max(width, 48)) << line;
    for (const char c : text) EXPECT_GE(c, 0);
  }
}

TEST(DoctorText, AllIsWell) {
  const std::vector<CheckedFinding> well = {kFindings[2], kFindings[3]};
  EXPECT_TRUE(IsHealthy(well));
  EXPECT_TRUE(DoctorText(well, {.width = 80}).starts_with("nothing stands in the way\n"));
}

TEST(DoctorJson, SaysTheSame) {
  EXPECT_FALSE(IsHealthy(kFindings));
  const std::string json = DoctorJson(kFindings);
  EXPECT_NE(json.find("\"healthy\": false"), std::string::npos);
  EXPECT_NE(json.find("\"check\": \"shared_memory\""), std::string::npos);
  EXPECT_NE(json.find("\"health\": \"unknown\""), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
