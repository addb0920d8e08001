// SPDX-License-Identifier: Apache-2.0
// Time of change points over series of 2,000, 20,000 and 200,000 values: how it grows, and which series are the hard
// ones.
#include <benchmark/benchmark.h>

#include <cmath>

#include "validate/change_points.h"
#include "validate/testing/noise.h"

namespace {

using gapless::internal::FindChangePoints;

void Time(benchmark::State& state, const std::vector<double>& values) {
  size_t changes = 0;
  for (auto _ : state) changes = FindChangePoints(values).size();
  state.counters["changes"] = static_cast<double>(changes);
}

std::vector<double> Series(const benchmark::State& state, double phi) {
  return gapless::internal::NoiseSource(1).Series(static_cast<size_t>(state.range(0)), 100, 1, phi);
}

void Clean(benchmark::State& state) { Time(state, Series(state, 0)); }

void Dependent(benchmark::State& state) { Time(state, Series(state, 0.5)); }

void StepEachHundred(benchmark::State& state) {
  std::vector<double> values = Series(state, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] += i / 100 % 2 == 0 ? 0 : 5;
  Time(state, values);
}

void Quantised(benchmark::State& state) {
  std::vector<double> values = Series(state, 0);
  for (double& value : values) value = std::round(value);
  Time(state, values);
}

void RandomWalk(benchmark::State& state) {
  std::vector<double> values = Series(state, 0);
  for (size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1] - 100;
  Time(state, values);
}

BENCHMARK(Clean)->Arg(2000)->Arg(20000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(Dependent)->Arg(2000)->Arg(20000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(StepEachHundred)->Arg(2000)->Arg(20000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(Quantised)->Arg(2000)->Arg(20000)->Arg(200000)->Unit(benchmark::kMillisecond);
BENCHMARK(RandomWalk)->Arg(2000)->Arg(20000)->Arg(200000)->Unit(benchmark::kMillisecond);

}  // namespace
