// SPDX-License-Identifier: Apache-2.0
// Prints how often intervals hold the truth that they claim to hold with 95 %: Markdown tables of method x n x noise,
// as docs/measured/intervals.md has them. Simulated from fixed seeds, so that two runs print the same.
//
//   coverage [REPLICATIONS]
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "validate/dependence.h"
#include "validate/distributions.h"
#include "validate/interval.h"
#include "validate/simulate.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr std::array<size_t, 7> kN = {10, 20, 30, 50, 100, 300, 1000};
constexpr double kLevel = 0.95;

struct Interval {
  double low, high;
};
using Sample = std::vector<double>;
using Method = std::function<std::optional<Interval>(const Sample&)>;

double PlainMean(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

std::optional<Interval> Student(const Sample& x) {
  const auto n = static_cast<double>(x.size());
  const double reach = StudentQuantile(1 - (1 - kLevel) / 2, n - 1) * *StandardDeviation(x) / std::sqrt(n);
  return Interval{*Mean(x) - reach, *Mean(x) + reach};
}

// Means of batches as long as three autocorrelation times, at least ten of them (Schmeiser 1982), with Student's t.
std::optional<Interval> BatchMeans(const Sample& x) {
  const auto wanted = static_cast<size_t>(std::ceil(3 * AutocorrelationTime(x).value_or(1)));
  const size_t size = std::max<size_t>(1, std::min(wanted, x.size() / 10));
  Sample means;
  for (size_t begin = 0; begin + size <= x.size(); begin += size) {
    means.push_back(PlainMean(std::span(x).subspan(begin, size)));
  }
  return Student(means);
}

std::optional<Interval> NeweyWest(const Sample& x) {
  const double error = std::sqrt(*LongRunVariance(x) / static_cast<double>(x.size()));
  const double reach = NormalQuantile(1 - (1 - kLevel) / 2) * error;
  return Interval{*Mean(x) - reach, *Mean(x) + reach};
}

// The textbook's interval of the median, for independent values: ranks by the binomial distribution.
std::optional<Interval> OrderStatistics(const Sample& x) {
  const auto n = static_cast<int64_t>(x.size());
  int64_t below = 0;
  while (BinomialCdf(below, n, 0.5) <= (1 - kLevel) / 2) ++below;
  if (below == 0) return std::nullopt;
  const auto sorted = Sorted(x);
  return Interval{sorted[static_cast<size_t>(below - 1)], sorted[static_cast<size_t>(n - below)]};
}

std::optional<Interval> Offered(const Sample& x, Location location) {
  const auto offer = OfferInterval(x, {.level = kLevel, .location = location});
  if (!offer->interval) return std::nullopt;
  return Interval{offer->interval->low, offer->interval->high};
}

struct Row {
  const char* name;
  Location location;
  Method method;
};

std::vector<Row> Rows() {
  return {
      {"Student's t", Location::kMean, Student},
      {"batch means", Location::kMean, BatchMeans},
      {"Newey-West", Location::kMean, NeweyWest},
      {"**offered, mean**", Location::kMean, [](const Sample& x) { return Offered(x, Location::kMean); }},
      {"order statistics", Location::kMedian, OrderStatistics},
      {"**offered, median**", Location::kMedian, [](const Sample& x) { return Offered(x, Location::kMedian); }},
  };
}

struct Tally {
  size_t given = 0, covered = 0;
  double width = 0, t_width = 0;  // sums over the samples for which an interval was given
};

std::vector<Tally> Measure(const std::vector<Row>& rows, SimulatedNoise noise, size_t n, size_t replications) {
  std::vector<Tally> tallies(rows.size());
  Random random(1000 * static_cast<uint64_t>(noise) + n);
  for (size_t r = 0; r < replications; ++r) {
    const auto sample = Simulate(noise, n, random);
    const auto t = *Student(sample);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto interval = rows[i].method(sample);
      if (!interval) continue;
      const double truth = rows[i].location == Location::kMean ? TrueMean(noise) : TrueMedian(noise);
      ++tallies[i].given;
      tallies[i].covered += interval->low <= truth && truth <= interval->high;
      tallies[i].width += interval->high - interval->low;
      tallies[i].t_width += t.high - t.low;
    }
  }
  return tallies;
}

// Cells by noise and n, each with a tally for each row.
using Cells = std::vector<std::vector<Tally>>;

Cells MeasureAll(const std::vector<Row>& rows, size_t replications) {
  const auto noises = AllNoises();
  Cells cells(noises.size() * kN.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    // From the longest series on, so that the threads end together.
    for (size_t i = next++; i < cells.size(); i = next++) {
      const size_t n = kN[kN.size() - 1 - i / noises.size()], noise = i % noises.size();
      cells[noise * kN.size() + (kN.size() - 1 - i / noises.size())] = Measure(rows, noises[noise], n, replications);
    }
  };
  std::thread second(work);
  work();
  second.join();
  return cells;
}

std::string Percent(size_t part, size_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

template <class Cell>
void PrintTable(const std::vector<Row>& rows, const Cells& cells, Cell&& cell) {
  std::printf("| noise | method |");
  for (const size_t n : kN) std::printf(" %zu |", n);
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
  for (size_t noise = 0; noise < AllNoises().size(); ++noise) {
    for (size_t row = 0; row < rows.size(); ++row) {
      std::string line;
      bool any = false;
      for (size_t n = 0; n < kN.size(); ++n) {
        const std::string text = cell(cells[noise * kN.size() + n][row], row);
        any = any || !text.empty();
        line += " " + (text.empty() ? "-" : text) + " |";
      }
      if (any)
        std::printf("| %s | %s |%s\n", std::string(NoiseName(AllNoises()[noise])).c_str(), rows[row].name,
                    line.c_str());
    }
  }
}

int Main(size_t replications) {
  const auto rows = Rows();
  const Cells cells = MeasureAll(rows, replications);
  std::printf("Coverage in %%, %zu samples a cell; in brackets the share of samples that got an interval\n\n",
              replications);
  PrintTable(rows, cells, [&](const Tally& tally, size_t) -> std::string {
    if (tally.given == 0) return "refused";
    const std::string covered = Percent(tally.covered, tally.given);
    return tally.given == replications ? covered : covered + " (" + Percent(tally.given, replications) + ")";
  });
  std::printf("\nCovered or refused, in %%\n\n");
  PrintTable(rows, cells, [&](const Tally& tally, size_t row) -> std::string {
    if (rows[row].name[0] != '*') return "";
    return tally.given == 0 ? "refused" : Percent(replications - tally.given + tally.covered, replications);
  });
  std::printf("\nMean width, in multiples of that of Student's t on the same samples\n\n");
  PrintTable(rows, cells, [&](const Tally& tally, size_t) -> std::string {
    if (tally.given == 0) return "refused";
    char text[16];
    std::snprintf(text, sizeof text, "%.2f", tally.width / tally.t_width);
    return text;
  });
  return 0;
}

}  // namespace
}  // namespace gapless::internal

int main(int argc, char** argv) {
  return gapless::internal::Main(argc > 1 ? static_cast<size_t>(std::strtoull(argv[1], nullptr, 10)) : 2000);
}
