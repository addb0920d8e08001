// SPDX-License-Identifier: Apache-2.0
// Checks the properties of every what-if, on a training to which each of them applies.
#include <filesystem>
#include <map>

#include "base/strings.h"
#include "predict/what_ifs/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Asked;
using testing::AskOf;
using testing::HandMade;
using testing::kUs;
using testing::Program;

constexpr HandMade::Inputs kImages{.shapes = "[[64,64,56,56],[64,64,3,3]]", .types = R"(["c10::Half","c10::Half"])"};
constexpr HandMade::Inputs kTensor{.shapes = "[[1024,1024],[1024,1024]]", .types = R"(["float","float"])"};

void Step(Program& program, int64_t work_us, int64_t waits_us) {
  program.Load(400).Copy(CopyKind::kHtoDPageable, 100).Copy(CopyKind::kHtoDPinned, 100);
  program.Under(
      "aten::conv2d",
      [&] {
        program.Kernel({.us = 50, .name = "nchwToNhwcKernel"});
        program.Kernel({.us = 200, .op_class = GpuOpClass::kConv, .unit = MatrixUnit::kNo});
      },
      kImages);
  program.Kernel({.op = "aten::mm", .us = work_us, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo});
  program.Kernel({.op = "aten::bmm", .us = 50, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo});
  program.Kernel({.op = "aten::_softmax", .us = 90, .op_class = GpuOpClass::kReduce});
  program.Kernel({.op = "aten::bmm", .us = 50, .op_class = GpuOpClass::kGemm, .unit = MatrixUnit::kNo});
  program.Kernel({.op = "aten::mul", .us = 80, .op_class = GpuOpClass::kPointwise, .inputs = kTensor});
  program.Kernel({.op = "aten::add", .us = 80, .op_class = GpuOpClass::kPointwise, .inputs = kTensor});
  program.Synchronize();
  program.Backward([&] { program.Kernel({.op = "aten::mm", .us = 600, .op_class = GpuOpClass::kGemm}); });
  program.AllReduce(1'000'000, 150 * kUs, waits_us * kUs).AllReduce(4'000'000, 450 * kUs).Join();
  program.Optimizer([&] {
    for (int i = 0; i < 5; ++i) program.Kernel({.op = "aten::add_", .us = 30});
  });
}

class EveryWhatIf : public ::testing::Test {
 protected:
  static std::shared_ptr<const Trace> Rank(int64_t rank, int64_t work_us, int64_t waits_us) {
    Program program;
    program.made().Rank(rank).Device({.vendor = Vendor::kNvidia, .name = "A100-SXM4-40GB", .compute_major = 8});
    program.Steps(3, [&] { Step(program, work_us, waits_us); });
    return program.Finish();
  }
  Analysed run_{std::vector{Rank(0, 400, 0), Rank(1, 300, 100)}};

  static std::string ItemOf(const WhatIf& what_if) {
    const std::map<std::string_view, std::string> values = {
        {"N", "128"}, {"K", what_if.name == "nosync" ? "4" : "0.5"}, {"MB", "1"}, {"NAME", "H100 SXM5"}};
    const auto value = values.find(what_if.value);
    return value == values.end() ? std::string(what_if.name) : StrCat(what_if.name, "=", value->second);
  }
};

TEST_F(EveryWhatIf, IsAFileOfItsNameWithALineOfHelp) {
  for (const WhatIf* what_if : AllWhatIfs()) {
    EXPECT_TRUE(std::filesystem::exists(StrCat("src/predict/what_ifs/", what_if->name, ".cc"))) << what_if->name;
    EXPECT_FALSE(what_if->help.empty()) << what_if->name;
    EXPECT_LE(what_if->help.size(), 60U) << what_if->name;
    EXPECT_FALSE(what_if->help.ends_with('.')) << what_if->name;
    EXPECT_TRUE(what_if->why.ends_with('.')) << what_if->name << " does not say how much, and from where";
  }
}

TEST_F(EveryWhatIf, HasCasesInTheirOrderAndTimesThatCanBe) {
  for (const WhatIf* what_if : AllWhatIfs()) {
    const Asked asked = AskOf(run_, ItemOf(*what_if));
    if (what_if->name == "threads") continue;  // applies to operators that compute on the host
    EXPECT_TRUE(asked.Applies()) << what_if->name << ": " << asked.effect.refusal << asked.effect.nothing;
    EXPECT_GT(asked.before_ns, 0);
    EXPECT_GE(asked.ns[0], asked.ns[1]) << what_if->name;
    EXPECT_GE(asked.ns[1], asked.ns[2]) << what_if->name;
    EXPECT_GT(asked.ns[2], 0) << what_if->name;
    EXPECT_NE(asked.ns[1], asked.before_ns) << what_if->name << " changes nothing";
    EXPECT_TRUE(asked.never_negative) << what_if->name;
  }
}

TEST_F(EveryWhatIf, TwiceGoesNoLessFarThanOnce) {
  for (const WhatIf* what_if : AllWhatIfs()) {
    const Asked once = AskOf(run_, ItemOf(*what_if)), twice = AskOf(run_, ItemOf(*what_if), 0, 2);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_GE((once.ns[i] - once.before_ns) * (twice.ns[i] - once.ns[i]), 0) << what_if->name << " " << i;
    EXPECT_TRUE(twice.never_negative) << what_if->name;
  }
}

TEST_F(EveryWhatIf, ThatDoesNotApplyLeavesTheStepAlone) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.us = 500}); });
  Analysed bare(std::vector{program.Finish()});
  for (const WhatIf* what_if : AllWhatIfs()) {
    const Asked asked = AskOf(bare, ItemOf(*what_if));
    EXPECT_TRUE(asked.Applies() || asked.ns[1] == asked.before_ns) << what_if->name;
    EXPECT_TRUE(asked.effect.refusal.empty() || asked.effect.nothing.empty()) << what_if->name << ": one of both";
  }
}

TEST_F(EveryWhatIf, BearsARecordingOfNothing) {
  HandMade made;
  Analysed empty(made);
  for (const WhatIf* what_if : AllWhatIfs()) AskOf(empty, ItemOf(*what_if));
}

}  // namespace
}  // namespace gapless::internal
