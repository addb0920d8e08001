// SPDX-License-Identifier: Apache-2.0
// The command `gapless bench`: measures one command, with --inference its requests, or with --scaling several numbers
// of ranks.
//
// A program whose steps the agent sees is measured in one process. Without steps a process is one value, so ten of them
// are run after one that is not counted. --precision goes on until the interval is narrow enough, at most 20 times
// --steps. The exit status is 1 only for a scaling curve that should be measured again; other measurements judge
// nothing.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/bench/inference.h"
#include "cli/commands/bench/server.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scaling.h"
#include "cli/step_progress.h"
#include "proof/measure.h"
#include "proof/result_json.h"
#include "proof/scaling.h"
#include "report/bench/report.h"
#include "report/next.h"
#include "validate/interval.h"

namespace gapless::internal::bench_command {
namespace {

constexpr int64_t kMaxRuns = 10'000;
constexpr size_t kWholeRuns = 10;
constexpr size_t kMaxSteps = 20;  // times --steps, when an interval is asked for

struct BenchArguments : ServerArguments {
  std::optional<double> precision{};
  std::optional<size_t> runs{};
  std::vector<int> scaling{};
  bool inference = false;
  std::string output{};  // empty: not given
  static constexpr OptionList kOptions{
      kStepsOption,
      kWarmupOption,
      Parsed<&BenchArguments::precision, ReadShare>(
          "SHARE", "Measure until the interval is narrower than SHARE, such as 1% (at most 20 times --steps)"),
      Number<&BenchArguments::runs>(
          "N", "Run N processes (1; 10 if whole processes are measured); with --scaling, N rounds over all counts", 1,
          kMaxRuns),
      Parsed<&BenchArguments::scaling, ReadRankCounts>(
          "LIST", "Measure with each of these numbers of ranks, started by torchrun: 1,2,4,8"),
      Flag<&BenchArguments::inference>(
          "Measure requests to a model: latency, throughput, tokens (--steps counts requests)"),
      kServerOptions,
      kPatternOption,
      kWholeOption,
      kToTheEndOption,
      kProcessOptions,
      Text<&BenchArguments::output>("DIR", "Keep the run's folder in DIR, for gapless analyze").Short('o'),
      kShowOutputOption,
  };
};

// The order for the measurement. `runs` is absent if the kind of program decides; `scaling` is empty unless a curve was
// asked for.
struct Plan {
  RunRequest request;
  std::optional<size_t> runs;
  std::vector<int> scaling;
};

// Reads the options, and refuses combinations that would measure something else than they say.
Result<Plan> PlanFrom(const BenchArguments& arguments) {
  GAPLESS_ASSIGN(auto request, RequestFrom(arguments, arguments.command));
  Plan plan{.request = std::move(request), .runs = {}, .scaling = {}};
  plan.request.folder = arguments.output;
  plan.request.inference = arguments.inference;
  const auto other =
      FirstGiven<&BenchArguments::scaling, &BenchArguments::runs, &BenchArguments::precision, &MeasureArguments::whole>(
          arguments);
  if (arguments.inference && !other.empty())
    return Fail(ErrorCode::kUsage, StrCat("--inference and --", other, " cannot be combined"));
  plan.runs = arguments.runs;
  if (!plan.request.folder.empty() && plan.runs > size_t{1})
    return Fail(ErrorCode::kUsage, "--output keeps the folder of one run", "", "omit --output or --runs");
  if (const double precision = arguments.precision.value_or(0); precision > 0)
    // Asked after each step with all steps so far: half of the interval, as a share of the step, must be below the
    // wish.
    plan.request.enough = [wanted = precision, most = plan.request.measure * kMaxSteps](std::span<const int64_t> ns) {
      if (ns.size() >= most) return true;
      std::vector<double> steps(ns.begin(), ns.end());
      const auto offer = OfferInterval(steps);
      if (!offer || !offer->interval || offer->interval->expected <= 0) return false;
      return (offer->interval->high - offer->interval->low) / 2 <= wanted * offer->interval->expected;
    };
  GAPLESS_ASSIGN(plan.scaling, RanksFrom(arguments.scaling, plan.request));
  return plan;
}

// Runs the processes. Only the first run shows if the program takes steps: whole processes are repeated, a process that
// takes steps need not be.
Result<std::vector<RunSample>> Measure(const Plan& plan, const Session& session) {
  std::vector<RunSample> samples;
  ProgressLine progress;
  RunRequest request = plan.request;
  StepProgress steps(progress, request.warmup, request.measure);
  if (session.shows_progress && !request.show_output) request.watchers.push_back(&steps);
  size_t runs = plan.runs.value_or(1);
  bool warm = false;
  while (samples.size() < runs) {
    GAPLESS_ASSIGN(auto sample, RunMeasured(request));
    const bool whole = sample.source == SampleSource::kProcess;
    // Known only after the first process: without steps one process is one value.
    if (whole && !plan.runs && runs == 1) runs = kWholeRuns;
    if (whole && !warm && runs > 1) {  // the first one fills the caches for all
      warm = true;
      continue;
    }
    samples.push_back(std::move(sample));
    if (session.shows_progress && runs > 1)
      progress.Update("measuring", "", samples.size(), runs,
                      [](uint64_t count) { return StrCat(count, " processes"); });
  }
  return samples;
}

// Measures the requests of one process.
Result<int> ExecuteInference(const BenchArguments& arguments, RunRequest request, const Session& session) {
  ProgressLine progress;
  StepProgress steps(progress, request.warmup, request.measure);
  if (session.shows_progress && !request.show_output) request.watchers.push_back(&steps);
  GAPLESS_ASSIGN(const auto sample, RunMeasured(request));
  GAPLESS_ASSIGN(const auto metrics, InferenceOf(sample));
  return PrintTextOrJson(
      arguments, [&] { return InferenceText(metrics, sample); },
      [&] { return InferenceJson(metrics, sample, request.command); });
}

// Measures a server, or refuses options that would measure something else than they say.
Result<int> ExecuteUrl(const BenchArguments& arguments, const Session& session) {
  const auto other =
      FirstGiven<&BenchArguments::scaling, &BenchArguments::runs, &BenchArguments::precision, &MeasureArguments::whole,
                 &MeasureArguments::pattern, &BenchArguments::output>(arguments);
  if (!other.empty()) return Fail(ErrorCode::kUsage, StrCat("--url and --", other, " cannot be combined"));
  if (!arguments.inference)
    return Fail(ErrorCode::kUsage, "--url measures requests to a server: it takes --inference", "",
                "gapless bench --inference --url http://localhost:8000");
  return ExecuteServer(arguments, session);
}

// Measures a server, a scaling curve, requests, or a command, in this order of precedence.
Result<int> Execute(const BenchArguments& arguments, Session& session) {
  if (!arguments.url.empty()) return ExecuteUrl(arguments, session);
  const auto of_server =
      FirstGiven<&ServerArguments::slo, &ServerArguments::model, &ServerArguments::prompts>(arguments);
  if (!of_server.empty())
    return Fail(ErrorCode::kUsage, StrCat("--", of_server, " is for a server: --url is missing"), "",
                "gapless bench --inference --url http://localhost:8000");
  GAPLESS_ASSIGN(auto plan, PlanFrom(arguments));
  if (!plan.scaling.empty()) {
    ProgressLine progress;
    size_t begun = 0;
    const size_t rounds = plan.runs.value_or(1);
    const auto curve = MeasureScaling(plan.request, plan.scaling, rounds, [&](int ranks) {
      if (session.shows_progress)
        progress.Update("measuring", StrCat(ranks, ranks == 1 ? " rank" : " ranks"), begun++,
                        plan.scaling.size() * rounds, [](uint64_t count) { return StrCat(count, " of the runs"); });
    });
    GAPLESS_TRY(curve);
    return Answer(
        arguments, WhyToRepeat(*curve).empty(), [&] { return ScalingText(*curve); },
        [&] { return ScalingJson(*curve, "bench"); });
  }
  if (plan.request.inference) return ExecuteInference(arguments, plan.request, session);
  GAPLESS_ASSIGN(const auto samples, Measure(plan, session));
  const std::vector<std::string> next = NextLines(After::kMeasuring, {.command = plan.request.command});
  return PrintTextOrJson(
      arguments, [&] { return StrCat(BenchText(samples), NextText(next)); },
      [&] { return ResultJson(samples, plan.request.command, next); });
}

constexpr const TypeInfo* kDocuments[] = {&kBenchDocument, &kScalingDocument, &kInferenceDocument, &kServerDocument};
constexpr Example kExamples[] = {
    {"gapless bench -- python train.py", "A hundred steps after ten of warm-up; then the program is stopped"},
    {"gapless bench --precision 1% -- python train.py", "As many steps as that takes"},
    {"gapless bench --runs 20 -- ./program", "Without steps, the time of whole processes"},
    {"gapless bench --inference -- python generate.py", "Latency of requests, time to first token, tokens a second"},
    {"gapless bench --inference --url http://localhost:8000 --slo ttft=200ms,tpot=50ms",
     "A server that streams text as OpenAI's does: latency by its parts, throughput, goodput"},
    {"gapless bench --scaling 1,2,4 -- python train.py", "Throughput and efficiency with 1, 2 and 4 ranks"},
};

}  // namespace

COMMAND(bench) = {
    .name = "bench",
    .place = {groups::kProve, 4},
    .help = "Measure a command's steps, throughput and memory",
    .about =
        "Runs a command unchanged, measures its training steps after warm-up, then stops it. If no steps are detected, "
        "it times whole processes, or reads the numbers that --pattern finds in the output. The interval allows for "
        "autocorrelated steps (docs/STATISTICS.md) and is refused if the steps do not support one.\n\n--inference "
        "--url loads a server that is running: so many clients, each of which sends its next request when its last one "
        "is answered. Requests that fail are counted, and are in no figure.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::bench_command
