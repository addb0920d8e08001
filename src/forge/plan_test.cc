// SPDX-License-Identifier: Apache-2.0
// Tests plans: which input of an operator is the result of the one before, what a kernel reads, where chains are cut,
// and what is refused. And the files: each key of a template is filled in, and a search finds what a recording has.
#include "forge/plan.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"
#include "base/strings.h"
#include "forge/find.h"
#include "forge/writer.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

struct Op {
  std::string_view name, shapes, types = R"(["float","float"])", values = "[]";
  bool in_backward = false;
};

std::vector<PlanPart> Parts(const std::vector<Op>& ops) {
  std::vector<std::vector<Input>> inputs;
  for (const Op& op : ops) inputs.push_back(ReadInputs(op.shapes, op.types, op.values));
  std::vector<RecordedOperator> chain;
  for (size_t i = 0; i < ops.size(); ++i)
    chain.push_back({.name = ops[i].name, .inputs = inputs[i], .in_backward = ops[i].in_backward});
  return PlanChain(chain);
}

KernelPlan PlanOf(const std::vector<Op>& ops) {
  auto parts = Parts(ops);
  EXPECT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].plan.has_value()) << parts[0].why_not;
  return parts[0].plan.value_or(KernelPlan{});
}

std::vector<std::string> Calls(const KernelPlan& plan) {
  std::vector<std::string> calls;
  for (const PlanLink& link : plan.links) calls.push_back(link.python);
  return calls;
}
using Texts = std::vector<std::string>;

const Op kAdd{"aten::add", "[[8,4],[4],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"};

TEST(ForgePlan, TakesTheResultForTheFirstInputThatFits) {
  const KernelPlan plan = PlanOf({kAdd, {"aten::mul", "[[4],[8,4]]"}, {"aten::relu_", "[[8,4]]"}});
  EXPECT_EQ(Calls(plan), (Texts{"torch.add(x0, x1, alpha=1)", "torch.mul(x2, v0)", "torch.relu(v1)"}));
  ASSERT_EQ(plan.inputs.size(), 3u);
  EXPECT_EQ(plan.inputs[1].shape, (Shape{4}));
  EXPECT_EQ(plan.last().shape, (Shape{8, 4}));
  // Each tensor once: 32 + 4 + 4 elements read and 32 written, of four bytes.
  EXPECT_EQ(plan.bytes(), 4 * (32 + 4 + 4 + 32));
  EXPECT_EQ(plan.Pattern(), "aten::add > aten::mul > aten::relu");
}

TEST(ForgePlan, ReadsANumberThatIsNotRecordedAsAnArgument) {
  const KernelPlan plan = PlanOf({{"aten::mul", "[[8,4],[]]", R"(["float","double"])"}, {"aten::exp", "[[8,4]]"}});
  ASSERT_EQ(plan.scalars.size(), 1u);
  EXPECT_FALSE(plan.scalars[0].value.has_value());
  const KernelPlan known =
      PlanOf({{"aten::clamp_min", "[[8,4],[]]", R"(["float","Scalar"])", R"(["","0.5"])"}, {"aten::exp", "[[8,4]]"}});
  ASSERT_EQ(known.scalars.size(), 1u);
  EXPECT_EQ(known.scalars[0].value, 0.5);
}

TEST(ForgePlan, KnowsTheRowsOfAReduction) {
  const Op square{"aten::pow", "[[8,4],[]]", R"(["float","Scalar"])", R"(["","2"])"};
  const Op mean{"aten::mean", "[[8,4],[],[],[]]", R"(["float","ScalarList","",""])", R"(["","[-1]","True",""])"};
  const KernelPlan plan = PlanOf({square, mean, {"aten::rsqrt", "[[8,1]]"}, {"aten::mul", "[[8,4],[8,1]]"}});
  EXPECT_EQ(plan.reduced, 1u);
  EXPECT_EQ(plan.result_level(), NodeLevel::kElement);
  const KernelPlan rows = PlanOf({square, mean, {"aten::rsqrt", "[[8,1]]"}});
  EXPECT_EQ(rows.result_level(), NodeLevel::kRow);
  EXPECT_EQ(rows.last().shape, (Shape{8, 1}));
  // Where the dimensions were not recorded, the next operator shows them.
  const Op unknown{"aten::mean", "[[8,4],[],[],[]]", R"(["float","","",""])"};
  EXPECT_FALSE(PlanOf({square, unknown, {"aten::rsqrt", "[[8]]"}}).keeps);
}

TEST(ForgePlan, CutsWhereNoInputFits) {
  const auto parts = Parts({kAdd, {"aten::relu", "[[8,4]]"}, {"aten::exp", "[[4,8]]"}, {"aten::neg", "[[4,8]]"}});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].count, 2u);
  EXPECT_EQ(parts[1].first, 2u);
  EXPECT_EQ(parts[1].plan->inputs.size(), 1u);
}

TEST(ForgePlan, RefusesWithTheReason) {
  const auto reason = [](const Op& op) { return Parts({op})[0].why_not; };
  EXPECT_NE(reason({"aten::native_dropout", "[[8,4]]"}).find("random"), std::string::npos);
  EXPECT_NE(reason({"aten::add", "[[8,4],[4]]", R"(["long int","long int"])"}).find("int64"), std::string::npos);
  EXPECT_NE(reason({"aten::relu", "[]", "[]"}).find("record_shapes"), std::string::npos);
  EXPECT_NE(reason({"aten::mean", "[[8,4],[]]", R"(["float",""])"}).find("whole tensor"), std::string::npos);
  EXPECT_NE(reason({"aten::_softmax", "[[8,4],[],[]]", R"(["float","Scalar",""])", R"(["","0","False"])"}).find("last"),
            std::string::npos);
  EXPECT_NE(reason({"mine::norm", "[[8,4]]"}).find("another library"), std::string::npos);
  EXPECT_NE(reason({"aten::my_own", "[[8,4]]"}).find("not in the table"), std::string::npos);
  Op gradient = kAdd;
  gradient.in_backward = true;
  EXPECT_NE(reason(gradient).find("its own gradient"), std::string::npos);
}

TEST(ForgePlan, CountsCastsAndKeepsTwoTypesAtMost) {
  const KernelPlan plan = PlanOf({{"aten::copy_", "[[8,4],[8,4],[]]", R"(["float","c10::BFloat16",""])"},
                                  {"aten::mul", "[[8,4],[4]]"},
                                  {"aten::copy_", "[[8,4],[8,4],[]]", R"(["c10::BFloat16","float",""])"}});
  EXPECT_EQ(plan.main, ElementType::kBf16);
  EXPECT_EQ(plan.last().type, ElementType::kBf16);
  EXPECT_EQ(plan.bytes(), 2 * 32 + 4 * 4 + 2 * 32);
}

// Nothing is left to fill in, and the file of the arithmetic has each direction.
TEST(ForgeWriter, FillsInEveryKey) {
  const KernelPlan plan = PlanOf({kAdd, {"aten::gelu", "[[8,4],[]]", R"(["float",""])", R"(["","none"])"}});
  EXPECT_EQ(KernelNameOf(plan), "fused_add_gelu");
  const auto files = WriteKernel(plan, {.name = "mine", .source_line = "model.py:41"});
  ASSERT_EQ(files.size(), 8u);
  for (const KernelFile& file : files) {
    for (const std::string_view key : {"NAME", "PATTERN", "INPUTS", "SHAPES", "KERNELS", "CALL", "ROWS_FORWARD"})
      EXPECT_EQ(file.text.find(StrCat("@", key, "@")), std::string::npos) << file.name << " " << key;
    EXPECT_NE(file.text.find("mine"), std::string::npos) << file.name;
  }
  EXPECT_NE(files[0].text.find("y = mine(x0, x1)"), std::string::npos);
  EXPECT_NE(files[0].text.find("model.py:41"), std::string::npos);
}

TEST(ForgeFind, AddsUpTheChainsThatOneKernelServes) {
  HandMade trace;
  trace.Device({.device = 0, .name = "NVIDIA A100-SXM4-80GB"});
  int64_t at = 0;
  const auto add = [&](const Op& op, int64_t ns) {
    trace.OperatorOn(op.name, at, at + 10, {.shapes = op.shapes, .types = op.types, .concrete = op.values},
                     testing::kMain, "model.py:7");
    trace.Kernel("k", {at + 1, at + 9, 10'000 + 100 * at, 10'000 + 100 * at + ns},
                 {.op_class = GpuOpClass::kPointwise});
    at += 10;
  };
  const Op large{"aten::add", "[[800,4],[4],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"};
  add(kAdd, 100), add({"aten::relu", "[[8,4]]"}, 50);
  add({"aten::dropout_like", "[[5]]"}, 30);
  add(large, 400), add({"aten::relu", "[[800,4]]"}, 200);
  const internal::Run run({trace.Finish()});
  Tables tables(run);
  const KernelSearch search = FindKernels(tables);
  ASSERT_EQ(search.candidates.size(), 1u);
  const KernelCandidate& one = search.candidates[0];
  EXPECT_EQ(one.calls, 2);
  EXPECT_EQ(one.kernels, 4);
  EXPECT_EQ(one.device_ns, 750);
  EXPECT_EQ(one.plan.space, (Shape{800, 4}));
  EXPECT_EQ(one.source_line, "model.py:7");
  EXPECT_EQ(one.bytes, 4 * (32 + 4 + 32) + 4 * (3200 + 4 + 3200));
  ASSERT_TRUE(one.bound_ns.has_value());
  EXPECT_NEAR(static_cast<double>(*one.bound_ns), static_cast<double>(one.bytes) / 2039,
              1.5);  // GB/s of the data sheet
  ASSERT_EQ(search.refused.size(), 1u);
  EXPECT_EQ(search.refused[0].device_ns, 30);
}

}  // namespace
}  // namespace gapless::internal
