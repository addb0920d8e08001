// SPDX-License-Identifier: Apache-2.0
// What holds for every what-if, on a training that has something for each of them.
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

  static std::string ItemOf(const WhatIf& one) {
    const std::map<std::string_view, std::string> values = {
        {"N", "128"}, {"K", one.name == "nosync" ? "4" : "0.5"}, {"MB", "1"}, {"NAME", "H100 SXM5"}};
    const auto value = values.find(one.value);
    return value == values.end() ? std::string(one.name) : StrCat(one.name, "=", value->second);
  }
};

TEST_F(EveryWhatIf, IsAFileOfItsNameWithALineOfHelp) {
  for (const WhatIf* one : AllWhatIfs()) {
    EXPECT_TRUE(std::filesystem::exists(StrCat("src/predict/what_ifs/", one->name, ".cc"))) << one->name;
    EXPECT_FALSE(one->help.empty()) << one->name;
    EXPECT_LE(one->help.size(), 60U) << one->name;
    EXPECT_FALSE(one->help.ends_with('.')) << one->name;
    EXPECT_TRUE(one->why.ends_with('.')) << one->name << " does not say how much, and from where";
  }
}

TEST_F(EveryWhatIf, HasCasesInTheirOrderAndTimesThatCanBe) {
  for (const WhatIf* one : AllWhatIfs()) {
    const Asked asked = AskOf(run_, ItemOf(*one));
    if (one->name == "threads") continue;  // of operators that compute on the host
    EXPECT_TRUE(asked.Applies()) << one->name << ": " << asked.effect.refusal << asked.effect.nothing;
    EXPECT_GT(asked.before_ns, 0);
    EXPECT_GE(asked.ns[0], asked.ns[1]) << one->name;
    EXPECT_GE(asked.ns[1], asked.ns[2]) << one->name;
    EXPECT_GT(asked.ns[2], 0) << one->name;
    EXPECT_NE(asked.ns[1], asked.before_ns) << one->name << " changes nothing";
    EXPECT_TRUE(asked.never_negative) << one->name;
  }
}

TEST_F(EveryWhatIf, TwiceGoesNoLessFarThanOnce) {
  for (const WhatIf* one : AllWhatIfs()) {
    const Asked once = AskOf(run_, ItemOf(*one)), twice = AskOf(run_, ItemOf(*one), 0, 2);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_GE((once.ns[i] - once.before_ns) * (twice.ns[i] - once.ns[i]), 0) << one->name << " " << i;
    EXPECT_TRUE(twice.never_negative) << one->name;
  }
}

TEST_F(EveryWhatIf, ThatDoesNotApplyLeavesTheStepAlone) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.us = 500}); });
  Analysed bare(std::vector{program.Finish()});
  for (const WhatIf* one : AllWhatIfs()) {
    const Asked asked = AskOf(bare, ItemOf(*one));
    EXPECT_TRUE(asked.Applies() || asked.ns[1] == asked.before_ns) << one->name;
    EXPECT_TRUE(asked.effect.refusal.empty() || asked.effect.nothing.empty()) << one->name << ": one of both";
  }
}

TEST_F(EveryWhatIf, BearsARecordingOfNothing) {
  HandMade made;
  Analysed empty(made);
  for (const WhatIf* one : AllWhatIfs()) AskOf(empty, ItemOf(*one));
}

}  // namespace
}  // namespace gapless::internal
