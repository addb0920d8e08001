// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/commands/predict/report.h"
#include "cli/loading.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

// Each --what is one combination; without any, every what-if that needs no value on its own.
Result<std::vector<std::vector<WhatIfItem>>> CombinationsFrom(const Arguments& arguments) {
  std::vector<std::vector<WhatIfItem>> combinations;
  for (const std::string& text : arguments.Values("what")) {
    auto items = ParseItems(text);
    if (!items) return Unexpected{items.error()};
    combinations.push_back(std::move(*items));
  }
  if (!combinations.empty()) return combinations;
  for (const WhatIf* one : AllWhatIfs())
    if (one->value.empty() || one->value.starts_with('[')) combinations.push_back({{.name = std::string(one->name)}});
  return combinations;
}

constexpr size_t kMaxSwept = 10;

Result<void> Fill(const Arguments& arguments, const std::vector<std::vector<WhatIfItem>>& combinations,
                  PredictView& view) {
  for (const auto& items : combinations) {
    auto prediction = view.predictor.Predict(items);
    if (!prediction) return Unexpected{prediction.error()};
    view.predictions.push_back(std::move(*prediction));
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

// The step of a run or a recording made with the fix, as a share of the step before.
Result<double> MeasuredShare(const Arguments& arguments, const Session& session, const Predictor& before) {
  const std::string path(arguments.Value("measured"));
  const auto loaded = LoadFor(arguments, session, {&path, 1});
  if (!loaded) return Unexpected{loaded.error()};
  Tables tables(loaded->run);
  const auto after = Predictor::Make(tables);
  if (!after || after->step_ns() <= 0 || before.step_ns() <= 0)
    return Fail(ErrorCode::kInput, "there is no step to measure", path);
  return static_cast<double>(after->step_ns()) / static_cast<double>(before.step_ns());
}

Result<void> CheckMeasured(const Arguments& arguments) {
  if (arguments.Has("record") && !arguments.Has("measured"))
    return Fail(ErrorCode::kUsage, "--record goes with --measured", "",
                "gapless predict before --what amp --measured after --record");
  if (arguments.Has("measured") && arguments.Values("what").size() != 1)
    return Fail(ErrorCode::kUsage, "--measured goes with one --what", "",
                "gapless predict before --what amp --measured after");
  return {};
}

// What came of the prediction; kept, when that was asked for.
Result<void> Measure(const Arguments& arguments, const Session& session, PredictView& view) {
  if (!arguments.Has("measured")) return {};
  const auto step = MeasuredShare(arguments, session, view.predictor);
  if (!step) return Unexpected{step.error()};
  // Shares are per work: a step of twice the samples may take twice as long.
  const double work = view.predictions.empty() ? 1 : view.predictions[0].work;
  const Result<double> share = *step / work;
  view.measured = *share;
  if (view.predictions.empty()) return {};
  const Prediction& prediction = view.predictions[0];
  if (!arguments.Has("record") || !prediction.refusal.empty()) return {};
  return KeepTestedPrediction(arguments.Value("db"), prediction, arguments.positionals()[0], *share);
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("list")) return PrintTextOrJson(arguments, WhatIfsText, WhatIfsJson);
  GAPLESS_TRY(CheckMeasured(arguments));
  const auto combinations = CombinationsFrom(arguments);
  if (!combinations) return Unexpected{combinations.error()};
  const auto analysis = AnalysisFor(arguments, session, arguments.positionals());
  if (!analysis) return Unexpected{analysis.error()};
  WarnOfLosses((*analysis)->loaded());
  const auto predictor = Predictor::Make((*analysis)->tables(), (*analysis)->tested().rows);
  if (!predictor) return Fail(ErrorCode::kInput, "no operator and no work of a device was recorded");
  PredictView view{.predictor = *predictor};
  if (predictor->check().accepted()) {
    GAPLESS_TRY(Fill(arguments, *combinations, view));
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
     .help = "A combination: workers=8,amp,host=0.5 (may repeat; otherwise each on its own)"},
    {.name = "path", .help = "Show the critical path too: what the step's time is made of"},
    {.name = "sweep",
     .takes = OptionSpec::Takes::kValue,
     .value = "WHAT",
     .help = "Show what cheaper kernels, operators or threads would buy, one by one",
     .choices = SweepNames},
    {.name = "measured",
     .takes = OptionSpec::Takes::kValue,
     .value = "RUN",
     .help = "Hold the prediction against a run or recording with the fix"},
    {.name = "record", .help = "Keep what came of it: later predictions of the kind learn from it"},
    {.name = "db",
     .takes = OptionSpec::Takes::kValue,
     .value = "URL",
     .help = "Where that is kept: sqlite:FILE or postgresql://…"},
    {.name = "list", .help = "List what can be asked"},
    kRankOption,
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
        "Rebuilds from a recording what every instant waited for, and replays a step with other times: kernels that "
        "are faster, a host that launches less, batches that come from workers. What is recorded is replayed first, "
        "and so is a device and a host of other speed; a recording that does not pass gets no prediction, and the "
        "reason.\n\nThe interval is what the fix is known to bring, widened by the replay's own error.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
