// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/measured/intervals.md on how often `compare` is wrong, and how many pairs it needs.
//
// usage: pair_quality [REPLICATIONS]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "validate/pair_sequence.h"
#include "validate/testing/noise.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxPairs = 200;
constexpr double kCv = 0.02;

struct Tally {
  int faster = 0, slower = 0, equivalent = 0;
  double pairs = 0;
};

Tally Simulate(NoiseKind kind, double slower, double drift, double margin, int replications) {
  Tally tally;
  for (int i = 0; i < replications; ++i) {
    NoiseSource noise(static_cast<uint64_t>(i) * 1000 + static_cast<uint64_t>(kind) * 10 + (drift > 0 ? 1 : 0));
    std::vector<double> times = noise.Series(kind, kCv, 2 * kMaxPairs);
    double wandering = 0;
    PairSequence sequence({.margin = margin});
    for (size_t pair = 0; pair < kMaxPairs && sequence.Verdict() == SpeedVerdict::kCannotTell; ++pair) {
      double both[2];
      for (size_t k = 0; k < 2; ++k) both[k] = times[2 * pair + k] * std::exp(wandering += drift * noise.Normal());
      const bool swapped = noise.Uniform() < 0.5;
      sequence.Add(std::log(both[swapped ? 0 : 1] * (1 + slower) / both[swapped ? 1 : 0]));
    }
    tally.faster += sequence.Verdict() == SpeedVerdict::kFaster ? 1 : 0;
    tally.slower += sequence.Verdict() == SpeedVerdict::kSlower ? 1 : 0;
    tally.equivalent += sequence.Verdict() == SpeedVerdict::kEquivalent ? 1 : 0;
    tally.pairs += static_cast<double>(sequence.size()) / replications;
  }
  return tally;
}

void Run(int replications) {
  std::printf(
      "| noise | drift a process | effect | faster | slower | equivalent | mean pairs "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const NoiseKind kind : kNoiseKinds)
    for (const double drift : {0.0, 0.005})
      for (const double slower : {0.0, 0.01, 0.02, 0.05}) {
        const Tally tally = Simulate(kind, slower, drift, 0, replications);
        const double share = 100.0 / replications;
        std::printf("| %s | %g %% | %g %% | %.1f %% | %.1f %% | %.1f %% | %.1f |\n", std::string(NameOf(kind)).c_str(),
                    100 * drift, 100 * slower, share * tally.faster, share * tally.slower, share * tally.equivalent,
                    tally.pairs);
      }
  for (const NoiseKind kind : kNoiseKinds) {
    const Tally tally = Simulate(kind, 0, 0, 0.02, replications);
    const double share = 100.0 / replications;
    std::printf("| %s | 0 %% | none, margin 2 %% | %.1f %% | %.1f %% | %.1f %% | %.1f |\n",
                std::string(NameOf(kind)).c_str(), share * tally.faster, share * tally.slower, share * tally.equivalent,
                tally.pairs);
  }
}

}  // namespace
}  // namespace gapless::internal

int main(int argc, char** argv) {
  gapless::internal::Run(argc > 1 ? std::atoi(argv[1]) : 4000);
  return 0;
}
