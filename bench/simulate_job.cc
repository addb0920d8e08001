// SPDX-License-Identifier: Apache-2.0
// Writes the recordings of a simulated job into a folder, one a rank, and beside them what was planted:
//
//   simulate_job [--seed N] [--ranks 256] [--layout dp=32,tp=8,pp=1,ep=1,mb=1] [--fault KIND|none] [--severity X]
//                [--steps 6] [--clock X] [--drift X] [--summaries] OUT_DIR
//
// --clock and --drift scale how far the clocks of hosts are apart, and how they drift. With --summaries the folder
// holds summaries (.gapsum) instead of recordings (.json).
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "analyses/analysis.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cluster/condense.h"
#include "cluster/testing/simulated_job.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace {

using namespace gapless::internal;
using testing::Fault;

struct Wanted {
  testing::JobSpec spec{};
  bool summaries = false;
  std::string folder{};
};

bool SetLayout(std::string_view text, testing::JobLayout& layout) {
  for (const std::string_view part : Split(text, ',')) {
    const size_t sign = part.find('=');
    if (sign == part.npos) return false;
    const std::string_view key = part.substr(0, sign);
    const int value = std::atoi(std::string(part.substr(sign + 1)).c_str());
    int* const of = key == "dp"   ? &layout.data
                    : key == "tp" ? &layout.tensor
                    : key == "pp" ? &layout.pipeline
                    : key == "ep" ? &layout.expert
                    : key == "mb" ? &layout.microbatches
                                  : nullptr;
    if (of == nullptr || value < 1) return false;
    *of = value;
  }
  if (layout.pipeline > layout.microbatches) layout.microbatches = layout.pipeline;
  return layout.data % layout.expert == 0;
}

bool Set(std::string_view option, const std::string& value, Wanted& wanted) {
  testing::JobSpec& spec = wanted.spec;
  if (option == "--seed") return spec.seed = std::strtoull(value.c_str(), nullptr, 10), true;
  if (option == "--ranks") return spec.ranks = std::atoi(value.c_str()), spec.ranks > 0;
  if (option == "--steps") return spec.steps = std::atoi(value.c_str()), spec.steps > 0;
  if (option == "--severity") return spec.severity = std::atof(value.c_str()), true;
  if (option == "--clock") return spec.clock_scale = std::atof(value.c_str()), true;
  if (option == "--drift") return spec.drift_scale = std::atof(value.c_str()), true;
  if (option == "--fault") return spec.fault = testing::FaultNamed(value), spec.fault != Fault::kCount;
  return option == "--layout" && SetLayout(value, spec.layout);
}

std::optional<Wanted> WantedOf(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--summaries")
      wanted.summaries = true;
    else if (!word.starts_with("--"))
      wanted.folder = word;
    else if (i + 1 >= argc || !Set(word, argv[++i], wanted))
      return std::nullopt;
  }
  return wanted.folder.empty() ? std::nullopt : std::optional(wanted);
}

void Write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string SummaryOf(std::string recording) {
  MemorySource source(std::move(recording));
  ThreadPool pool(1);
  auto trace = ReadTrace(source, {.pool = pool});
  if (!trace) std::fprintf(stderr, "%s\n", trace.error().ToString().c_str()), std::exit(3);
  const Run run(std::vector{std::make_shared<const Trace>(*std::move(trace))});
  Tables tables(run);
  return Condense(tables, run.traces()[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Wanted> wanted = WantedOf(argc, argv);
  if (!wanted)
    return std::fprintf(stderr,
                        "usage: simulate_job [--seed N] [--ranks N] [--layout dp=N,tp=N,pp=N,ep=N,mb=N] [--fault KIND] "
                        "[--severity X] [--steps N] [--clock X] [--drift X] [--summaries] OUT_DIR\n"),
           2;
  const testing::SimulatedJob job = testing::MakeJob(wanted->spec);
  const std::filesystem::path folder(wanted->folder);
  std::filesystem::create_directories(folder);
  for (int rank = 0; rank < job.spec.ranks; ++rank) {
    std::string recording = testing::RecordingOf(job, rank);
    const std::string name = StrCat("rank-", std::to_string(100'000 + rank).substr(1));
    if (wanted->summaries)
      Write(folder / (name + ".gapsum"), SummaryOf(std::move(recording)));
    else
      Write(folder / (name + ".json"), recording);
  }
  Write(folder / "truth.json", testing::TruthOf(job));
  std::fputs(testing::TruthOf(job).c_str(), stdout);
  return 0;
}
