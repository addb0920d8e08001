// SPDX-License-Identifier: Apache-2.0
#include "validate/output_parity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gapless::internal {
namespace {

// Ten scores of spread 2.8723, the standard deviation of 0 to 9 (divided by n).
constexpr double kSpread = 2.8722813232690143;

TensorRecord Scores(double error_of_all, double error_of_one = 0) {
  TensorRecord scores{.name = "logits", .shape = "(1, 10)", .type = "float32"};
  for (int i = 0; i < 10; ++i) scores.samples.push_back(i + error_of_all + (i == 3 ? error_of_one : 0));
  scores.code = static_cast<uint32_t>(std::lround(1e6 * (error_of_all + error_of_one)));
  return scores;
}

TensorRecord Ids(uint32_t code) {
  return {.name = "input_ids", .shape = "(1, 4)", .type = "int64", .whole = true, .code = code};
}

CallRecord Call(TensorRecord output, uint32_t input = 1, bool goes_on = false, int64_t choice = 9) {
  return {.goes_on = goes_on, .inputs = {Ids(input)}, .outputs = {std::move(output)}, .choices = {choice}};
}

OutputBaseline Baseline(double of_probe, Precision precision = Precision::kFp32) {
  OutputBaseline all{.calls = {Call(Scores(0), 1), Call(Scores(0), 2)}};
  all.probes.push_back({UnitOf(precision), {Call(Scores(of_probe), 1), Call(Scores(of_probe), 2)}});
  return all;
}

TEST(OutputParity, TheSameBytesAreExact) {
  const OutputBaseline all{.calls = {Call(Scores(0))}};
  const ParityReport report = DecideOutputs(all, {Call(Scores(0))}, Precision::kFp32);
  EXPECT_EQ(report.verdict, ParityVerdict::kExact) << report.reason;
  EXPECT_EQ(report.steps, 1u);
}

TEST(OutputParity, AProbeIsAskedForWhereBytesDiffer) {
  const OutputBaseline all{.calls = {Call(Scores(0))}};
  const ParityReport report = DecideOutputs(all, {Call(Scores(1e-3))}, Precision::kBf16);
  EXPECT_EQ(report.need, ParityNeed::kProbe);
  EXPECT_EQ(report.need_noise, 0x1p-9);
}

TEST(OutputParity, ErrorsAreSharesOfTheSpreadAndHeldToSixteenTimesTheProbe) {
  const OutputBaseline all = Baseline(1e-3);
  const auto held = [&](double error) {
    return DecideOutputs(all, {Call(Scores(0), 1), Call(Scores(error), 2)}, Precision::kFp32);
  };
  const ParityReport within = held(15.9e-3), beyond = held(16.1e-3);
  EXPECT_EQ(within.verdict, ParityVerdict::kRounding) << within.reason;
  EXPECT_NEAR(*within.value, 15.9e-3 / kSpread, 1e-12);
  EXPECT_NEAR(*within.limit, 16e-3 / kSpread, 1e-12);
  EXPECT_EQ(beyond.verdict, ParityVerdict::kOtherTraining) << beyond.reason;
  EXPECT_EQ(beyond.step, 2u);
  EXPECT_EQ(beyond.tensor, "output logits");
}

TEST(OutputParity, OneElementFarOffIsRefused) {
  const ParityReport report =
      DecideOutputs(Baseline(1e-3), {Call(Scores(0, 17e-3), 1), Call(Scores(0), 2)}, Precision::kFp32);
  EXPECT_EQ(report.verdict, ParityVerdict::kOtherTraining) << report.reason;
  EXPECT_NEAR(*report.value, 17e-3 / kSpread, 1e-12);
}

TEST(OutputParity, TheClaimChoosesTheProbe) {
  OutputBaseline all = Baseline(1e-6);
  all.probes.push_back({UnitOf(Precision::kBf16), {Call(Scores(1e-2), 1), Call(Scores(1e-2), 2)}});
  const OutputRecording coarse = {Call(Scores(2e-2), 1), Call(Scores(2e-2), 2)};
  EXPECT_EQ(DecideOutputs(all, coarse, Precision::kFp32).verdict, ParityVerdict::kOtherTraining);
  EXPECT_EQ(DecideOutputs(all, coarse, Precision::kBf16).verdict, ParityVerdict::kRounding);
}

TEST(OutputParity, OtherShapesAndNumbersThatAreNotFiniteAreRefused) {
  TensorRecord wide = Scores(0), lost = Scores(1e-9);
  wide.shape = "(1, 11)";
  lost.finite = false;
  for (const auto& [output, test] : {std::pair(wide, "shape"), std::pair(lost, "finite")}) {
    const ParityReport report = DecideOutputs(Baseline(1e-3), {Call(output, 1)}, Precision::kBf16);
    EXPECT_EQ(report.need, ParityNeed::kProbe) << test;
    const ParityReport again = DecideOutputs(Baseline(1e-3, Precision::kBf16), {Call(output, 1)}, Precision::kBf16);
    EXPECT_EQ(again.verdict, ParityVerdict::kOtherTraining) << again.reason;
    EXPECT_EQ(again.test, test);
  }
}

TEST(OutputParity, InputsThatTheCommandItselfDoesNotRepeatDecideNothing) {
  OutputBaseline all = Baseline(1e-3);
  const OutputRecording other = {Call(Scores(1), 7), Call(Scores(1), 8)};
  EXPECT_EQ(DecideOutputs(all, other, Precision::kFp32).verdict, ParityVerdict::kOtherTraining);
  all.probes[0].calls = other;
  EXPECT_EQ(DecideOutputs(all, other, Precision::kFp32).verdict, ParityVerdict::kCannotTell);
  EXPECT_EQ(DecideOutputs(all, {}, Precision::kFp32).verdict, ParityVerdict::kCannotTell);
}

// A text of four tokens: the third is another one, and so is all that follows. Only what goes before is compared.
TEST(OutputParity, ATextIsComparedUpToItsFirstOtherToken) {
  const auto text = [](double error, std::vector<uint32_t> inputs, std::vector<int64_t> tokens) {
    OutputRecording calls;
    for (size_t i = 0; i < inputs.size(); ++i)
      calls.push_back(Call(Scores(i < 3 ? error : 100 * error), inputs[i], i > 0, tokens[i]));
    calls.push_back(Call(Scores(error), 99, false, 5));
    return calls;
  };
  OutputBaseline all{.calls = text(0, {1, 2, 3, 4}, {2, 3, 4, 5})};
  all.probes.push_back({UnitOf(Precision::kFp32), text(1e-3, {1, 2, 3, 4}, {2, 3, 4, 5})});
  const ParityReport report = DecideOutputs(all, text(1e-3, {1, 2, 3, 8}, {2, 3, 8, 6}), Precision::kFp32);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding) << report.reason;
  EXPECT_EQ(report.steps, 4u);
  // Three of five: the third differs, and the fourth continues another text.
  EXPECT_NE(report.reason.find("the same choice in 60.0 %, another one first in call 3"), std::string::npos)
      << report.reason;
}

}  // namespace
}  // namespace gapless::internal
