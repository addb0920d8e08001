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
  // If the dimensions were not recorded, the next operator shows them.
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

const Op kBias{"aten::add_", "[[2,3,9,7],[1,3,1,1],[]]", R"(["float","float","Scalar"])", R"(["","","1"])"};
const Op kRelu{"aten::relu_", "[[2,3,9,7]]", R"(["float"])"};
Op Pool(std::string_view values) {
  return {"aten::max_pool2d_with_indices", "[[2,3,9,7],[],[],[],[],[]]",
          R"(["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"])", values};
}
constexpr std::string_view kThreeByTwo = R"(["","[3, 2]","[2, 1]","[1, 0]","[1, 1]","False"])";

TEST(ForgePlan, EndsWithTheWindowsOfAPooling) {
  const KernelPlan plan = PlanOf({kBias, kRelu, Pool(kThreeByTwo)});
  ASSERT_TRUE(plan.window.has_value());
  EXPECT_EQ(plan.window->size, (std::array<int64_t, 2>{3, 2}));
  EXPECT_EQ(plan.window->padding, (std::array<int64_t, 2>{1, 0}));
  EXPECT_EQ(plan.space, (Shape{2, 3, 9, 7}));
  EXPECT_EQ(plan.last().shape, (Shape{2, 3, 5, 6}));
  EXPECT_EQ(Calls(plan).back(), "torch.nn.functional.max_pool2d(v1, (3, 2), (2, 1), (1, 0), (1, 1), False)");
  // A plane is a row: the bias is one number for it.
  EXPECT_EQ(plan.reduced, 2u);
  EXPECT_EQ(plan.inputs[1].level, NodeLevel::kRow);
  EXPECT_EQ(plan.bytes(), 4 * (2 * 3 * 9 * 7 + 3 + 2 * 3 * 5 * 6));
  EXPECT_EQ(KernelNameOf(plan), "fused_add_relu_max_pool2d");
  // Other windows are another kernel, and nothing follows a pooling.
  const Op other = Pool(R"(["","[3, 2]","[2, 1]","[1, 1]","[1, 1]","False"])");
  EXPECT_NE(plan.Signature(), PlanOf({kBias, kRelu, other}).Signature());
  EXPECT_EQ(Parts({kBias, kRelu, Pool(kThreeByTwo), {"aten::relu_", "[[2,3,5,6]]", R"(["float"])"}}).size(), 2u);
}

TEST(ForgePlan, RefusesWindowsThatItDoesNotKnow) {
  const auto reason = [](std::string_view values) { return Parts({Pool(values)})[0].why_not; };
  EXPECT_NE(reason("[]").find("not recorded"), std::string::npos);
  EXPECT_NE(reason(R"(["","[2, 2, 2]","[2]","[0]","[1]","False"])").find("two dimensions"), std::string::npos);
  EXPECT_NE(reason(R"(["","[16, 16]","[2]","[0]","[1]","False"])").find("255"), std::string::npos);
  EXPECT_NE(reason(R"(["","[10, 2]","[2]","[0]","[1]","False"])").find("does not fit"), std::string::npos);
  // Without steps they are the window's sizes.
  EXPECT_EQ(PlanOf({kRelu, Pool(R"(["","[2, 2]","[]","[0]","[1]","False"])")}).last().shape, (Shape{2, 3, 4, 3}));
}

// Counts windows as they are laid out: each begins `step` behind the last, within elements and padding.
TEST(ForgePlan, CountsTheWindowsOfADimension) {
  for (const int64_t elements : {1, 4, 5, 6, 7, 13})
    for (const int64_t size : {1, 2, 3})
      for (const int64_t step : {1, 2, 3})
        for (const int64_t dilation : {1, 2})
          for (const bool ceil : {false, true}) {
            const int64_t padding = size / 2, span = dilation * (size - 1) + 1;
            int64_t count = 0;
            for (int64_t begin = -padding; begin + span <= elements + padding; begin += step) ++count;
            const int64_t next = -padding + count * step;  // a last one that begins within the elements may reach over
            if (ceil && count > 0 && next < elements && next - step + span < elements + padding) ++count;
            const PlanWindow window{{size, size}, {step, step}, {padding, padding}, {dilation, dilation}, ceil};
            EXPECT_EQ(window.Results(0, elements), count)
                << elements << " of " << size << " by " << step << " dilated " << dilation << (ceil ? " ceil" : "");
          }
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

// Lines for windows are in the files of a chain with one alone, and the page says what is the library's.
TEST(ForgeWriter, WritesWindowsWhereThereAreSome) {
  const auto with =
      WriteKernel(PlanOf({kBias, kRelu, Pool(kThreeByTwo)}), {.name = "mine", .after = "aten::convolution"});
  const auto without = WriteKernel(PlanOf({kBias, kRelu}), {.name = "mine"});
  ASSERT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size(); ++i) {
    for (const auto& file : {with[i], without[i]}) {
      EXPECT_EQ(file.text.find("@?"), std::string::npos) << file.name;
      EXPECT_EQ(file.text.find("@!"), std::string::npos) << file.name;
    }
    const bool has_window = with[i].name.starts_with("mine") && !with[i].name.ends_with(".cu");
    EXPECT_TRUE(!has_window || with[i].text.find("plane") != std::string::npos) << with[i].name;
    EXPECT_EQ(without[i].text.find("plane"), std::string::npos) << without[i].name;
  }
  EXPECT_NE(with[0].text.find("`convolution`, which ran right before"), std::string::npos);
  EXPECT_NE(with[0].text.find("as `x1`"), std::string::npos);
  EXPECT_NE(with[2].text.find("kSizeDown = 3, kSizeAcross = 2"), std::string::npos);
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
