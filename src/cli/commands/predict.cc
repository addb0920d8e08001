// SPDX-License-Identifier: Apache-2.0
// The command `gapless predict`: predicts the speedup of fixes from a recording, compares a prediction with a measured
// recording, and records the comparison.
//
// A recording that fails the self-check gets no prediction at all: the exit status is then 1 and the output is the
// reason. With --record the comparison goes into the user's history, where it corrects later predictions of its kind.
#include <algorithm>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "report/predict/report.h"

namespace gapless::internal {
namespace {

// Returns what to predict: each --what is one combination; without any, each what-if that needs no value by itself.
Result<std::vector<std::vector<WhatIfItem>>> CombinationsFrom(const Arguments& arguments) {
  std::vector<std::vector<WhatIfItem>> combinations;
  for (const std::string& text : arguments.Values("what")) {
    GAPLESS_ASSIGN(auto items, ParseItems(text));
    combinations.push_back(std::move(items));
  }
  if (!combinations.empty()) return combinations;
  for (const Fix* fix : FixesWithModel())
    if (!fix->model.needs_value()) combinations.push_back({{.name = std::string(fix->name)}});
  return combinations;
}

// Parts of the step, the longest ones, that --sweep makes cheaper.
constexpr size_t kMaxSwept = 10;

// Fills in the predictions, and the critical path and the sweep if they are wanted.
Result<void> Fill(const Arguments& arguments, const std::vector<std::vector<WhatIfItem>>& combinations,
                  PredictView& view) {
  for (const auto& items : combinations) {
    GAPLESS_ASSIGN(auto prediction, view.predictor.Predict(items));
    view.predictions.push_back(std::move(prediction));
  }
  if (!arguments.Has("what"))  // a list to choose from: the best first
    std::stable_sort(view.predictions.begin(), view.predictions.end(), [](const Prediction& a, const Prediction& b) {
      if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
      return a.share.expected < b.share.expected;
    });
  if (arguments.Has("path")) {
    const RankGraph& rank = view.predictor.main_rank();
    view.path = FindCriticalPath(rank, RecordedEdges(rank.graph), Replay(rank.graph));
  }
  if (arguments.Has("sweep")) {
    const auto by = std::find(kSweepNames.begin(), kSweepNames.end(), arguments.Value("sweep"));
    view.sweep_by = *by;
    view.sweep = Sweep(view.predictor, static_cast<SweepBy>(by - kSweepNames.begin()), kMaxSwept);
  }
  return {};
}

std::vector<std::string_view> SweepNames() { return {kSweepNames.begin(), kSweepNames.end()}; }

// Returns the step of a recording that was made with the fix, as a share of the step before. Both steps are those that
// the replay uses.
Result<double> MeasuredShare(const Arguments& arguments, const Session& session, const Predictor& before) {
  const std::string path(arguments.Value("measured"));
  GAPLESS_ASSIGN(const auto loaded, LoadFor(arguments, session, {&path, 1}));
  Tables tables(loaded.run);
  const auto after = Predictor::ForRun(tables);
  if (!after || after->step_ns() <= 0 || before.step_ns() <= 0)
    return Fail(ErrorCode::kInput, "cannot measure: the recording has no complete step", path);
  return static_cast<double>(after->step_ns()) / static_cast<double>(before.step_ns());
}

// One measurement tests one combination, so --measured takes exactly one --what.
Result<void> CheckMeasured(const Arguments& arguments) {
  if (arguments.Has("record") && !arguments.Has("measured"))
    return Fail(ErrorCode::kUsage, "--record requires --measured", "",
                "gapless predict before --what amp --measured after --record");
  if (arguments.Has("measured") && arguments.Values("what").size() != 1)
    return Fail(ErrorCode::kUsage, "--measured requires exactly one --what", "",
                "gapless predict before --what amp --measured after");
  return {};
}

// Compares the prediction with the recording of --measured, and records the comparison if --record asks for it.
Result<void> Measure(const Arguments& arguments, const Session& session, PredictView& view) {
  if (!arguments.Has("measured")) return {};
  GAPLESS_ASSIGN(const auto step, MeasuredShare(arguments, session, view.predictor));
  // Shares are per work: a step of twice the samples may take twice as long.
  const double work = view.predictions.empty() ? 1 : view.predictions[0].work;
  const Result<double> share = step / work;
  view.measured = *share;
  if (view.predictions.empty()) return {};
  const Prediction& prediction = view.predictions[0];
  if (!arguments.Has("record") || !prediction.refusal.empty()) return {};
  return KeepTestedPrediction(arguments.Value("db"), prediction, arguments.positionals()[0], *share);
}

// Checks the combinations before the recording is read. They can still turn out to have no effect on this recording,
// which is an answer, not an error.
Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("list")) return PrintTextOrJson(arguments, WhatIfsText, WhatIfsJson);
  GAPLESS_TRY(CheckMeasured(arguments));
  GAPLESS_ASSIGN(const auto combinations, CombinationsFrom(arguments));
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.positionals()));
  WarnOfLosses(analysis->loaded());
  const auto predictor = Predictor::ForRun(analysis->tables(), analysis->tested().rows, arguments.Has("all-steps"));
  if (!predictor)
    return Fail(ErrorCode::kInput, "cannot predict: the recording has no operators and no GPU operations");
  PredictView view{.predictor = *predictor};
  // A recording that fails the check is still shown with the reason.
  if (predictor->check().accepted()) {
    GAPLESS_TRY(Fill(arguments, combinations, view));
    GAPLESS_TRY(Measure(arguments, session, view));
  }
  auto printed = PrintTextOrJson(
      arguments, [&] { return PredictText(view, session.terminal.width); }, [&] { return PredictJson(view); });
  if (!printed) return printed;
  return predictor->check().accepted() ? 0 : 1;
}

constexpr std::string_view kNoPath[] = {"list"};
constexpr PositionalSpec kPaths = [] {
  PositionalSpec paths = kPathsPositional;
  paths.unless = kNoPath;
  return paths;
}();
constexpr PositionalSpec kPositionals[] = {kPaths};
constexpr OptionSpec kOptions[] = {
    {.name = "what",
     .takes = OptionSpec::Takes::kValue,
     .value = "ITEMS",
     .help = "Predict this combination: workers=8,amp,host=0.5 (may repeat; else each fix alone)"},
    {.name = "path", .help = "Show the step's critical path in addition"},
    {.name = "sweep",
     .takes = OptionSpec::Takes::kValue,
     .value = "WHAT",
     .help = "Show the speedup from making each kernel, operator or thread cheaper, one by one",
     .choices = SweepNames},
    {.name = "measured",
     .takes = OptionSpec::Takes::kValue,
     .value = "RUN",
     .help = "Compare the prediction with a run or recording that has the fix"},
    {.name = "record", .help = "Record the comparison, which corrects later predictions of the same kind"},
    {.name = "db",
     .takes = OptionSpec::Takes::kValue,
     .value = "URL",
     .help = "Use the history at URL: sqlite:FILE or postgresql://…"},
    {.name = "list", .help = "List the fixes that can be predicted"},
    kRankOption,
    kAllStepsOption,
    kNoCacheOption,
};
constexpr const TypeInfo* kDocuments[] = {&kPredictDocument, &kWhatIfsDocument};
constexpr Example kExamples[] = {
    {"gapless predict trace.json.gz", "What would each fix buy on its own?"},
    {"gapless predict trace.json.gz --what amp,workers=8 --what compile", "Two combinations"},
    {"gapless predict trace.json.gz --what kernels:flash=0.5", "What is a kernel worth?"},
    {"gapless predict before/ --what workers=4 --measured after/ --record", "Was that right? Learn from it"},
};

}  // namespace

COMMAND(predict) = {
    .name = "predict",
    .help = "Estimate the speedup of each fix before it is tried",
    .about =
        "Rebuilds from a recording the dependencies between its events, and replays a step with other times: "
        "faster kernels, fewer launches by the host, batches loaded by workers. First the step is replayed as"
        " recorded, and with a device and a host of other speed; a recording that fails this check gets no "
        "prediction, but the reason.\n\nThe 80 % prediction interval is the known range of the fix's effect, "
        "widened by the replay's own error. Of a long recording the steps that are most like all are replayed.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
