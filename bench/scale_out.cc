// SPDX-License-Identifier: Apache-2.0
// Measures how right a simulation of more ranks is: jobs of the simulator are recorded with few ranks, predicted with
// many, and held to what the same program takes with many. The two simulators share no code: the one that makes the
// truth runs programs, the one that predicts has their recordings alone.
//
//   scale_out [--jobs 40] [--first SEED] [--from 8] [--to 16,32] [--threads 2] [--show]
//
// Half of the jobs exchange gradients (DDP), half shard their parameters (FSDP). Of each half every second one has
// nodes of 8 ranks and a network slower than NVLink, whose bandwidth the prediction is told; every fifth a slow GPU.
#include "predict/scale_out.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cluster/testing/simulated_job.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

using namespace gapless::internal;
using gapless::ErrorCode;
using gapless::Result;
using testing::Fault;
using testing::JobSpec;
using testing::SimulatedJob;

constexpr int kTrueSteps = 24, kRecordedSteps = 8;

struct Options {
  int jobs = 40, from = 8;
  uint64_t first = 1;
  std::vector<int> to{16, 32};
  size_t threads = 2;
  bool show = false;
};

// The kinds in which the jobs of a seed differ.
struct Kind {
  bool sharded = false, two_levels = false, straggles = false;
  std::string Name() const {
    return StrCat(sharded ? "FSDP" : "DDP", two_levels ? ", nodes" : "", straggles ? ", slow GPU" : "");
  }
};
Kind KindOf(uint64_t seed) { return {seed % 2 == 1, seed / 2 % 2 == 1, seed % 5 == 0}; }

JobSpec SpecOf(uint64_t seed, int ranks, int steps) {
  const Kind kind = KindOf(seed);
  JobSpec spec{.seed = seed, .ranks = ranks, .steps = steps, .cards = 8, .shards_optimizer = true};
  spec.layout = {.data = ranks, .sharded = kind.sharded};
  if (kind.straggles && ranks > 1) spec.fault = Fault::kSlowGpu, spec.severity = 1.15;
  // The simulator's rings between hosts go through all eight cards of each, which are no faster together than NVLink:
  // as fast, or 15 to 39 GB/s each. Latencies differ, too.
  spec.nvlink_gbps = 250 + static_cast<double>(seed * 13 % 200);
  spec.card_gbps = spec.nvlink_gbps / 8;
  if (kind.two_levels) spec.card_gbps = std::min(spec.card_gbps, 15 + static_cast<double>(seed * 7 % 25));
  spec.latency_us = 6 + static_cast<double>(seed * 11 % 25);
  return spec;
}

struct Answer {
  uint64_t seed = 0;
  int ranks = 0;
  double truth_ns = 0, recorded_ns = 0;
  ScaleValue said{};
  std::string refusal{};
};

std::vector<Answer> Ask(const Options& options, uint64_t seed) {
  const SimulatedJob job = testing::MakeJob(SpecOf(seed, options.from, kRecordedSteps));
  std::vector<std::shared_ptr<const Trace>> traces;
  for (int rank = 0; rank < job.spec.ranks; ++rank) {
    MemorySource source(testing::RecordingOf(job, rank), StrCat("rank-", rank, ".json"));
    ThreadPool pool(1);
    auto trace = ReadTrace(source, {.pool = pool});
    if (!trace) std::fprintf(stderr, "%s\n", trace.error().ToString().c_str()), std::exit(3);
    traces.push_back(std::make_shared<const Trace>(*std::move(trace)));
  }
  const Run run(std::move(traces));
  Tables tables(run);
  const auto predictor = Predictor::ForRun(tables);
  std::vector<Answer> answers;
  ScaleOutOptions ask{.counts = options.to, .per_node = 8};
  const JobSpec& spec = job.spec;
  ask.link_gbps = 8 * spec.card_gbps;
  const bool accepted = predictor && predictor->check().accepted();
  const Result<ScaleOut> scale =
      accepted ? PredictScaleOut(*predictor, ask)
               : Result<ScaleOut>(Fail(ErrorCode::kInput, predictor ? predictor->check().refusal : "nothing"));
  for (size_t at = 0; at < options.to.size(); ++at) {
    Answer& answer = answers.emplace_back();
    answer = {.seed = seed, .ranks = options.to[at], .recorded_ns = static_cast<double>(job.truth.step_ns)};
    answer.truth_ns = static_cast<double>(testing::MakeJob(SpecOf(seed, options.to[at], kTrueSteps)).truth.step_ns);
    if (scale)
      answer.said = scale->points[at].step_ns;
    else
      answer.refusal = scale.error().message;
  }
  return answers;
}

double Of(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Score {
  std::vector<double> errors{}, biases{}, as_recorded{}, widths{};
  size_t jobs = 0, within = 0;
};

void Add(const Answer& answer, Score& score) {
  ++score.jobs;
  if (!answer.said.expected) return;
  const double off = *answer.said.expected / answer.truth_ns - 1;
  score.errors.push_back(std::abs(off)), score.biases.push_back(off);
  score.as_recorded.push_back(std::abs(answer.recorded_ns / answer.truth_ns - 1));
  score.widths.push_back((*answer.said.high - *answer.said.low) / *answer.said.expected / 2);
  score.within += answer.truth_ns >= *answer.said.low && answer.truth_ns <= *answer.said.high ? 1 : 0;
}

void Print(const std::string& name, const Score& score) {
  std::printf("| %s | %zu | %zu | %.2f %% | %.2f %% | %+.2f %% | %zu | %.1f %% | %.2f %% |\n", name.c_str(), score.jobs,
              score.errors.size(), 100 * Of(score.errors, 0.5), 100 * Of(score.errors, 0.9),
              100 * Of(score.biases, 0.5), score.within, 100 * Of(score.widths, 0.5), 100 * Of(score.as_recorded, 0.5));
}

bool Set(std::string_view option, const std::string& value, Options& options) {
  const int number = std::atoi(value.c_str());
  if (option == "--jobs") return options.jobs = number, number > 0;
  if (option == "--from") return options.from = number, number > 0;
  if (option == "--first") return options.first = std::strtoull(value.c_str(), nullptr, 10), true;
  if (option == "--threads") return options.threads = static_cast<size_t>(std::max(1, number)), number > 0;
  if (option != "--to") return false;
  options.to.clear();
  for (const std::string_view word : Split(value, ',')) options.to.push_back(std::atoi(std::string(word).c_str()));
  return std::ranges::all_of(options.to, [](int ranks) { return ranks > 0; });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--show")
      options.show = true;
    else if (i + 1 >= argc || !Set(word, argv[++i], options))
      return std::fprintf(stderr, "usage: the first lines of bench/scale_out.cc\n"), 2;
  }
  ThreadPool pool(options.threads);
  std::vector<std::vector<Answer>> answers(static_cast<size_t>(options.jobs));
  pool.ParallelFor(answers.size(), [&](size_t i) { answers[i] = Ask(options, options.first + i); });
  std::map<std::string, Score> scores;
  for (const auto& of : answers)
    for (const Answer& answer : of) {
      const std::string kind = KindOf(answer.seed).Name();
      Add(answer, scores[StrCat(answer.ranks, " ranks, ", kind)]);
      Add(answer, scores[StrCat(answer.ranks, " ranks")]);
      if (options.show)
        std::printf("  %4llu %-20s %3d truth %9.3f ms recorded %9.3f said %9.3f (%.3f to %.3f) %+.2f %% %s\n",
                    static_cast<unsigned long long>(answer.seed), kind.c_str(), answer.ranks, answer.truth_ns / 1e6,
                    answer.recorded_ns / 1e6, answer.said.expected.value_or(0) / 1e6, answer.said.low.value_or(0) / 1e6,
                    answer.said.high.value_or(0) / 1e6, 100 * answer.said.expected.value_or(0) / answer.truth_ns - 100,
                    answer.refusal.c_str());
    }
  std::printf(
      "| from %d to | jobs | predicted | median error | 90 %% | median bias | within 80 %% | half width | "
      "step as recorded: error |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
      options.from);
  for (const auto& [name, score] : scores) Print(name, score);
  return 0;
}
