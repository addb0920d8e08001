// SPDX-License-Identifier: Apache-2.0
// Measures how often the layout of a job is found from its traffic alone: simulated jobs whose process groups have no
// names, against what they were made with.
//
//   layout_quality [--jobs 100] [--ranks 64] [--steps 4] [--first SEED] [--named] [--faults]
//
// --named gives the groups names as Megatron does; --faults plants a fault in each job.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyses/analysis.h"
#include "analyses/rows/parallel_layout.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cluster/testing/simulated_job.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

using namespace gapless::internal;
using testing::Fault;

std::string FoundLayout(const testing::SimulatedJob& job) {
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
  const auto rows = tables.Get<ParallelLayoutRows>();
  std::string found;
  for (size_t row = 0; row < rows.rows(); ++row)
    found += StrCat(rows.Text(row, "dimension"), ' ', rows.Int(row, "size"), ' ', rows.Text(row, "ranks"), "; ");
  return found;
}

std::string TrueLayout(const testing::SimulatedJob& job) {
  const testing::JobLayout& of = job.spec.layout;
  const auto line = [](std::string_view name, int size, int stride) {
    std::vector<int> ranks;
    const int last = stride * (size - 1);
    const std::string text = size == 2 && stride > 1 ? StrCat("0,", last)
                             : stride > 1            ? StrCat("0-", last, '/', stride)
                                                     : StrCat("0-", last);
    return size > 1 ? StrCat(name, ' ', size, ' ', text, "; ") : std::string();
  };
  return StrCat(line("data", of.data, of.tensor), line("tensor", of.tensor, 1),
                line("pipeline", of.pipeline, of.tensor * of.data),
                line("expert", of.expert > 1 ? of.expert : 1, of.tensor),
                line("expert_data", of.expert > 1 ? of.data / of.expert : 1, of.tensor * of.expert));
}

}  // namespace

int main(int argc, char** argv) {
  int jobs = 100;
  uint64_t first = 1;
  bool faults = false;
  testing::JobSpec spec{.ranks = 64, .steps = 4, .names = testing::GroupNames::kUndefined};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
    if (word == "--named")
      spec.names = testing::GroupNames::kMegatron;
    else if (word == "--faults")
      faults = true;
    else if (word == "--jobs")
      jobs = value, ++i;
    else if (word == "--ranks")
      spec.ranks = value, ++i;
    else if (word == "--steps")
      spec.steps = value, ++i;
    else if (word == "--first")
      first = static_cast<uint64_t>(value), ++i;
    else
      return std::fprintf(stderr, "usage: the first lines of bench/layout_quality.cc\n"), 2;
  }
  std::vector<std::string> wrong(static_cast<size_t>(jobs));
  ThreadPool pool(2);
  pool.ParallelFor(wrong.size(), [&](size_t i) {
    testing::JobSpec of = spec;
    of.seed = first + i;
    if (faults) of.fault = static_cast<Fault>(1 + of.seed % (static_cast<uint64_t>(Fault::kCount) - 1));
    const testing::SimulatedJob job = testing::MakeJob(of);
    const std::string found = FoundLayout(job), truth = TrueLayout(job);
    if (found != truth)
      wrong[i] = StrCat("seed ", of.seed, ' ', NameOf(of.fault), ": ", truth, job.spec.layout.sharded ? "sharded" : "",
                        job.spec.layout.sequence_parallel ? "sequence" : "", " mb", job.spec.layout.microbatches,
                        "\n   found ", found, '\n');
  });
  int right = 0;
  for (const std::string& line : wrong) right += line.empty() ? 1 : 0, std::fputs(line.c_str(), stdout);
  std::printf("%d of %d layouts found right\n", right, jobs);
  return 0;
}
