// SPDX-License-Identifier: Apache-2.0
// Measures how often the analysis slow_parts is right: simulated jobs with one planted fault each, and clean ones,
// read, condensed and analysed as a real job would be; the first row is held to what was planted.
//
//   faults [--quick] [--jobs 20] [--clean 40] [--only KIND] [--ranks 256] [--steps 6] [--first SEED] [--clock X]
//          [--drift X] [--recordings] [--threads 2] [--show] [--json FILE]
//
// --recordings analyses recordings instead of summaries; --clock and --drift scale how far the clocks of hosts are
// apart, and how they drift; --show prints a line for each job. The table names the seeds of wrong answers:
// simulate_job makes them again.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
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
#include "trace/process_groups.h"
#include "trace/summary_file.h"

namespace {

using namespace gapless::internal;
using testing::Fault;
using testing::JobTruth;
using testing::SimulatedJob;

constexpr std::string_view kTable = "slow_parts";

struct Options {
  testing::JobSpec spec{};
  int jobs = 20, clean = 40;
  uint64_t first = 1;
  std::string only{}, json{};
  size_t threads = 2;
  bool recordings = false, show = false;
};

// A row of slow_parts, as far as it is held to the truth.
struct Named {
  std::string part{}, kind{}, ranks{};
};

struct Answer {
  uint64_t seed = 0;
  JobTruth truth{};
  std::string layout{};
  std::vector<Named> named{};
  double seconds = 0;
};

std::string CellOf(const Table& table, size_t row, std::string_view column) {
  const int at = table.Find(column);
  return at < 0 || table.IsNull(row, at) ? std::string() : std::string(table.Text(row, at));
}

std::shared_ptr<const Trace> ReadRank(const SimulatedJob& job, int rank, bool recording) {
  MemorySource source(testing::RecordingOf(job, rank), StrCat("rank-", rank, ".json"));
  ThreadPool pool(1);
  auto trace = ReadTrace(source, {.pool = pool});
  if (!trace) std::fprintf(stderr, "%s\n", trace.error().ToString().c_str()), std::exit(3);
  auto whole = std::make_shared<const Trace>(*std::move(trace));
  if (recording) return whole;
  const Run run(std::vector{std::move(whole)});
  Tables tables(run);
  auto light = ReadSummary(Condense(tables, run.traces()[0]));
  if (!light) std::fprintf(stderr, "%s\n", light.error().ToString().c_str()), std::exit(3);
  return std::make_shared<const Trace>(*std::move(light));
}

Answer Ask(const testing::JobSpec& spec, bool recordings) {
  const auto start = std::chrono::steady_clock::now();
  const SimulatedJob job = testing::MakeJob(spec);
  std::vector<std::shared_ptr<const Trace>> traces;
  for (int rank = 0; rank < job.spec.ranks; ++rank) traces.push_back(ReadRank(job, rank, recordings));
  const Run run(std::move(traces));
  Tables tables(run);
  const Table& table = tables.Get(kTable);
  const testing::JobLayout& layout = job.spec.layout;
  Answer answer{
      .seed = spec.seed,
      .truth = job.truth,
      .layout = StrCat("dp", layout.data, " tp", layout.tensor, " pp", layout.pipeline, " ep", layout.expert)};
  for (size_t row = 0; row < table.rows(); ++row)
    answer.named.push_back({CellOf(table, row, "part"), CellOf(table, row, "kind"), CellOf(table, row, "ranks")});
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

std::set<int> RanksOf(std::string_view text) {
  std::set<int> ranks;
  for (const int64_t rank : RanksInText(text)) ranks.insert(static_cast<int>(rank));
  return ranks;
}

// Words for the kind of a fault that are right. What leaves no mark of its own is right as a pause of the host.
bool IsRightKind(const JobTruth& truth, std::string_view kind) {
  const auto is_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, kind) != words.end();
  };
  switch (truth.fault) {
    case Fault::kSlowGpu: return is_of({"gpu", "kernels"});
    case Fault::kSlowHost: return is_of({"host", "pauses", "launch"});
    case Fault::kSlowLink: return is_of({"link"});
    case Fault::kSlowNvlink: return is_of({"link", "nvlink"});
    case Fault::kSlowSwitch: return is_of({"link", "switch", "host_network"});
    case Fault::kUnevenData: return is_of({"work", "kernels"});
    case Fault::kGarbage: return truth.variant == "silent" ? is_of({"pauses", "host", "garbage"}) : is_of({"garbage"});
    case Fault::kSlowLoader: return is_of({"loader"});
    default: return false;
  }
}

struct Score {
  int jobs = 0, part = 0, overlap = 0, kind = 0, both = 0, nothing = 0, with_others = 0;
  double seconds = 0;
  std::vector<uint64_t> wrong{};  // seeds
};

void Add(const Answer& answer, Score& score) {
  ++score.jobs;
  score.seconds += answer.seconds;
  score.nothing += answer.named.empty() ? 1 : 0;
  if (answer.truth.fault == Fault::kNone) {
    if (!answer.named.empty()) score.wrong.push_back(answer.seed);
    return;
  }
  const std::set<int> truth(answer.truth.ranks.begin(), answer.truth.ranks.end());
  const auto touches = [&](const Named& named) {
    return std::ranges::any_of(RanksOf(named.ranks), [&](int rank) { return truth.contains(rank); });
  };
  score.with_others += std::ranges::all_of(answer.named, touches) ? 0 : 1;
  const bool part = !answer.named.empty() && RanksOf(answer.named[0].ranks) == truth;
  const bool kind = !answer.named.empty() && IsRightKind(answer.truth, answer.named[0].kind);
  score.part += part ? 1 : 0, score.kind += kind ? 1 : 0, score.both += part && kind ? 1 : 0;
  score.overlap += !part && !answer.named.empty() && touches(answer.named[0]) ? 1 : 0;
  if (!part || !kind) score.wrong.push_back(answer.seed);
}

std::string SeedsOf(const std::vector<uint64_t>& seeds, std::string_view between = " ") {
  std::vector<std::string> texts;
  for (const uint64_t seed : seeds) texts.push_back(std::to_string(seed));
  return Join(texts, between);
}

void Show(const Answer& answer) {
  std::printf(
      "  %-12s %4llu %-22s %-9s severity %-6.3g step %+5.1f %%  truth %.40s",
      std::string(NameOf(answer.truth.fault)).c_str(), static_cast<unsigned long long>(answer.seed),
      answer.layout.c_str(), answer.truth.variant.c_str(), answer.truth.severity,
      100.0 * static_cast<double>(answer.truth.step_ns) / static_cast<double>(answer.truth.step_without_ns) - 100,
      testing::RankText(answer.truth.ranks).c_str());
  std::printf("  said:");
  for (size_t i = 0; i < std::min<size_t>(3, answer.named.size()); ++i)
    std::printf(" [%s %s %.40s]", answer.named[i].part.c_str(), answer.named[i].kind.c_str(),
                answer.named[i].ranks.c_str());
  std::printf(answer.named.size() > 3 ? " and %zu more\n" : "\n", answer.named.size() - 3);
}

Score ScoreOf(const Options& options, Fault fault, ThreadPool& pool) {
  const int count = fault == Fault::kNone ? options.clean : options.jobs;
  std::vector<Answer> answers(static_cast<size_t>(std::max(0, count)));
  pool.ParallelFor(answers.size(), [&](size_t i) {
    testing::JobSpec spec = options.spec;
    spec.seed = options.first + i, spec.fault = fault;
    answers[i] = Ask(spec, options.recordings);
  });
  Score score;
  for (const Answer& answer : answers) {
    if (options.show) Show(answer);
    Add(answer, score);
  }
  return score;
}

std::string JsonOf(const Options& options, const std::map<Fault, Score>& scores) {
  std::string rows;
  for (const auto& [fault, score] : scores)
    rows += StrCat(rows.empty() ? "\n" : ",\n", "    {\"fault\": \"", NameOf(fault), "\", \"jobs\": ", score.jobs,
                   ", \"part_right\": ", score.part, ", \"part_overlaps\": ", score.overlap,
                   ", \"kind_right\": ", score.kind, ", \"both_right\": ", score.both,
                   ", \"nothing_named\": ", score.nothing, ", \"others_named\": ", score.with_others,
                   ", \"seconds\": ", FormatNumber(score.seconds, 1), ", \"wrong_seeds\": [",
                   SeedsOf(score.wrong, ", "), "]}");
  std::string json =
      StrCat("{\n  \"ranks\": ", options.spec.ranks, ",\n  \"steps\": ", options.spec.steps,
             ",\n  \"clock\": ", FormatDigits(options.spec.clock_scale, 3),
             ",\n  \"drift\": ", FormatDigits(options.spec.drift_scale, 3), ",\n  \"faults\": [", rows, "\n  ]\n}\n");
  return json;
}

void Print(Fault fault, const Score& score) {
  if (fault == Fault::kNone)
    std::printf("| none | %d | nothing named: %d | | | | | %.1f s | %s |\n", score.jobs, score.nothing,
                score.seconds / std::max(1, score.jobs), SeedsOf(score.wrong).c_str());
  else
    std::printf("| %s | %d | %d | %d | %d | %d | %d | %.1f s | %s |\n", std::string(NameOf(fault)).c_str(), score.jobs,
                score.part, score.overlap, score.kind, score.nothing, score.with_others,
                score.seconds / std::max(1, score.jobs), SeedsOf(score.wrong).c_str());
  std::fflush(stdout);
}

bool Set(std::string_view option, const std::string& value, Options& options) {
  const int number = std::atoi(value.c_str());
  if (option == "--jobs") return options.jobs = number, number >= 0;
  if (option == "--clean") return options.clean = number, number >= 0;
  if (option == "--ranks") return options.spec.ranks = number, number > 1;
  if (option == "--steps") return options.spec.steps = number, number > 1;
  if (option == "--threads") return options.threads = static_cast<size_t>(std::max(1, number)), number > 0;
  if (option == "--first") return options.first = std::strtoull(value.c_str(), nullptr, 10), true;
  if (option == "--clock") return options.spec.clock_scale = std::atof(value.c_str()), true;
  if (option == "--drift") return options.spec.drift_scale = std::atof(value.c_str()), true;
  if (option == "--json") return options.json = value, !value.empty();
  return option == "--only" && (options.only = value, testing::FaultNamed(value) != Fault::kCount);
}

std::optional<Options> OptionsOf(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick")
      options.jobs = 3, options.clean = 6;
    else if (word == "--recordings")
      options.recordings = true;
    else if (word == "--show")
      options.show = true;
    else if (i + 1 >= argc || !Set(word, argv[++i], options))
      return std::nullopt;
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = OptionsOf(argc, argv);
  if (!options) return std::fprintf(stderr, "usage: the first lines of bench/faults.cc\n"), 2;
  if (std::ranges::find(AllAnalyses(), kTable, &Analysis::name) == AllAnalyses().end())
    return std::printf("there is no table %s in this build: nothing to judge\n", std::string(kTable).c_str()), 0;
  ThreadPool pool(options->threads);
  std::map<Fault, Score> scores;
  std::printf(
      "| fault | jobs | part right | overlaps it | kind right | nothing named | others, too | a job | wrong seeds |\n");
  std::printf("|---|---:|---:|---:|---:|---:|---:|---:|---|\n");
  for (size_t i = 0; i < static_cast<size_t>(Fault::kCount); ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!options->only.empty() && options->only != NameOf(fault)) continue;
    Print(fault, scores[fault] = ScoreOf(*options, fault, pool));
  }
  if (!options->json.empty()) std::ofstream(options->json) << JsonOf(*options, scores);
  return 0;
}
