// SPDX-License-Identifier: Apache-2.0
// Implements RunOptimization(): checks the options, records the command, scores the candidates, runs the planner with
// its journal, and hands over the results.
//
// The order is fixed by what can fail cheaply. Options and fix names are checked before a process starts; the journal
// is opened before the recording, so that a folder that cannot be written is refused at once. The recording comes
// before the candidates because rules and replays order them. If the recording cannot be read, fixes are still tried,
// without predictions. The budget counts from the check of the options, the recording included.
#include "flows/optimization.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/files.h"
#include "flows/optimize_progress.h"
#include "ingest/input_paths.h"
#include "optimize/job_runner.h"
#include "optimize/journal.h"
#include "proof/kept_metric.h"

namespace gapless::internal {
namespace {

constexpr size_t kMinPairs = 4;

// The order as the rooms below take it.
struct Orders {
  RunRequest request{};
  PlannerOptions planner{};
  CandidateOptions candidates{};
  OwnFixes own{};
  std::string metric_name{};
};

// Refuses options that no run could satisfy. kHardware cannot be allowed: no fix of that class can be applied to a
// program.
Result<void> CheckOptions(const OptimizeOrder& order) {
  const OptimizeOptions& options = order.options;
  const auto refuse = [](std::string why) { return Fail(ErrorCode::kUsage, std::move(why)); };
  if (options.inference && !order.request.step_function.empty())
    return refuse("--inference measures requests, and --step-function steps: they cannot be combined");
  if (order.request.command.empty() || order.request.command[0].empty()) return refuse("cannot run: no command given");
  if (options.folder.empty()) return refuse("no output folder given");
  if (!std::isfinite(options.budget_s) || options.budget_s <= 0) return refuse("the budget must be above 0 s");
  if (!(options.margin >= 0 && options.margin < 1)) return refuse("the margin must be a share below 1");
  if (!std::isfinite(options.timeout_s) || options.timeout_s < 0) return refuse("the time limit must not be below 0");
  if (options.max_pairs < kMinPairs) return refuse(StrCat("a fix needs ", kMinPairs, " pairs at least"));
  if (options.num_steps < 1) return refuse("a run must measure one step at least");
  if (options.allow == Safety::kHardware || options.allow > Safety::kQuantized)
    return refuse("what may be allowed is exact, rounding, stochastic, training, quantized");
  return {};
}

Result<void> TakeMetric(const std::string& text, Orders& orders) {
  if (text.empty()) return {};
  GAPLESS_ASSIGN(const auto metric, ParseMetric(text));
  orders.metric_name = metric.name;
  orders.request.metric = metric.pattern;
  orders.planner.has_metric = true;
  return {};
}

// Parses the user's own fixes first: the items of `only` and `without` may name them.
Result<void> TakeFixes(const OptimizeOptions& options, Orders& orders) {
  GAPLESS_ASSIGN(orders.own, OwnFixesFrom(options.own_fixes));
  orders.candidates.own = orders.own.fixes;
  for (const std::string& text : options.only) {
    GAPLESS_ASSIGN(auto items, ParseFixItems(text, orders.own.fixes));
    orders.candidates.only.insert(orders.candidates.only.end(), items.begin(), items.end());
  }
  for (const std::string& text : options.without) {
    GAPLESS_ASSIGN(const auto items, ParseFixItems(text, orders.own.fixes));
    for (const FixItem& item : items) orders.candidates.without.emplace_back(item.fix->name);
  }
  return {};
}

// Translates the options for trial and optimize, and starts the clock of the budget.
Result<Orders> OrdersFrom(const OptimizeOrder& order) {
  GAPLESS_TRY(CheckOptions(order));
  const OptimizeOptions& options = order.options;
  Orders orders{.request = order.request};
  orders.request.warmup = options.warmup_steps;
  orders.request.measure = options.num_steps;
  orders.request.inference = options.inference;
  orders.request.timeout_s = options.timeout_s;
  orders.planner = {.allow = options.allow,
                    .exact = options.exact,
                    .begun = Clock::now(),
                    .budget_s = options.budget_s,
                    .pairs = {.margin = options.margin},
                    .most_pairs = options.max_pairs,
                    .warmup = options.warmup_steps,
                    .seed = options.seed,
                    .inference = options.inference};
  GAPLESS_TRY(TakeMetric(options.metric, orders));
  GAPLESS_TRY(TakeFixes(options, orders));
  return orders;
}

// Returns all that a decision depends on beside the fixes: a journal of another key is begun anew.
std::string KeyOf(const Orders& orders) {
  std::string key =
      StrCat(Join(RedactCommand(orders.request.command), "\x1f"), "\n", Absolute("."), "\n", orders.request.warmup, " ",
             orders.request.measure, " ", static_cast<int>(orders.planner.allow), " ", orders.request.metric,
             orders.planner.exact ? " exact" : "", orders.planner.inference ? " inference" : "", " ",
             orders.planner.pairs.margin);
  for (const Fix& fix : orders.own.fixes) key += StrCat("\n", fix.own_file);
  return key;
}

// Returns how many steps of a run to record for the comparison of trainings: as many as take ten seconds, and at most
// a third of a short program.
ParityPlan ParityPlanFor(const RunSample& recorded) {
  constexpr double kSeconds = 10;
  constexpr int kMinSteps = 5;
  ParityPlan plan{.seconds = 0};
  const double step_ms = MeanStepMs(recorded);
  if (recorded.source == SampleSource::kSteps && step_ms > 0)
    plan.steps = std::clamp(static_cast<int>(kSeconds * 1e3 / step_ms), kMinSteps, plan.steps);
  if (!recorded.stopped) plan.steps = std::min(plan.steps, std::max(1, static_cast<int>(recorded.step_ns.size() / 3)));
  return plan;
}

// Records the outputs of as many calls as take ten seconds, and at most a third of those of a short program.
OutputPlan OutputPlanFor(const RunSample& recorded) {
  OutputPlan plan;
  if (!recorded.stopped) plan.calls = std::min(plan.calls, std::max(1, static_cast<int>(recorded.step_ns.size() / 3)));
  return plan;
}

// A program without requests would be measured by something else than was asked for.
Result<void> CheckRequests(const RunSample& sample) {
  if (!LatenciesOf(sample.calls, sample.stopped).empty()) return {};
  return Fail(ErrorCode::kCommand, "no request to a model was seen, so there is no latency to make smaller", "",
              "--inference is for a program that calls a PyTorch model many times, and has no optimiser; leave it out "
              "for one that trains");
}

// Makes the folder and returns the place of the recording in it, after removing the recording of an earlier start.
Result<std::string> FreshProfileFolder(const std::string& folder) {
  const std::string profile = StrCat(folder, "/profile");
  GAPLESS_TRY(MakeFolders(folder));
  std::error_code error;
  if (IsRunFolder(profile)) std::filesystem::remove_all(profile, error);
  return profile;
}

// Records the command, or, if a report already ranks the bottlenecks, only runs it for the facts about the program.
Result<ProfiledJob> RecordJob(const OptimizeOrder& order, const RunRequest& request, const std::string& folder) {
  const OptimizeOptions& options = order.options;
  if (options.bottlenecks.empty()) {
    OpenOptions load = order.load;
    load.history = options.history;
    return ProfileJob(request, folder, load);
  }
  auto job = SampleJob(request, folder);
  if (!job) return job;
  GAPLESS_ASSIGN(job->bottlenecks, ReadBottlenecks(options.bottlenecks));
  return job;
}

// Returns the predictor of the recording, which `job` owns; null without a recording or if no step can be replayed.
const Predictor* PredictorOf(const ProfiledJob& job) {
  const bool can_predict = job.analysis && job.analysis->advice().predictor();
  return can_predict ? &*job.analysis->advice().predictor() : nullptr;
}

void Tell(const std::function<void(const std::string&)>& listener, const std::string& sentence) {
  if (listener && !sentence.empty()) listener(sentence);
}

// Opens the journal and reports how many decisions of an interrupted start it brings.
Result<DecisionJournal> OpenJournal(const OptimizeOptions& options, const Orders& orders, const OptimizeWatch& watch) {
  auto journal =
      DecisionJournal::Open(StrCat(options.folder, "/journal.jsonl"), KeyOf(orders), options.fresh, orders.own.fixes);
  if (journal && journal->found() > 0)
    Tell(watch.on_note,
         StrCat("continuing: ", journal->found(), " earlier decisions are reused (--fresh discards them)"));
  return journal;
}

}  // namespace

Result<Optimization> RunOptimization(const OptimizeOrder& order, const OptimizeWatch& watch) {
  GAPLESS_ASSIGN(auto orders, OrdersFrom(order));
  const OptimizeOptions& options = order.options;
  GAPLESS_ASSIGN(const auto folder, FreshProfileFolder(options.folder));
  GAPLESS_ASSIGN(auto journal, OpenJournal(options, orders, watch));
  ProgressFile progress(options.folder, orders.request.command, options.budget_s);
  GAPLESS_ASSIGN(auto job, RecordJob(order, orders.request, folder));
  Tell(watch.on_warning, job.warning);
  if (options.inference) GAPLESS_TRY(CheckRequests(job.sample));

  Optimization done{.context = ContextOf(job, orders.request), .metric_name = orders.metric_name};
  done.context.all_values = options.all_values;
  done.context.inference = options.inference;
  // Facts that only the first run shows: the judge refuses a fix that leaves too little memory, and blocks of steps are
  // laid out for the number of loader workers.
  orders.planner.memory_limit_bytes = job.sample.gpu_capacity_bytes;
  orders.planner.loader_workers = done.context.loader_workers;
  // Twice as long as it takes: the machine may be busy by then.
  constexpr double kMaxShareOfPatch = 0.1;
  orders.planner.budget_s -= std::min(2 * SecondsToTryPatch(job.sample), kMaxShareOfPatch * options.budget_s);
  const auto candidates = FindCandidates(done.context, job.bottlenecks, PredictorOf(job), orders.candidates);
  ProcessRunner runner({.request = orders.request,
                        .context = done.context,
                        .parity = ParityPlanFor(job.sample),
                        .outputs = OutputPlanFor(job.sample)});
  auto result = Plan(candidates, orders.planner, runner, journal, [&](const PlannerEvent& event) {
    progress.On(event);
    if (watch.on_event) watch.on_event(event);
  });
  GAPLESS_TRY(result);
  // A journal that could not be written does not end the optimisation; it only cannot be continued.
  Tell(watch.on_warning, journal.failure());
  done.result = std::move(*result);
  done.result.budget_s = options.budget_s;
  done.own = std::move(orders.own);
  done.bottlenecks = std::move(job.bottlenecks);
  done.sample = std::move(job.sample);
  const double used_s = std::chrono::duration<double>(Clock::now() - orders.planner.begun).count();
  GAPLESS_ASSIGN(done.files, HandOver({.folder = options.folder,
                                       .command = orders.request.command,
                                       .keep_candidate = options.keep_candidate,
                                       .request = orders.request,
                                       .left_s = options.budget_s - used_s},
                                      done.result, done.context, done.sample));
  progress.Finish();
  return done;
}

}  // namespace gapless::internal
