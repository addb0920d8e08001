// SPDX-License-Identifier: Apache-2.0
// Checks the properties of the model of every fix, on a training to which each of them applies.
#include <map>

#include "base/strings.h"
#include "predict/fixes/testing/program.h"

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
  program.Under("autograd::engine::evaluate_function: MmBackward0",
                [&] { program.Kernel({.op = "aten::isnan", .us = 20}); });
  program.AllReduce(1'000'000, 150 * kUs, waits_us * kUs).AllReduce(4'000'000, 450 * kUs).Join();
  program.Optimizer([&] {
    for (int i = 0; i < 5; ++i) program.Kernel({.op = "aten::add_", .us = 30});
  });
}

class EveryModel : public ::testing::Test {
 protected:
  static std::shared_ptr<const Trace> Rank(int64_t rank, int64_t work_us, int64_t waits_us) {
    Program program;
    program.made().Rank(rank).Device({.vendor = Vendor::kNvidia, .name = "A100-SXM4-40GB", .compute_major = 8});
    program.Steps(3, [&] { Step(program, work_us, waits_us); });
    return program.Finish();
  }
  Analysed run_{std::vector{Rank(0, 400, 0), Rank(1, 300, 100)}};

  static std::string ItemOf(const Fix& fix) {
    const std::map<std::string_view, std::string> values = {{"N", "128"},
                                                            {"K", fix.name == "nosync" ? "4" : "0.5"},
                                                            {"MB", "1"},
                                                            {"NAME", "H100 SXM5"},
                                                            {"HOW", fix.name == "pipeline" ? "2" : "keep"}};
    const auto value = values.find(fix.model.value);
    return value == values.end() ? std::string(fix.name) : StrCat(fix.name, "=", value->second);
  }
};

TEST_F(EveryModel, SaysHowMuchAndFromWhere) {
  for (const Fix* fix : FixesWithModel()) {
    EXPECT_LE(fix->help.size(), 60U) << fix->name;
    EXPECT_TRUE(fix->model.why.ends_with('.')) << fix->name;
  }
}

TEST_F(EveryModel, HasCasesInTheirOrderAndTimesThatCanBe) {
  for (const Fix* fix : FixesWithModel()) {
    const Asked asked = AskOf(run_, ItemOf(*fix));
    if (fix->name == "threads") continue;   // applies to operators that compute on the host
    if (fix->name == "fsdp") continue;      // applies to sharded parameters
    if (fix->name == "pipeline") continue;  // applies to stages of a pipeline
    EXPECT_TRUE(asked.Applies()) << fix->name << ": " << asked.effect.refusal << asked.effect.no_effect;
    EXPECT_GT(asked.before_ns, 0);
    EXPECT_GE(asked.ns[0], asked.ns[1]) << fix->name;
    EXPECT_GE(asked.ns[1], asked.ns[2]) << fix->name;
    EXPECT_GT(asked.ns[2], 0) << fix->name;
    EXPECT_NE(asked.ns[1], asked.before_ns) << fix->name << " changes nothing";
    EXPECT_TRUE(asked.never_negative) << fix->name;
  }
}

TEST_F(EveryModel, TwiceGoesNoLessFarThanOnce) {
  for (const Fix* fix : FixesWithModel()) {
    const Asked once = AskOf(run_, ItemOf(*fix)), twice = AskOf(run_, ItemOf(*fix), 0, 2);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_GE((once.ns[i] - once.before_ns) * (twice.ns[i] - once.ns[i]), 0) << fix->name << " " << i;
    EXPECT_TRUE(twice.never_negative) << fix->name;
  }
}

TEST_F(EveryModel, ThatDoesNotApplyLeavesTheStepAlone) {
  Program program;
  program.Steps(2, [&] { program.Kernel({.us = 500}); });
  Analysed bare(std::vector{program.Finish()});
  for (const Fix* fix : FixesWithModel()) {
    const Asked asked = AskOf(bare, ItemOf(*fix));
    EXPECT_TRUE(asked.Applies() || asked.ns[1] == asked.before_ns) << fix->name;
    EXPECT_TRUE(asked.effect.refusal.empty() || asked.effect.no_effect.empty()) << fix->name << ": one of both";
  }
}

TEST_F(EveryModel, BearsARecordingOfNothing) {
  HandMade made;
  Analysed empty(made);
  for (const Fix* fix : FixesWithModel()) AskOf(empty, ItemOf(*fix));
}

}  // namespace
}  // namespace gapless::internal
