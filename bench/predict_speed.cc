// SPDX-License-Identifier: Apache-2.0
// Measures what predicting costs: building the graph, one replay, and the whole catalogue of what-ifs, of a recording
// as it is and replays of one ten and a hundred times as long (its steps repeated). Prints rates, and how the costs
// grow.
//
//   predict_speed FILE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "ingest/load.h"
#include "predict/predictor.h"

namespace {

using gapless::internal::Graph;
using Clock = std::chrono::steady_clock;

// The shortest of five.
template <class F>
double BestMs(F&& f) {
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

// The graph `times` times one after the other, each part after the last instant of the one before.
Graph Repeated(const Graph& graph, uint32_t times) {
  Graph all;
  for (uint32_t part = 0; part < times; ++part) {
    const auto base = static_cast<uint32_t>(all.recorded_ns.size());
    const int64_t shift = all.recorded_ns.empty() ? 0 : all.recorded_ns.back();
    for (const uint32_t first : graph.first_edge)
      if (all.first_edge.size() < base + graph.size())
        all.first_edge.push_back(first + static_cast<uint32_t>(all.edges.size()));
    for (const int64_t ns : graph.recorded_ns) all.recorded_ns.push_back(ns + shift);
    all.edges.insert(all.edges.end(), graph.edges.begin(), graph.edges.end());
    for (const gapless::internal::Instant from : graph.from)
      all.from.push_back(from == gapless::internal::kNoInstant ? from : from + base);
  }
  all.first_edge.push_back(static_cast<uint32_t>(all.edges.size()));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gapless::internal;
  if (argc != 2) return std::fprintf(stderr, "usage: predict_speed FILE\n"), 2;
  const auto loaded = LoadRun(std::vector<std::string>{argv[1]});
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().ToString().c_str()), 3;
  Tables tables(loaded->run);
  const auto predictor = Predictor::ForRun(tables);
  if (!predictor || !predictor->check().accepted()) return std::fprintf(stderr, "no prediction\n"), 3;
  const Graph& graph = predictor->main_rank().graph;
  const Trace& trace = *predictor->main_rank().of->trace;
  const double events = static_cast<double>(graph.size()) / 2;  // an event has a beginning and an end
  const double build_ms = BestMs([&] { (void)BuildGraph(trace); });
  const double replay_ms = BestMs([&] { (void)Replay(graph); });
  size_t asked = 0;
  const double catalogue_ms = BestMs([&] {
    asked = 0;
    for (const Fix* fix : FixesWithModel()) {
      if (fix->model.needs_value()) continue;
      (void)predictor->Predict({{.name = std::string(fix->name)}});
      ++asked;
    }
  });
  std::printf("events %.0f\nbuild %.2f ms, %.1f million events a second\n", events, build_ms, events / build_ms / 1e3);
  std::printf("replay %.3f ms, %.0f million events a second\n", replay_ms, events / replay_ms / 1e3);
  for (const uint32_t times : {10U, 100U}) {
    const Graph longer = Repeated(graph, times);
    const double ms = BestMs([&] { (void)Replay(longer); });
    std::printf("replay of %u times as much: %.3f ms, %.0f million events a second\n", times, ms,
                times * events / ms / 1e3);
  }
  std::printf("catalogue of %zu what-ifs, three replays each: %.1f ms\n", asked, catalogue_ms);
  return 0;
}
