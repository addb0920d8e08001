// SPDX-License-Identifier: Apache-2.0
// Tests what is compared beside the effect of a step: random numbers and samples that come again, inputs, and the lists
// of facts about two programs.
#include <gtest/gtest.h>

#include "validate/parity.h"
#include "validate/testing/parity_recordings.h"

namespace gapless::internal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Random numbers or samples that come again, where they did not, are another training.
TEST(ParityProgram, NothingComesTwice) {
  EXPECT_EQ(DecideParity(Known(), Edited([](ParityEvent& event, size_t i) {
                           event.draws = true;
                           if (i == 7) event.random = 1003;
                         }),
                         Precision::kBf16)
                .test,
            "repeats");
  EXPECT_EQ(DecideParity(Known(), Edited([](ParityEvent& event, size_t i) {
                           if (i == 7) event.rows = 1003;
                         }),
                         Precision::kBf16)
                .test,
            "repeats");
  ParityBaseline drawing = Known();
  for (ParityEvent& event : drawing.baseline.events) event.draws = true;
  const ParityRecording seeded = Edited([](ParityEvent& event, size_t /*i*/) { event.random = 1003; });
  EXPECT_EQ(DecideParity(drawing, seeded, Precision::kFp32).test, "repeats") << "seeded anew, generators seem to rest";
  ParityBaseline known = Known();
  for (ParityEvent& event : known.baseline.events) event.rows = 1;  // one batch is all there is
  EXPECT_EQ(DecideParity(known, known.baseline, Precision::kFp32).verdict, ParityVerdict::kExact);
}

// A difference between the programs counts by what steps could show: see parity/program.cc.
TEST(ParityProgram, WhatTheProgramsAre) {
  const auto decide = [](std::string_view kind, const ParityRecording& steps, const std::vector<std::string>& is) {
    ParityBaseline known = Known();
    known.reseeded.assign(3, OtherSeed());
    known.baseline.program[std::string(kind)]["loader 1"] = {"Flip(p=0.5)", "Normalize()"};
    ParityRecording candidate = steps;
    candidate.program[std::string(kind)]["loader 1"] = is;
    return DecideParity(known, candidate, Precision::kBf16);
  };
  const ParityRecording drawn =
      Edited([](ParityEvent& event, size_t i) { event.random = static_cast<uint32_t>(5000 + i); });
  EXPECT_EQ(decide("transform", drawn, {"Flip(p=0.5)", "Normalize()"}).verdict, ParityVerdict::kSameDistribution);
  const ParityReport gone = decide("transform", drawn, {"Normalize()"});
  EXPECT_EQ(gone.verdict, ParityVerdict::kOtherTraining);
  EXPECT_EQ(gone.test, "program");
  EXPECT_EQ(gone.differences, std::vector<std::string>{"loader 1: Flip(p=0.5) is missing"});
  EXPECT_EQ(gone.reason,
            "another training: loader 1: Flip(p=0.5) is missing, which 20 steps with other random numbers cannot show");
  EXPECT_EQ(decide("code", drawn, {"1234"}).verdict, ParityVerdict::kCannotTell) << "it may be the same";
  EXPECT_EQ(decide("schedule", drawn, {}).verdict, ParityVerdict::kOtherTraining);
  // Equal steps show that a transform is the same, and nothing of a schedule that acts later.
  EXPECT_EQ(decide("transform", Plain(), {"Normalize()"}).verdict, ParityVerdict::kExact);
  EXPECT_EQ(decide("code", Turned(kUnit), {"1234"}).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(decide("schedule", Plain(), {}).verdict, ParityVerdict::kCannotTell);
  EXPECT_EQ(decide("clipping", Turned(kUnit), {}).verdict, ParityVerdict::kCannotTell);
  ParityRecording unknown = drawn;
  unknown.program.clear();
  ParityBaseline known = Known();
  known.reseeded.assign(3, OtherSeed());
  known.baseline.program["transform"]["loader 1"] = {"Flip(p=0.5)"};
  EXPECT_EQ(DecideParity(known, unknown, Precision::kBf16).verdict, ParityVerdict::kSameDistribution) << "not known";
}

// Inputs that are clearly others are seen where losses are not.
TEST(ParityProgram, InputsAreHeldAgainstTheBaselines) {
  const auto with_mean = [](double mean) {
    return Edited([=](ParityEvent& event, size_t i) {
      event.random = static_cast<uint32_t>(5000 + i);
      event.inputs = {mean + (i % 2 == 0 ? 0.01 : -0.01), 0.5, 0.2};
    });
  };
  ParityBaseline known = Known();
  for (size_t i = 0; i < kEvents; ++i) known.baseline.events[i].inputs = {i % 2 == 0 ? 0.51 : 0.49, 0.5, 0.2};
  known.reseeded.assign(3, OtherSeed());
  for (ParityRecording& run : known.reseeded)
    for (size_t i = 0; i < kEvents; ++i) run.events[i].inputs = {i % 2 == 0 ? 0.49 : 0.51, 0.5, 0.2};
  EXPECT_EQ(DecideParity(known, with_mean(0.5), Precision::kFp32).verdict, ParityVerdict::kSameDistribution);
  const ParityReport other = DecideParity(known, with_mean(0.6), Precision::kFp32);
  EXPECT_EQ(other.verdict, ParityVerdict::kOtherTraining);
  EXPECT_NE(other.reason.find("mean of the inputs, in standard deviations, is +20.0 %"), std::string::npos)
      << other.reason;
}

}  // namespace
}  // namespace gapless::internal
