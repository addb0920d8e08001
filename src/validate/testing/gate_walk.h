// SPDX-License-Identifier: Apache-2.0
// A branch whose every run is judged by the history gate and recorded with its mark, as `gapless gate --record` does
// it, under the kinds of noise that benchmarks meet on shared machines. The program never changes, unless it is asked
// to.
//
// Thresholds were chosen on the choosing seeds; the figures that are printed and stated are of the showing seeds; the
// test of the stated figures has seeds of its own. A look at the showing seeds was the occasion to set two
// anew: kAgreementShare (gate_agreement.cc) on the choosing seeds, and kRunsToKnow (history_gate.cc) by arithmetic,
// since of spikes in 8 % of the runs 75 hold none once in 500. So only the checking seeds had no part
// in any choice.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "validate/history_gate.h"
#include "validate/testing/noise.h"

namespace gapless::internal {

// The first seed of each purpose; the histories count up from there, a million at most.
inline constexpr uint64_t kChoosingSeed = 1'000'000, kShowingSeed = 20'000'000, kCheckingSeed = 50'000'000;

enum class GateNoise {
  kQuiet,          // 1 %
  kDrift,          // 2 %, each run follows the one before (0.5), and 0.1 % slower from run to run
  kSpikes,         // 3 %, and 8 % of the runs are half as slow again
  kTwoMachines,    // 2 %, on either of two machines that differ by 25 %
  kHeavyTail,      // Student's t with two degrees of freedom, scaled to 2 %
  kNamedMachines,  // as two machines, and each run names its own
};
inline constexpr GateNoise kGateNoises[] = {GateNoise::kQuiet,       GateNoise::kDrift,     GateNoise::kSpikes,
                                            GateNoise::kTwoMachines, GateNoise::kHeavyTail, GateNoise::kNamedMachines};
inline std::string_view NameOf(GateNoise noise) {
  constexpr std::string_view kNames[] = {"quiet",        "drift",      "spikes",
                                         "two machines", "heavy tail", "two machines, named"};
  return kNames[static_cast<int>(noise)];
}

// Draws the runs of a program whose time is 100.
class GateRuns {
 public:
  GateRuns(GateNoise noise, uint64_t seed) : noise_(noise), source_(seed * 16 + static_cast<uint64_t>(noise)) {}

  // The next run: of whichever machine it lands on.
  double Next() {
    ++number_;
    machine_ = 1;
    if (noise_ == GateNoise::kSpikes && source_.Uniform() < 0.08) machine_ = 1.5;
    if (HasTwo() && source_.Uniform() < 0.5) machine_ = 1.25;
    if (noise_ == GateNoise::kDrift) state_ = 0.5 * state_ + std::sqrt(0.75) * source_.Normal();
    return Again();
  }
  // Another run on the machine of the last one.
  double Again() {
    switch (noise_) {
      case GateNoise::kQuiet: return 100 * (1 + 0.01 * source_.Normal());
      case GateNoise::kDrift: return 100 * (1 + 0.02 * state_) * std::pow(1.001, number_);
      case GateNoise::kSpikes: return 100 * machine_ * (1 + 0.03 * source_.Normal());
      case GateNoise::kTwoMachines:
      case GateNoise::kNamedMachines: return 100 * machine_ * (1 + 0.02 * source_.Normal());
      case GateNoise::kHeavyTail: break;
    }
    const double spread = std::hypot(source_.Normal(), source_.Normal()) / std::sqrt(2.0);
    return 100 * std::exp(0.02 * source_.Normal() / spread);
  }
  // The name of the last run's machine; 0: not named.
  uint32_t Machine() const { return noise_ != GateNoise::kNamedMachines ? 0 : machine_ > 1 ? 2 : 1; }

 private:
  bool HasTwo() const { return noise_ == GateNoise::kTwoMachines || noise_ == GateNoise::kNamedMachines; }

  GateNoise noise_;
  NoiseSource source_;
  double machine_ = 1, state_ = 0;
  int number_ = 0;
};

enum class FreshKind {
  kNone,         // nothing is run again
  kElsewhere,    // each on whichever machine it lands on: the noise is that of single processes
  kSameMachine,  // all on the machine of the run that is doubted
};

struct GateWalk {
  size_t past = 50;  // runs before the first one that is judged
  size_t judged = 100;
  double slower = 1;  // the program from the first judged run on; 1: it never changes
  FreshKind fresh = FreshKind::kNone;
  GateOptions options{.with_outlook = false};
};

struct GateWalked {
  std::optional<size_t> regression{};  // judged runs up to the first regression, that one included; absent: none
  NoiseLook look = NoiseLook::kQuiet;  // when the first run was judged that had a baseline
  std::optional<double> stated{};      // the false alarms that were stated then
};

inline GateWalked Walk(GateNoise noise, uint64_t seed, const GateWalk& walk) {
  GateRuns runs(noise, seed);
  GateWalked walked;
  std::vector<GateRun> history;
  for (size_t i = 0; i < walk.past; ++i) {
    const double value = runs.Next();
    history.push_back({value, GateMark::kUnmarked, runs.Machine()});
  }
  for (size_t i = 0; i < walk.judged; ++i) {
    const double current = runs.Next() * walk.slower;
    GateOptions options = walk.options;
    options.machine = runs.Machine();
    auto verdict = JudgeAgainstHistory(history, current, options);
    if (verdict && verdict->level && !walked.stated) {
      walked.look = verdict->look;
      walked.stated = verdict->false_alarms;
    }
    std::vector<double> fresh;
    while (walk.fresh != FreshKind::kNone && verdict && verdict->pending && fresh.size() < 6) {
      do fresh.push_back((walk.fresh == FreshKind::kElsewhere ? runs.Next() : runs.Again()) * walk.slower);
      while (fresh.size() < 3);
      verdict = JudgeAgainstHistory(history, current, options, fresh);
    }
    if (!verdict || verdict->kind == GateKind::kRegression) {
      walked.regression = i + 1;
      return walked;
    }
    const GateMark mark = verdict->pending == GateKind::kRegression ? GateMark::kPending
                          : verdict->cleared                        ? GateMark::kCleared
                                                                    : GateMark::kUnmarked;
    history.push_back({current, mark, options.machine});
  }
  return walked;
}

}  // namespace gapless::internal
