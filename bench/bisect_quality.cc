// SPDX-License-Identifier: Apache-2.0
// Prints a table of docs/measured/intervals.md: how often a noisy bisection is right, how sure it says it is, and how
// many runs it takes.
//
// usage: bisect_quality [SEARCHES]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "validate/commit_search.h"
#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

struct Case {
  const char* name;
  NoiseKind noise;
  double cv, slower, confidence;
  size_t commits;
};

void Run(const Case& what, int searches) {
  int found = 0, right = 0, none = 0, banded = 0, banded_right = 0;
  double runs = 0, said = 0;
  for (int i = 0; i < searches; ++i) {
    NoiseSource noise(static_cast<uint64_t>(i) * 7919 + 17);
    const auto bad = 1 + static_cast<size_t>(noise.Uniform() * static_cast<double>(what.commits - 1));
    const std::vector<double> series = noise.Series(what.noise, what.cv, 500);
    CommitSearch search(what.commits, {.confidence = what.confidence});
    while (search.state() == SearchState::kGoesOn) {
      const size_t commit = search.next();
      search.Add(commit, std::log(series[search.runs()] * (commit >= bad ? 1 + what.slower : 1)));
    }
    runs += static_cast<double>(search.runs()) / searches;
    none += search.state() == SearchState::kNoChange ? 1 : 0;
    if (search.state() != SearchState::kFound) continue;
    const bool hit = search.best().first <= bad && bad <= search.best().last;
    const double sure = search.best().probability * (1 - search.none_probability());
    ++found;
    right += hit ? 1 : 0;
    said += sure;
    if (sure < 0.95) ++banded, banded_right += hit ? 1 : 0;
  }
  std::printf("| %s | %zu | %g %% | %g %% | %.3f | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% of %d | %.1f |\n",
              what.name, what.commits, 100 * what.cv, 100 * what.slower, what.confidence, searches,
              100.0 * right / searches, found > 0 ? 100.0 * said / found : 0, 100.0 * none / searches,
              banded > 0 ? 100.0 * banded_right / banded : 0, banded, runs);
  std::fflush(stdout);
}

}  // namespace
}  // namespace gapless::internal

int main(int argc, char** argv) {
  using namespace gapless::internal;
  const int searches = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::printf(
      "| noise | commits | CV | slower | asked | searches | right | sure, mean | says no change | right at 90-95 %% | "
      "runs |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Case& what : {Case{"normal", NoiseKind::kNormal, 0.03, 0.05, 0.99, 1000},
                           Case{"outliers", NoiseKind::kOutliers, 0.03, 0.05, 0.99, 1000},
                           Case{"normal", NoiseKind::kNormal, 0.03, 0.05, 0.90, 1000},
                           Case{"outliers", NoiseKind::kOutliers, 0.03, 0.05, 0.90, 1000},
                           Case{"normal", NoiseKind::kNormal, 0.03, 0, 0.99, 1000},
                           Case{"outliers", NoiseKind::kOutliers, 0.03, 0, 0.99, 1000},
                           Case{"normal", NoiseKind::kNormal, 0.005, 0.2, 0.99, 1000},
                           Case{"AR(1) 0.5", NoiseKind::kAr1, 0.03, 0.05, 0.99, 1000},
                           Case{"normal", NoiseKind::kNormal, 0.03, 0.1, 0.99, 10}})
    Run(what, searches);
  return 0;
}
