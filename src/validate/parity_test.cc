// SPDX-License-Identifier: Apache-2.0
// A test for each row of the rule in docs/parity.md: what is within its limit passes, and what is beyond it does not.
#include "validate/parity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "validate/parity/checks.h"
#include "validate/testing/parity_recordings.h"

namespace gapless::internal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

ParityReport DecideAgainstKnown(const ParityRecording& candidate, Precision precision = Precision::kBf16) {
  return DecideParity(Known(), candidate, precision);
}

// Expects that this test refuses the candidate.
void ExpectRefused(const ParityRecording& candidate, std::string_view test, Precision precision = Precision::kBf16) {
  const ParityReport report = DecideAgainstKnown(candidate, precision);
  EXPECT_EQ(report.verdict, ParityVerdict::kOtherTraining) << test << ": " << report.reason;
  EXPECT_EQ(report.test, test) << report.reason;
  EXPECT_TRUE(report.reason.starts_with("another training: ")) << report.reason;
}

void ExpectRounding(const ParityRecording& candidate, Precision precision = Precision::kBf16) {
  const ParityReport report = DecideAgainstKnown(candidate, precision);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding) << report.reason;
  EXPECT_EQ(report.precision, precision);
}

TEST(Parity, Exact) {
  const ParityReport report = DecideAgainstKnown(Plain(), Precision::kFp32);
  EXPECT_EQ(report.verdict, ParityVerdict::kExact);
  EXPECT_EQ(report.reason, "the same, bit for bit, over 20 steps");
  EXPECT_EQ(report.steps, kEvents);
  EXPECT_TRUE(IsAllowed(report, Safety::kExact));
}

TEST(Parity, RoundingSaysHowMuch) {
  const ParityReport report = DecideAgainstKnown(Turned(1.9 * kUnit));
  EXPECT_EQ(report.reason,
            "the same up to rounding to bf16: gradients differ 1.9 times as much as by rounding, and losses by 0 %; "
            "gradients that are 0.98 % off would be seen; "
            "updates are as the optimiser's settings say");
  EXPECT_NEAR(*report.value, 1.9, 1e-9);
  EXPECT_FALSE(IsAllowed(report, Safety::kExact));
  EXPECT_TRUE(IsAllowed(report, Safety::kRounding));
}

// An initialisation that rounds differently is no other start; one from another seed is.
TEST(Parity, StartsThatRoundDifferently) {
  const auto starting = [](double share) {
    return Edited([&](ParityEvent& event, size_t i) {
      if (i > 0) return;
      event.starts.assign(kTensors, PrintOf(1));
      Turn(event.starts[1], share);
      if (share > 0) event.start = 8, event.state = 1;
    });
  };
  ParityBaseline known = Known();
  known.baseline = starting(0);
  EXPECT_EQ(DecideParity(known, starting(1e-6), Precision::kFp32).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(DecideParity(known, starting(1e-3), Precision::kFp32).need, ParityNeed::kReseeded);
}

// A program that updates its parameters by hand hands nothing over: only equality can be recognised.
TEST(Parity, UpdatesByHand) {
  const auto by_hand = [](double loss_of_the_fifth) {
    ParityRecording recording = Plain();
    for (ParityEvent& event : recording.events) event.by_hand = true;
    recording.events[4].losses = {loss_of_the_fifth};
    return recording;
  };
  const ParityBaseline known{.baseline = by_hand(1.5)};
  EXPECT_EQ(DecideParity(known, by_hand(1.5), Precision::kFp32).verdict, ParityVerdict::kExact);
  const ParityReport other = DecideParity(known, by_hand(1.25), Precision::kFp32);
  EXPECT_EQ(other.verdict, ParityVerdict::kCannotTell);
  EXPECT_EQ(other.need, ParityNeed::kNothing) << "no further run helps";
  EXPECT_EQ(other.step, 5U);
  EXPECT_TRUE(other.reason.ends_with("this one differs from step 5 on")) << other.reason;
}

// Test 1.
TEST(Parity, WhatIsNotFiniteIsAnotherTraining) {
  ExpectRefused(Edited([](ParityEvent& event, size_t i) {
                  if (i == 3) event.losses = {std::nullopt};
                }),
                "finite");
  ExpectRefused(Edited([](ParityEvent& event, size_t i) {
                  if (i == 3) event.finite = false;
                }),
                "finite");
  ExpectRefused(Edited([](ParityEvent& event, size_t i) {
                  if (i == 3) event.gradients[1].sketch[5] = NAN;
                }),
                "finite");
}

TEST(Parity, NoiseThatIsNotFiniteIsNoNoise) {
  ParityBaseline known = Known();
  for (ParityEvent& event : known.probes[1].events) event.gradients[0].sketch[3] = INFINITY;
  EXPECT_NE(DecideParity(known, Turned(100 * kUnit), Precision::kBf16).verdict, ParityVerdict::kRounding);
}

// Test 2.
TEST(Parity, Settings) {
  const auto candidate = Edited([](ParityEvent& event, size_t) { event.settings[0]["lr"] = "0.0022"; });
  ExpectRefused(candidate, "settings");
  const ParityReport report = DecideAgainstKnown(candidate);
  EXPECT_NE(report.reason.find("AdamW has lr 0.0022 instead of 0.002"), std::string::npos) << report.reason;
  EXPECT_EQ(report.step, 1U);
  ExpectRefused(Edited([](ParityEvent& event, size_t) { event.settings[0].erase("weight_decay"); }), "settings");
  ExpectRefused(Edited([](ParityEvent& event, size_t) { event.settings.emplace_back(); }), "settings");
}

TEST(Parity, Counts) {
  ParityRecording shorter = Plain();
  shorter.events.pop_back();
  ExpectRefused(shorter, "counts");
  ExpectRefused(Edited([](ParityEvent& event, size_t i) { event.samples = i == 15 ? 24 : 32; }), "samples");
  const auto frozen = Edited([](ParityEvent& event, size_t) { event.missing = {1}; });
  ExpectRefused(frozen, "missing");
  EXPECT_EQ(DecideAgainstKnown(frozen).tensor, "conv2.weight");
  ExpectRefused(Edited([](ParityEvent& event, size_t) { event.gradients.pop_back(); }), "tensors");
  ExpectRefused(Edited([](ParityEvent& event, size_t) { event.optimizer_class = "Adam"; }), "optimizer");
}

// Test 3.
TEST(Parity, Update) {
  const auto off_by = [](double residual) {
    ParityRecording candidate = Turned(kUnit);
    (*candidate.events[4].shadow)[2] = residual;
    return candidate;
  };
  ExpectRounding(off_by(0.9 * kMaxUpdateResidual));
  ExpectRefused(off_by(1.1 * kMaxUpdateResidual), "update");
  ExpectRefused(off_by(NAN), "update");
  EXPECT_EQ(DecideAgainstKnown(off_by(0.1)).tensor, "fc.weight");
  EXPECT_EQ(DecideAgainstKnown(off_by(0.1)).step, 5U);
}

TEST(Parity, AnOptimiserWithoutShadowIsNamed) {
  ParityBaseline known = Known();
  for (ParityEvent& event : known.baseline.events) (*event.shadow)[0] = 0.3, event.optimizer_class = "Muon";
  ParityRecording candidate = Turned(kUnit);
  for (ParityEvent& event : candidate.events) (*event.shadow)[0] = 0.4, event.optimizer_class = "Muon";
  const ParityReport report = DecideParity(known, candidate, Precision::kBf16);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding);
  EXPECT_NE(report.reason.find("the update of Muon cannot be checked"), std::string::npos) << report.reason;
  (*candidate.events[2].shadow)[1] = 0.01;  // the other tensors are checked
  EXPECT_EQ(DecideParity(known, candidate, Precision::kBf16).test, "update");
}

// Steps that the loss scaler skips until its scale fits.
TEST(Parity, SkippedSteps) {
  const auto skipping = [](size_t first, size_t count) {
    ParityRecording candidate = Turned(kFine);
    for (size_t i = first; i < first + count; ++i)
      candidate.events[i].skipped = true, candidate.events[i].gradients = {};
    return candidate;
  };
  ExpectRounding(skipping(0, 4), Precision::kFp16);
  ExpectRefused(skipping(0, 4), "skipped", Precision::kBf16);
  ExpectRounding(skipping(7, kMaxSkipped), Precision::kFp16);
  ExpectRefused(skipping(0, kMaxSkipped + 1), "skipped", Precision::kFp16);
  ParityRecording infinite = skipping(7, 1);  // what overflows is not the scaled gradients alone
  infinite.events[7].losses = {std::nullopt};
  ExpectRefused(infinite, "skipped", Precision::kFp16);
}

// Test 4.
TEST(Parity, OtherRandomness) {
  const std::vector<std::pair<std::string_view, std::function<void(ParityEvent&, size_t)>>> kinds = {
      {"other parameters at the start",
       [](ParityEvent& event, size_t i) {
         if (i == 0) event.start = 8;
       }},
      {"other samples",
       [](ParityEvent& event, size_t i) {
         if (i > 2) event.rows = static_cast<uint32_t>(5000 + i);
       }},
      {"other random numbers",
       [](ParityEvent& event, size_t i) {
         if (i > 2) event.random = 5;
       }},
      {"samples in another order", [](ParityEvent& event, size_t i) {
         if (i > 2) event.order = 5, event.draws = true;
       }}};
  ParityBaseline known = Known();
  for (const auto& [what, edit] : kinds) {
    known.reseeded.clear();
    EXPECT_EQ(DecideParity(known, Edited(edit), Precision::kBf16).need, ParityNeed::kReseeded) << what;
    known.reseeded.assign(3, OtherSeed());
    const ParityReport report = DecideParity(known, Edited(edit), Precision::kBf16);
    EXPECT_EQ(report.verdict, ParityVerdict::kSameDistribution) << what << ": " << report.reason;
    EXPECT_TRUE(report.reason.starts_with(what)) << report.reason;
    EXPECT_NE(report.reason.find("; the gradient norm cannot be compared"), std::string::npos) << "it is constant";
    known.reseeded.assign(3, Plain());
    EXPECT_EQ(DecideParity(known, Edited(edit), Precision::kBf16).verdict, ParityVerdict::kCannotTell)
        << what << ": nothing varies, so nothing would have been seen";
  }
}

TEST(Parity, AnotherOrderOfRowsIsRoundingWhereNothingIsDrawn) {
  ParityRecording candidate = Turned(kUnit);
  for (ParityEvent& event : candidate.events) event.order = 5;
  ExpectRounding(candidate);
}

// With other samples from the first step on; the losses of the events are multiplied.
ParityReport DecideDistribution(const std::function<double(size_t)>& factor) {
  ParityBaseline known = Known();
  known.reseeded.assign(3, Plain());
  return DecideParity(known, Edited([&](ParityEvent& event, size_t i) {
                        event.rows = static_cast<uint32_t>(5000 + i);
                        event.losses = {2.0 * factor(i)};
                      }),
                      Precision::kFp32);
}

TEST(Parity, DistributionsAreHeldAgainstAMargin) {
  const auto around = [](double mean, double spread) {
    return [=](size_t i) { return std::exp(mean + (i % 2 == 0 ? spread : -spread)); };
  };
  const double error = std::sqrt(20.0 / 19 / 20);  // standard error of the mean for a spread of 1
  EXPECT_EQ(DecideDistribution(around(0, 0.9 * kMargin / kSameErrors / error)).verdict,
            ParityVerdict::kSameDistribution);
  const ParityReport wide = DecideDistribution(around(0, 1.1 * kMargin / kSameErrors / error));
  EXPECT_EQ(wide.verdict, ParityVerdict::kCannotTell);
  EXPECT_EQ(wide.need, ParityNeed::kNothing);
  EXPECT_NE(wide.reason.find("a decision within 5.0 % would take about"), std::string::npos) << wide.reason;
  EXPECT_EQ(DecideDistribution(around(0.9 * kMinMean, 0)).verdict, ParityVerdict::kSameDistribution);
  EXPECT_EQ(DecideDistribution(around(1.1 * kMinMean, 0)).verdict, ParityVerdict::kOtherTraining);
  EXPECT_EQ(DecideDistribution(around(0.03, 0.9 * 0.03 / kDifferentErrors / error)).verdict,
            ParityVerdict::kOtherTraining);
  EXPECT_NE(DecideDistribution(around(0.03, 1.1 * 0.03 / kDifferentErrors / error)).verdict,
            ParityVerdict::kOtherTraining);
}

// Test 6. Half of the steps may differ by more: a rare event is not typical.
TEST(Parity, Typical) {
  ExpectRounding(Turned(0.98 * kMaxTypical * kUnit));
  ExpectRefused(Turned(1.02 * kMaxTypical * kUnit), "typical");
  ExpectRounding(Turned(0.98 * kMaxTypical * UnitOf(Precision::kFp32)), Precision::kFp32);
  ExpectRefused(Turned(1.02 * kMaxTypical * UnitOf(Precision::kFp32)), "typical", Precision::kFp32);
}

// Test 7.
TEST(Parity, Tensor) {
  const auto turned = [](double times) {
    return Edited([=](ParityEvent& event, size_t) {
      Turn(event.gradients[0], times * kUnit);
      event.state = 1;
    });
  };
  const double floor = std::hypot(1, kTensorFloor * std::sqrt(kTensors));
  ExpectRounding(turned(0.98 * kMaxTensor * floor));
  ExpectRefused(turned(1.02 * kMaxTensor * floor), "tensor");
  EXPECT_EQ(DecideAgainstKnown(turned(1.02 * kMaxTensor * floor)).tensor, "conv1.weight");
}

// Test 8. A claim finer than the probe is held against the worst step of the probe itself.
TEST(Parity, WorstStep) {
  const auto turned = [](double share) {
    ParityRecording candidate = Plain();
    for (TensorPrint& print : candidate.events[9].gradients) Turn(print, share);
    candidate.events[9].state = 1;
    return candidate;
  };
  ExpectRounding(turned(0.98 * kMaxWorst * kUnit));
  ExpectRefused(turned(1.02 * kMaxWorst * kUnit), "worst");
  EXPECT_EQ(DecideAgainstKnown(turned(1.02 * kMaxWorst * kUnit)).step, 10U);
  ExpectRounding(turned(0.98 * kFine), Precision::kFp32);
  ExpectRefused(turned(1.02 * kFine), "worst", Precision::kFp32);
}

// Test 9. Within noise that is three times the unit, so that the tests before hold.
TEST(Parity, Scale) {
  ParityBaseline known = Known();
  known.probes[1] = Probe(kUnit, 3 * kUnit);
  const auto scaled = [&](double share) {
    return DecideParity(known, Edited([=](ParityEvent& event, size_t) {
                          event.gradients[0] = PrintOf(1 + share);
                          event.state = 1;
                        }),
                        Precision::kBf16);
  };
  EXPECT_EQ(scaled(0.98 * kMaxScale).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(scaled(-0.98 * kMaxScale).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(scaled(-1.02 * kMaxScale).test, "scale");
  const ParityReport report = scaled(0.019);
  EXPECT_EQ(report.reason, "another training: the gradient of conv1.weight is 1.9 % larger throughout");
  EXPECT_EQ(report.tensor, "conv1.weight");
}

// Test 10.
TEST(Parity, Buffers) {
  const auto moved = [](double share, double noise) {
    ParityBaseline known = Known();
    for (ParityEvent& event : known.probes[1].events) Turn(event.buffers[0], noise);
    ParityRecording candidate = Turned(kUnit);
    Turn(candidate.events[6].buffers[0], share);
    return DecideParity(known, candidate, Precision::kBf16);
  };
  EXPECT_EQ(moved(0.98 * kMaxBufferUnits * kUnit, 0).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(moved(1.02 * kMaxBufferUnits * kUnit, 0).test, "buffers");
  EXPECT_EQ(moved(0.98 * kMaxBufferNoise * 0.01, 0.01).verdict, ParityVerdict::kRounding);
  const ParityReport report = moved(1.02 * kMaxBufferNoise * 0.01, 0.01);
  EXPECT_EQ(report.test, "buffers");
  EXPECT_EQ(report.tensor, "norm.running_mean");
  EXPECT_EQ(report.step, 7U);
}

// Test 11.
TEST(Parity, Losses) {
  const auto lost = [](double share) {
    ParityRecording candidate = Turned(kUnit);
    candidate.events[2].losses = {2.0 * (1 + share)};
    return candidate;
  };
  ExpectRounding(lost(0.98 * kMaxLossUnits * kUnit));
  ExpectRefused(lost(1.02 * kMaxLossUnits * kUnit), "loss");
}

// A batch in two pieces has two losses, whose sum is the loss of the step.
TEST(Parity, LossesOfPiecesAddUp) {
  ExpectRounding(Edited([](ParityEvent& event, size_t) { event.losses = {0.5, 1.5}, event.state = 1; }));
}

TEST(Parity, AbsentFieldsLeaveTheirTestOut) {
  const auto absent = Edited([](ParityEvent& event, size_t) {
    event.samples = std::nullopt;
    event.rows = event.order = event.random = event.start = std::nullopt;
    event.shadow = std::nullopt;
    event.state = 1;
    for (TensorPrint& print : event.gradients) Turn(print, kUnit);
  });
  ExpectRounding(absent);
  const auto no_state = Edited([](ParityEvent& event, size_t) { event.state = std::nullopt; });
  ExpectRounding(no_state);  // not known to be exact
}

// The recordings that a decision asks for.
TEST(Parity, Needs) {
  ParityBaseline known{.baseline = Plain()};
  ParityReport report = DecideParity(known, Turned(kUnit), Precision::kBf16);
  EXPECT_EQ(report.need, ParityNeed::kProbe);
  EXPECT_EQ(report.need_noise, kUnit);
  report = DecideParity(known, Turned(kUnit), Precision::kTf32);
  EXPECT_EQ(report.need_noise, kFine);
  known = Known();
  known.baseline.events[0].recurrent = true;
  report = DecideParity(known, Turned(10 * kUnit), Precision::kBf16);
  EXPECT_EQ(report.need, ParityNeed::kWideProbe);
  known.probes.push_back(Probe(kUnit, 4 * kUnit));
  known.probes.back().wide = true;
  EXPECT_EQ(DecideParity(known, Turned(10 * kUnit), Precision::kBf16).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(DecideParity(known, Turned(30 * kUnit), Precision::kBf16).verdict, ParityVerdict::kOtherTraining);
}

// A network that switches: its noise under fp32 is more than that of a larger probe, scaled down.
TEST(Parity, NoiseOfTheUnitsOwnSizeDecidesWhereNetworksSwitch) {
  ParityBaseline known = Known();
  known.probes.pop_back();
  const ParityRecording candidate = Turned(19 * kNear);
  const ParityReport report = DecideParity(known, candidate, Precision::kFp32);
  EXPECT_EQ(report.need, ParityNeed::kProbe);
  EXPECT_EQ(report.need_noise, kNear);
  known.probes.push_back(Probe(kNear, 15 * kNear));
  EXPECT_EQ(DecideParity(known, candidate, Precision::kFp32).verdict, ParityVerdict::kRounding);
  known.probes.back() = Probe(kNear, kNear);
  EXPECT_EQ(DecideParity(known, candidate, Precision::kFp32).verdict, ParityVerdict::kOtherTraining);
}

// The square root of 2^9 is 22.6: no switch makes more of the noise, so a run more would show nothing.
TEST(Parity, NoFurtherProbeWhereNoSwitchExplainsTheDifference) {
  ParityBaseline known = Known();
  known.probes.pop_back();
  const ParityReport far = DecideParity(known, Turned(23 * kMaxTypical * kNear), Precision::kFp32);
  EXPECT_EQ(far.verdict, ParityVerdict::kOtherTraining);
  EXPECT_EQ(far.need, ParityNeed::kNothing);
  const ParityReport coarse = DecideParity(known, Turned(10 * kUnit), Precision::kBf16);
  EXPECT_EQ(coarse.need, ParityNeed::kNothing);
}

// The first step of a probe has no noise: here it differs, so the kernels are not deterministic.
TEST(Parity, WhatDoesNotRepeatIsNoDifference) {
  ParityBaseline known = Known();
  for (ParityRecording& probe : known.probes) probe.events[0].state = 99;
  const double share = 100 * UnitOf(Precision::kFp32);
  EXPECT_EQ(DecideParity(known, Turned(share), Precision::kFp32).need, ParityNeed::kRepeat);
  known.repeat = Turned(share);
  const ParityReport report = DecideParity(known, Turned(2 * share), Precision::kFp32, true);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding) << report.reason;
  EXPECT_FALSE(report.repeats);
  EXPECT_TRUE(IsAllowed(report, Safety::kExact));
  EXPECT_EQ(DecideParity(known, Turned(20 * share), Precision::kFp32).verdict, ParityVerdict::kOtherTraining);
}

TEST(Parity, OnlyStepsFromTheSameParametersAreCompared) {
  ParityRecording candidate = Turned(kUnit);
  for (size_t i = 5; i < kEvents; ++i) {
    candidate.events[i].handed = false;
    for (TensorPrint& print : candidate.events[i].gradients) Turn(print, i > 5 ? 0.5 : kUnit);
  }
  const ParityReport report = DecideAgainstKnown(candidate);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding) << report.reason;
  EXPECT_EQ(report.steps, 6U);
  candidate.events[12].settings[0]["lr"] = "0.1";  // that test needs no parameters
  EXPECT_EQ(DecideAgainstKnown(candidate).test, "settings");
}

TEST(Parity, OptimisersAreComparedByThemselves) {
  const auto two = [](ParityRecording recording, double share) {
    for (size_t i = 0; i < kEvents; ++i) {
      recording.events[i].optimizer = i % 2;
      if (i % 2 == 1)
        for (TensorPrint& print : recording.events[i].gradients) Turn(print, i > 1 ? share : 0);
    }
    return recording;
  };
  ParityBaseline known{.baseline = two(Plain(), 0), .probes = {two(Probe(kUnit, kUnit), 0.01 * kUnit)}};
  EXPECT_EQ(DecideParity(known, two(Turned(kUnit), 0.01 * kUnit), Precision::kBf16).verdict, ParityVerdict::kRounding);
  EXPECT_EQ(DecideParity(known, two(Turned(kUnit), kUnit), Precision::kBf16).test, "typical");
}

TEST(Parity, TheFinestPrecisionIsFound) {
  const auto found = [](double share) { return FindParity(Known(), Turned(share)); };
  EXPECT_EQ(found(UnitOf(Precision::kFp32)).precision, Precision::kFp32);
  EXPECT_EQ(found(2 * kFine).precision, Precision::kTf32);
  EXPECT_EQ(found(3 * kUnit).precision, Precision::kBf16);
  EXPECT_EQ(found(6 * kUnit).verdict, ParityVerdict::kOtherTraining);
}

TEST(Parity, AProgramInBf16IsHeldToThat) {
  ParityBaseline known = Known();
  known.baseline.events[0].precision = Precision::kBf16;
  const ParityReport report = DecideParity(known, Turned(kUnit), Precision::kFp32);
  EXPECT_EQ(report.verdict, ParityVerdict::kRounding);
  EXPECT_EQ(report.precision, Precision::kBf16);
}

TEST(Parity, WithoutStepsNothingCanBeTold) {
  for (const auto& [baseline, candidate] : {std::pair(ParityRecording(), Plain()), {Plain(), ParityRecording()}}) {
    const ParityReport report = DecideParity({.baseline = baseline}, candidate, Precision::kFp32);
    EXPECT_EQ(report.verdict, ParityVerdict::kCannotTell);
    EXPECT_EQ(report.need, ParityNeed::kNothing);
    EXPECT_FALSE(IsAllowed(report, Safety::kExact));
  }
}

TEST(Parity, NamesAreReadBack) {
  for (const auto precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16})
    EXPECT_EQ(PrecisionNamed(NameOf(precision)), precision);
  for (const auto allowed : {Safety::kExact, Safety::kRounding, Safety::kStochastic, Safety::kTraining})
    EXPECT_EQ(SafetyNamed(ToString(allowed)), allowed);
  EXPECT_EQ(PrecisionNamed("fp64"), std::nullopt);
}

TEST(Parity, WhatAChangeMayDo) {
  const auto allowed = [](ParityVerdict verdict) {
    std::string text;
    for (const auto change : {Safety::kExact, Safety::kRounding, Safety::kStochastic, Safety::kTraining})
      text += IsAllowed({.verdict = verdict}, change) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(allowed(ParityVerdict::kExact), "1111");
  EXPECT_EQ(allowed(ParityVerdict::kRounding), "0111");
  EXPECT_EQ(allowed(ParityVerdict::kSameDistribution), "0011");
  EXPECT_EQ(allowed(ParityVerdict::kOtherTraining), "0001");
  EXPECT_EQ(allowed(ParityVerdict::kCannotTell), "0111");
}

}  // namespace
}  // namespace gapless::internal
