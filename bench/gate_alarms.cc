// SPDX-License-Identifier: Apache-2.0
// Prints the tables of docs/measured/gate.md: how often the history gate is wrong, and how soon it is right, by kind of
// noise and number of past runs. With --rates, the figures that the gate states (src/validate/noise_look.cc), of 600
// histories. All are of the showing seeds (validate/testing/gate_walk.h).
//
// usage: gate_alarms [HISTORIES]
//        gate_alarms --rates [HISTORIES]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "validate/testing/gate_walk.h"

namespace gapless::internal {
namespace {

constexpr size_t kPasts[] = {6, 12, 30, 100};
constexpr double kMayLookSo = 0.05;  // share of a kind's histories from which on a look counts as one that it has

// The walks of a kind: how many had a regression, and how many looked like each kind.
struct Counts {
  int histories = 0, alarms = 0;
  std::array<int, kNoiseLooks> looks{};
};

Counts Walks(GateNoise noise, const GateWalk& walk, int histories) {
  Counts counts{.histories = histories};
  for (int i = 0; i < histories; ++i) {
    const GateWalked walked = Walk(noise, kShowingSeed + static_cast<uint64_t>(i), walk);
    counts.alarms += walked.regression.has_value() ? 1 : 0;
    ++counts.looks[static_cast<size_t>(walked.look)];
  }
  return counts;
}

// One end of the 95 % interval of a share (Wilson 1927); sign 1 is the upper one.
double Wilson(const Counts& counts, double sign) {
  constexpr double kZ = 1.96;
  const double n = counts.histories, p = counts.alarms / n;
  const double middle = p + kZ * kZ / (2 * n), half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return std::max(0.0, (middle + sign * half) / (1 + kZ * kZ / n));
}

void FalseAlarms(int histories) {
  std::printf("| noise | past runs | false alarms | with fresh runs on the machine that is doubted |\n");
  std::printf("|---|---|---|---|\n");
  for (const GateNoise noise : kGateNoises)
    for (const size_t past : kPasts) {
      std::printf("| %s | %zu |", std::string(NameOf(noise)).c_str(), past);
      for (const FreshKind fresh : {FreshKind::kNone, FreshKind::kSameMachine}) {
        const Counts counts = Walks(noise, {.past = past, .fresh = fresh}, histories);
        std::printf(" %.1f %% (%.1f–%.1f) |", 100.0 * counts.alarms / histories, 100 * Wilson(counts, -1),
                    100 * Wilson(counts, 1));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
}

std::string FoundBy(GateNoise noise, size_t past, double slower, int histories) {
  std::string cell;
  for (const size_t runs : {5, 8, 12}) {
    const Counts counts = Walks(noise, {.past = past, .judged = runs, .slower = slower}, histories);
    cell += (cell.empty() ? " " : " / ") + std::to_string((200 * counts.alarms + histories) / (2 * histories));
  }
  return cell;
}

void Power(int histories) {
  std::printf("\n| noise | past runs |");
  for (const int slower : {10, 20, 50}) std::printf(" %d %% slower: found by run 5 / 8 / 12 |", slower);
  std::printf("\n|---|---|---|---|---|\n");
  for (const GateNoise noise : kGateNoises)
    for (const size_t past : kPasts) {
      std::printf("| %s | %zu |", std::string(NameOf(noise)).c_str(), past);
      for (const double slower : {1.1, 1.2, 1.5}) std::printf("%s |", FoundBy(noise, past, slower, histories).c_str());
      std::printf("\n");
      std::fflush(stdout);
    }
}

// A row of the table of noise_look.cc: for each look the worst of the kinds that may look so, rounded up to 0.1 %.
// With fresh runs, which can only add to the alarms.
void PrintRates(size_t past, int histories) {
  std::array<double, kNoiseLooks> rates{};
  for (const GateNoise noise : kGateNoises) {
    const Counts counts = Walks(noise, {.past = past, .fresh = FreshKind::kSameMachine}, histories);
    for (size_t look = 0; look < kNoiseLooks; ++look)
      if (counts.looks[look] >= kMayLookSo * histories) rates[look] = std::max(rates[look], Wilson(counts, 1));
    std::fprintf(stderr, "%s, %zu past runs: %d of %d\n", std::string(NameOf(noise)).c_str(), past, counts.alarms,
                 histories);
  }
  std::printf("    {%zu, {", std::max<size_t>(past, GateOptions().min_baseline));
  for (size_t look = 0; look < kNoiseLooks; ++look)
    std::printf("%s%.3f", look == 0 ? "" : ", ", std::ceil(1000 * rates[look]) / 1000);
  std::printf("}},\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace gapless::internal

int main(int count, char** words) {
  using namespace gapless::internal;  // NOLINT(google-build-using-namespace): a program
  const bool rates = count > 1 && std::string_view(words[1]) == "--rates";
  const int at = rates ? 2 : 1, histories = count > at ? std::max(1, std::atoi(words[at])) : rates ? 600 : 200;
  if (rates) {
    for (const size_t past : kPasts) PrintRates(past, histories);
    return 0;
  }
  std::printf("%d histories a cell; in brackets the 95 %% interval\n\n", histories);
  FalseAlarms(histories);
  Power(histories);
}
