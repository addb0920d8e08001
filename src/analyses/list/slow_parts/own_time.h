// SPDX-License-Identifier: Apache-2.0
// The own time of ranks under test: units, and what each test says of one.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyses/list/slow_parts/part.h"

namespace gapless::internal::slow_parts_analysis {

enum Measure : uint8_t { kSpeed, kAmount, kHostTime, kPausing, kLoading, kLoaderStalls, kCopying, kMeasures };

// Pauses come in some steps only; the other measures last.
constexpr bool IsPauses(Measure measure) { return measure == kPausing || measure == kLoaderStalls; }

struct OwnStep {
  int64_t number, wall_ns, kernels, kernel_ns, copies_ns, data_ns, host_ns, pause_ns, garbage_ns;
};

struct KernelUse {
  std::string_view name;
  double calls = 0, ns = 0, blocks = 0;  // blocks < 0: not recorded
};

struct Unit {
  const RunTrace* of = nullptr;
  std::string_view host{};
  std::vector<OwnStep> steps{};      // without the first, in which ranks wait for others whose recorders begin later
  std::vector<OwnStep> all_steps{};  // with it: a pause is no waiting
  std::map<std::string_view, KernelUse> kernels{};
  double recorded_steps = 1;  // of which the first is not in `steps`
  double kernel_ns = 0, kernels_a_step = 0;
  int64_t rank() const { return of->rank() != kAbsent ? of->rank() : of->index; }
};
using Peers = std::vector<Unit*>;

// An Outcome is the answer of one test about one unit, or about the units of a host.
struct Outcome {
  Unit* unit;  // of a host the one that takes longest
  Measure measure;
  double p = 1, ratio = 1;
  double far = 0;  // how many spreads above its peers; of pauses 0
  int64_t excess_ns = 0, late = 0;
  std::string_view what{};
  std::vector<int64_t> late_in{};    // of pauses: the steps
  std::map<int64_t, double> over{};  // of idle time: how much longer than usual each step was
  double line = 0;                   // … and from where on a single step is out of the usual
  Peers host{};                      // of a host: its units
  bool observed = false;             // the recording names the cause: q is 0
  double q = 1;
};

// The devices of the run that have steps enough to be judged.
std::vector<Unit> UnitsOf(Tables& tables);
// All tests of units against those that are alike, and of their hosts, with q set.
std::vector<Outcome> TestOwnTime(std::vector<Unit>& units);

}  // namespace gapless::internal::slow_parts_analysis
