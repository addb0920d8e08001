// SPDX-License-Identifier: Apache-2.0
// The command `gapless predict`: predicts the speedup of fixes from a recording, compares a prediction with a measured
// recording, and records the comparison.
//
// A recording that fails the self-check gets no prediction at all: the exit status is then 1 and the output is the
// reason. With --record the comparison goes into the user's history, where it corrects later predictions of its kind.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/scaling.h"
#include "report/predict/report.h"

namespace gapless::internal::predict_command {
namespace {

Result<std::vector<WhatIfItem>> ReadCombination(const OptionSpec&, std::string_view text) { return ParseItems(text); }
Result<double> ReadBandwidth(const OptionSpec& option, std::string_view text) {
  double gbps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gbps);
  if (error != std::errc() || end != text.data() + text.size() || !(gbps > 0 && gbps < 1e6))
    return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes 1e9 bytes a second, such as 50"),
                std::string(text));
  return gbps;
}
constexpr Choosable<SweepBy> kSweeps[] = {
    {kSweepNames[0], SweepBy::kKernel}, {kSweepNames[1], SweepBy::kOperator}, {kSweepNames[2], SweepBy::kThread}};

struct PredictArguments : ReadArguments {
  std::vector<std::vector<WhatIfItem>> what{};  // combinations
  std::optional<SweepBy> sweep{};
  std::string measured{};    // empty: not given
  std::vector<int> scale{};  // numbers of ranks
  size_t per_node = 0;       // 0: not given
  std::optional<double> link{};
  bool path = false, record = false, list = false, verbose = false;
  static constexpr OptionList kOptions{
      Parsed<&PredictArguments::what, ReadCombination>(
          "ITEMS", "Predict this combination: workers=8,amp,host=0.5 (may repeat; else each fix alone)"),
      Flag<&PredictArguments::path>("Show the step's critical path in addition"),
      Choice<&PredictArguments::sweep, OneOf<kSweeps>>(
          "WHAT", "Show the speedup from making each kernel, operator or thread cheaper, one by one"),
      Parsed<&PredictArguments::scale, ReadRankCounts>(
          "LIST", "Simulate the recorded job with these numbers of ranks: 1,2,4,8,16,32"),
      Number<&PredictArguments::per_node>("N", "--scale: Let N ranks share a node (as recorded)", 1, 1024),
      Parsed<&PredictArguments::link, ReadBandwidth>(
          "GB/S", "--scale: Let collectives between nodes reach this bus bandwidth (unknown)"),
      Text<&PredictArguments::measured>("RUN", "Compare the prediction with a run or recording that has the fix"),
      Flag<&PredictArguments::record>("Record the comparison, which corrects later predictions of the same kind"),
      Text<&ReadArguments::db>("URL", "Use the history at URL: sqlite:FILE or postgresql://…"),
      Flag<&PredictArguments::list>("List the fixes that can be predicted"),
      Flag<&PredictArguments::verbose>("Show the fixes that would change nothing, too, with the reason").Short('v'),
      kRankOption,
      kAllStepsOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kPathsWord.Unless<&PredictArguments::list>()};
};

// Parts of the step, the longest ones, that --sweep makes cheaper.
constexpr size_t kMaxSwept = 10;

// The counts, ascending and each once.
ScaleOutOptions ScaleOptionsOf(const PredictArguments& arguments) {
  ScaleOutOptions options{.counts = arguments.scale, .link_gbps = arguments.link};
  std::ranges::sort(options.counts);
  options.counts.erase(std::ranges::unique(options.counts).begin(), options.counts.end());
  if (arguments.per_node > 0) options.per_node = static_cast<int>(arguments.per_node);
  return options;
}

Result<void> CheckScale(const PredictArguments& arguments) {
  if (arguments.scale.empty() && (arguments.per_node > 0 || arguments.link))
    return Fail(ErrorCode::kUsage, "--per-node and --link require --scale", "",
                "gapless predict run/ --scale 8,16,32 --per-node 8 --link 50");
  const auto most = std::ranges::max_element(arguments.scale);
  if (most == arguments.scale.end() || *most <= kMaxSimulatedRanks) return {};
  return Fail(ErrorCode::kUsage, StrCat("--scale takes numbers of ranks up to ", kMaxSimulatedRanks), StrCat(*most));
}

// Fills in the predictions, and the critical path and the sweep if they are wanted.
Result<void> Fill(const PredictArguments& arguments, const RunAnalysis& analysis, PredictView& view) {
  if (arguments.scale.empty() || !arguments.what.empty()) {
    GAPLESS_ASSIGN(view.predictions, PredictEach(analysis, *view.predictor, arguments.what));
  }
  if (arguments.path) view.path = DivideRecordedPath(view.predictor->main_rank());
  if (arguments.sweep) {
    view.sweep_by = OneOf<kSweeps>::NameOf(*arguments.sweep);
    view.sweep = Sweep(*view.predictor, *arguments.sweep, kMaxSwept);
  }
  if (!arguments.scale.empty()) {
    GAPLESS_ASSIGN(view.scale, PredictScaleOut(*view.predictor, ScaleOptionsOf(arguments)));
  }
  return {};
}

// Returns the step of a recording that was made with the fix, as a share of the step before. Both steps are those that
// the replay uses.
Result<double> MeasuredShare(const PredictArguments& arguments, const Session& session, const Predictor& before) {
  const std::string& path = arguments.measured;
  GAPLESS_ASSIGN(const auto loaded, LoadFor(arguments, session, {&path, 1}));
  Tables tables(loaded.run);
  const auto after = Predictor::ForRun(tables);
  if (!after || after->step_ns() <= 0 || before.step_ns() <= 0)
    return Fail(ErrorCode::kInput, "cannot measure: the recording has no complete step", path);
  return static_cast<double>(after->step_ns()) / static_cast<double>(before.step_ns());
}

// One measurement tests one combination, so --measured takes exactly one --what.
Result<void> CheckMeasured(const PredictArguments& arguments) {
  if (arguments.record && arguments.measured.empty())
    return Fail(ErrorCode::kUsage, "--record requires --measured", "",
                "gapless predict before --what amp --measured after --record");
  if (!arguments.measured.empty() && arguments.what.size() != 1)
    return Fail(ErrorCode::kUsage, "--measured requires exactly one --what", "",
                "gapless predict before --what amp --measured after");
  return {};
}

// Compares the prediction with the recording of --measured, and records the comparison if --record asks for it.
Result<void> Measure(const PredictArguments& arguments, const Session& session, PredictView& view) {
  if (arguments.measured.empty()) return {};
  GAPLESS_ASSIGN(const auto step, MeasuredShare(arguments, session, *view.predictor));
  // Shares are per work: a step of twice the samples may take twice as long.
  const double work = view.predictions.empty() ? 1 : view.predictions[0].work;
  const Result<double> share = step / work;
  view.measured = *share;
  if (view.predictions.empty()) return {};
  const Prediction& prediction = view.predictions[0];
  if (!arguments.record || !prediction.refusal.empty()) return {};
  return KeepTestedPrediction(arguments.db, prediction, arguments.paths[0], *share);
}

// The combinations are known to be right. They can still turn out to have no effect on this recording, which is an
// answer, not an error.
Result<int> Execute(const PredictArguments& arguments, Session& session) {
  if (arguments.list) return PrintTextOrJson(arguments, WhatIfsText, WhatIfsJson);
  GAPLESS_TRY(CheckMeasured(arguments));
  GAPLESS_TRY(CheckScale(arguments));
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  WarnOfLosses(analysis->loaded());
  const auto predictor = PredictorOf(*analysis);
  PredictView view{.predictor = predictor ? &*predictor : nullptr,
                   .shows_all = arguments.verbose || !arguments.what.empty()};
  // A recording that fails the check is still shown with the reason, and with the memory that is known.
  if (view.is_accepted()) {
    GAPLESS_TRY(Fill(arguments, *analysis, view));
    GAPLESS_TRY(Measure(arguments, session, view));
  } else {
    view.why_not = predictor ? predictor->check().refusal : predictor.error().message;
    view.predictions = PredictMemory(*analysis, view.why_not, arguments.what);
    if (!predictor && (view.predictions.empty() || !arguments.measured.empty())) return Unexpected{predictor.error()};
  }
  auto printed = PrintTextOrJson(
      arguments, [&] { return PredictText(view, session.terminal.width); }, [&] { return PredictJson(view); });
  if (!printed) return printed;
  return view.is_accepted() || !predictor ? 0 : 1;
}

constexpr const TypeInfo* kDocuments[] = {&kPredictDocument, &kWhatIfsDocument};
constexpr Example kExamples[] = {
    {"gapless predict trace.json.gz", "What would each fix buy on its own?"},
    {"gapless predict trace.json.gz --what amp,workers=8 --what compile", "Two combinations"},
    {"gapless predict trace.json.gz --what kernels:flash=0.5", "What is a kernel worth?"},
    {"gapless predict run/ --scale 8,16,32 --per-node 8 --link 50", "What would the job take on four nodes?"},
    {"gapless predict before/ --what workers=4 --measured after/ --record", "Was that right? Learn from it"},
};

}  // namespace

COMMAND(predict) = {
    .name = "predict",
    .place = {groups::kFix, 2},
    .help = "Estimate the speedup of each fix before it is tried",
    .about =
        "Rebuilds from a recording the dependencies between its events, and replays a step with other times: "
        "faster kernels, fewer launches by the host, batches loaded by workers. First the step is replayed as"
        " recorded, and with a device and a host of other speed; a recording that fails this check gets no "
        "prediction, but the reason.\n\nThe 80 % prediction interval is the known range of the fix's effect, "
        "widened by the replay's own error. Of a long recording the steps that are most like all are replayed.\n\n"
        "`--scale` simulates a recorded data-parallel job (DDP, FSDP) with other numbers of ranks, each with the "
        "recorded batch: copies of the recorded ranks, as unequal as ranks and steps were, meet in the recorded "
        "collectives, whose latency and bandwidth are fitted. Beyond a node it needs the bandwidth between nodes, "
        "`--link`; without it a step's lower end alone is known.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::predict_command
