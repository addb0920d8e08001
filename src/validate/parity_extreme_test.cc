// SPDX-License-Identifier: Apache-2.0
// Recordings that no run wrote have an answer too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "validate/parity.h"
#include "validate/parity/checks.h"
#include "validate/testing/parity_recordings.h"

namespace gapless::internal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// An edit at a random place, with a number that nobody expects.
void Spoil(ParityRecording& recording, std::mt19937& random) {
  constexpr double kNumbers[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e308, -1e308, 5e-324};
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % std::max<size_t>(count, 1)); };
  const double number = kNumbers[pick(std::size(kNumbers))];
  if (recording.events.empty()) return;
  ParityEvent& event = recording.events[pick(recording.events.size())];
  const std::function<void()> edits[] = {
      [&] { recording.events.resize(pick(recording.events.size())); },
      [&] { recording.events.push_back(event); },
      [&] { event.optimizer = pick(3) * 1'000'000; },
      [&] {
        if (!event.gradients.empty()) event.gradients[pick(event.gradients.size())].norm = number;
      },
      [&] {
        if (!event.gradients.empty()) event.gradients[0].sketch[pick(kSketchWidth)] = number;
      },
      [&] { event.gradients.resize(pick(9)); },
      [&] { event.buffers.resize(pick(3), PrintOf(number)); },
      [&] {
        event.losses = {number, std::nullopt};
      },
      [&] { event.losses = {number}; },
      [&] { event.shadow.emplace(pick(9), number); },
      [&] {
        event.missing = {SIZE_MAX, 3, 3, 0};
      },
      [&] { event.settings.clear(); },
      [&] { event.skipped = !event.skipped; },
      [&] { event.handed = !event.handed; },
      [&] { event.state = event.rows = std::nullopt; },
      [&] { event.random = 1; },
      [&] { event.recurrent = true; },
      [&] { recording.noise = number; },
  };
  edits[pick(std::size(edits))]();
}

#ifdef GAPLESS_SANITIZED
constexpr int kRounds = 800;
#else
constexpr int kRounds = 4000;
#endif

TEST(ParityExtremes, AnyRecordingsHaveAnAnswer) {
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    ParityBaseline known = Known();
    ParityRecording candidate = Turned(kUnit);
    if (round % 3 == 0) known.reseeded.assign(3, Plain());
    if (round % 5 == 0) known.repeat = Turned(kFine);
    ParityRecording* const all[] = {&known.baseline, &known.probes[0], &known.probes[1], &candidate};
    for (int edit = 0; edit <= round % 4; ++edit) Spoil(*all[random() % std::size(all)], random);
    for (const ParityReport& report :
         {DecideParity(known, candidate, Precision::kBf16, true), FindParity(known, candidate)}) {
      EXPECT_FALSE(report.reason.empty());
      EXPECT_TRUE(report.need == ParityNeed::kNothing || report.verdict == ParityVerdict::kCannotTell);
      EXPECT_LE(report.steps, kEvents + 4);  // as many as edits may add
      if (report.verdict != ParityVerdict::kRounding) continue;
      EXPECT_TRUE(std::isfinite(*report.value) && *report.value <= kMaxTypical) << report.reason;
    }
  }
}

}  // namespace
}  // namespace gapless::internal
