// SPDX-License-Identifier: Apache-2.0
// The command `gapless tune`: measures settings of data loader, batch size, ranks, communication, power limit or
// storage, and prints which one is significantly better.
//
// Each question is one function below. Settings are measured in rounds of random order (optimize/tuning.h), batches per
// sample instead of per step. Nothing stays changed: the result is a number, and `gapless optimize` makes a recipe
// of it. The exit status is 1 only for a scaling curve that should be measured again.
#include <algorithm>
#include <optional>

#include "base/redact.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "cli/scaling.h"
#include "collect/machine.h"
#include "collect/telemetry/collector.h"
#include "flows/profiled_job.h"
#include "optimize/job_runner.h"
#include "optimize/power_tuning.h"
#include "optimize/storage_tuning.h"
#include "proof/scaling.h"
#include "report/bench/report.h"
#include "report/tune/power.h"
#include "report/tune/report.h"
#include "report/tune/storage.h"

namespace gapless::internal::tune_command {
namespace {

enum class Question : uint8_t { kDataloader, kBatch, kScaling, kComm, kPower, kStorage };
constexpr Choosable<Question> kQuestions[] = {{"dataloader", Question::kDataloader}, {"batch", Question::kBatch},
                                              {"scaling", Question::kScaling},       {"comm", Question::kComm},
                                              {"power", Question::kPower},           {"storage", Question::kStorage}};
constexpr Choosable<PowerKnob> kPowerKnobs[] = {{"limits", PowerKnob::kLimit}, {"clocks", PowerKnob::kClock}};
constexpr size_t kUsualSteps = 50, kUsualWindow = 4, kUsualRounds = 12, kUsualScalingRounds = 3;

struct TuneArguments : PairArguments {
  TuneArguments() { warmup = 5, steps = 0; }  // steps: 0 stands for the question's own
  Question question{};
  bool grid = false;
  std::vector<int> ranks{};
  double budget = 600;  // seconds
  size_t rounds = 0;    // 0 stands for the question's own
  size_t batch = 0;     // 0: not given
  std::optional<double> most_slowdown{};
  double time_weight = 0;
  std::optional<PowerKnob> by{};  // absent: limits
  static constexpr OptionList kOptions{
      Flag<&TuneArguments::grid>("dataloader: try pinned memory and prefetch factors in addition"),
      Parsed<&TuneArguments::ranks, ReadRankCounts>(
          "LIST", "Set the numbers of ranks: for scaling a list (1,2,4,8 up to the number of GPUs), for comm one (2)"),
      Parsed<&TuneArguments::budget, ReadTime>("TIME", "Stop after this time: 5m, 2h (10m)"),
      Number<&TuneArguments::rounds>("N",
                                     "Stop after N rounds if settings are not significantly different (12), "
                                     "scaling: after N (3)",
                                     1, 1000),
      Number<&TuneArguments::batch>(
          "N", "scaling: Put N samples a rank in place of {batch}, and measure strong scaling, too", 1),
      Parsed<&TuneArguments::most_slowdown, ReadShare>("SHARE", "power: Allow steps to be longer by SHARE at most"),
      Parsed<&TuneArguments::time_weight, ReadShare>(
          "SHARE", "power: Let time count beside energy, as much as SHARE of it at the highest limit (0)"),
      Choice<&TuneArguments::by, OneOf<kPowerKnobs>>("SETTING",
                                                     "power: Change power limits (the default) or lock clocks"),
      kShortRunOptions,
  };
  static constexpr WordList kWords{ChosenWord<&TuneArguments::question, OneOf<kQuestions>>(
      "QUESTION", "dataloader, batch, scaling, comm, power or storage")};
};

constexpr int kMaxRanks = 8;  // that are tried where none are named

// The options that all questions have in common.
struct TuneOrder {
  RunRequest request{};
  TuneOptions options{};
  std::vector<int> ranks{};
};

Result<TuneOrder> OrderFrom(const TuneArguments& arguments) {
  TuneOrder order;
  GAPLESS_ASSIGN(order.request, RequestFrom(arguments, arguments.command));
  if (arguments.steps == 0) order.request.measure = kUsualSteps;
  order.options = {.pairs = {.margin = arguments.margin},
                   .most_rounds = arguments.rounds == 0 ? kUsualRounds : arguments.rounds,
                   .budget_s = arguments.budget,
                   .seed = arguments.seed.value_or(1)};
  GAPLESS_ASSIGN(order.ranks, RanksFrom(arguments.ranks, order.request));
  return order;
}

// Shows what is being measured.
class TuneLine {
 public:
  explicit TuneLine(const Session& session) : shows_(session.shows_progress) {}
  void Say(const std::string& doing) {
    if (shows_) line_.Update("measuring", doing, ++runs_, 0, [](uint64_t count) { return StrCat(count, " runs"); });
  }

 private:
  bool shows_;
  uint64_t runs_ = 0;
  ProgressLine line_{};
};

// Answers `dataloader` and `batch`. One run first shows what the program has: loaders, memory, a GPU.
Result<int> TuneSettings(const TuneArguments& arguments, Session& session, TuneOrder order, bool batches) {
  GAPLESS_ASSIGN(const auto seen, SampleJob(order.request, ""));
  FixContext context = ContextOf(seen, order.request);
  // Nothing was recorded, so a GPU is known by the memory that the program allocated on it.
  context.gpu = seen.sample.gpu_memory_bytes.value_or(0) > 0;
  order.options.by_samples = batches;
  order.options.memory_limit_bytes = seen.sample.gpu_capacity_bytes;
  const auto columns = batches ? BatchSettings(context) : LoaderSettings(context, arguments.grid);
  ProcessRunner runner({.request = order.request, .context = context});
  std::optional<TuneLine> line(session);
  const auto table = Tune(columns, order.options, runner, [&](const std::string& doing) { line->Say(doing); });
  line.reset();
  GAPLESS_TRY(table);
  const TuneView view{.table = *table,
                      .command = RedactCommand(order.request.command),
                      .about = AboutOf(context, seen.sample),
                      .is_training = batches};
  return PrintTextOrJson(
      arguments, [&] { return TuneText(view, session.terminal.width); }, [&] { return TuneJson(view); });
}

// Returns 1, 2, 4, 8, as far as there are GPUs, or cores without GPUs.
std::vector<int> UsualRanks() {
  const HostFacts host = DescribeHost();
  const auto devices = host.gpus.empty() ? host.cores : static_cast<int64_t>(host.gpus.size());
  std::vector<int> ranks = {1};
  for (int more = 2; more <= std::min<int64_t>(devices, kMaxRanks); more *= 2) ranks.push_back(more);
  return ranks;
}

// A command with a place for the samples of a rank needs their number, and the number needs the place.
Result<void> CheckBatch(const TuneArguments& arguments, const RunRequest& request) {
  if ((arguments.batch > 0) == HasBatchPlace(request.command)) return {};
  const std::string hint = "gapless tune scaling --batch 64 -- python train.py --batch-size {batch}";
  if (arguments.batch == 0)
    return Fail(ErrorCode::kUsage, "the command has a place for a batch, and --batch is missing", "", hint);
  return Fail(ErrorCode::kUsage, "--batch has no place in the command", CommandText(request.command), hint);
}

// Answers `scaling` by rounds over the numbers of ranks: weak scaling, or what the command does, and strong scaling
// where the samples of a rank can be set. Each has half of the time then.
Result<int> TuneScaling(const TuneArguments& arguments, Session& session, const TuneOrder& order) {
  GAPLESS_TRY(CheckBatch(arguments, order.request));
  ScalingPlan plan{.counts = order.ranks.empty() ? UsualRanks() : order.ranks,
                   .rounds = arguments.rounds == 0 ? kUsualScalingRounds : arguments.rounds,
                   .budget_s = order.options.budget_s / (arguments.batch > 0 ? 2 : 1)};
  std::vector<std::vector<int64_t>> batches(1);
  if (arguments.batch > 0) {
    const auto batch = static_cast<int64_t>(arguments.batch);
    batches.clear();
    for (const auto kind : {ScalingCurve::Kind::kWeak, ScalingCurve::Kind::kStrong}) {
      GAPLESS_ASSIGN(batches.emplace_back(), BatchesOf(kind, plan.counts, batch));
    }
  }
  std::optional<TuneLine> line(session);
  std::vector<ScalingCurve> curves;
  for (auto& samples : batches) {
    plan.batches = std::move(samples);
    GAPLESS_ASSIGN(curves.emplace_back(), MeasureScaling(plan, [&](int ranks, int64_t batch) {
                     line->Say(StrCat(ranks, ranks == 1 ? " rank" : " ranks",
                                      batch > 0 ? StrCat(", ", batch, " samples each") : ""));
                     return RunWithRanks(order.request, ranks, batch);
                   }));
  }
  line.reset();
  const bool fine = std::ranges::all_of(curves, [](const ScalingCurve& curve) { return WhyToRepeat(curve).empty(); });
  return Answer(
      arguments, fine, [&] { return ScalingText(curves); }, [&] { return ScalingJson(curves, "tune"); });
}

std::string_view NameOfPart(ExchangePart part) {
  switch (part) {
    case ExchangePart::kWhole: return "as it is";
    case ExchangePart::kWithoutExchange: return "without the exchange";
    case ExchangePart::kAlone: break;
  }
  return "one rank alone";
}

// Answers `comm`: the job as it is, the same without the gradient all-reduce, and one rank alone. The differences
// divide a step into compute, overhead and communication.
Result<int> TuneComm(const TuneArguments& arguments, Session& session, const TuneOrder& order) {
  const int ranks = order.ranks.empty() ? 2 : order.ranks.back();
  if (order.ranks.size() > 1 || ranks < 2)
    return Fail(ErrorCode::kUsage, "--ranks takes one number of 2 or more here", "", "gapless tune comm --ranks 4");
  RunRequest requests[3] = {order.request, order.request, order.request};
  for (size_t part = 0; part < 3; ++part)
    requests[part].command =
        WithRanks(order.request.command, part == static_cast<size_t>(ExchangePart::kAlone) ? 1 : ranks);
  // The fix with this value never exchanges gradients: another training, which is only timed.
  requests[static_cast<size_t>(ExchangePart::kWithoutExchange)].fixes = {"nosync=0"};
  std::optional<TuneLine> line(session);
  const ExchangeOptions options{.pairs = order.options.pairs,
                                .most_rounds = order.options.most_rounds,
                                .budget_s = order.options.budget_s,
                                .seed = order.options.seed};
  const auto cost = MeasureExchange(options, ranks, [&](ExchangePart part) -> Result<RunSample> {
    line->Say(std::string(NameOfPart(part)));
    auto sample = RunOnce(requests[static_cast<size_t>(part)]);
    if (sample && sample->interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
    return sample;
  });
  line.reset();
  GAPLESS_TRY(cost);
  return PrintTextOrJson(
      arguments, [&] { return ExchangeText(*cost, ranks, RedactCommand(order.request.command)); },
      [&] { return ExchangeJson(*cost, ranks); });
}

// Answers `power`. The watchdog comes first: it may not share an open library or threads with us.
Result<int> TunePowerSetting(const TuneArguments& arguments, Session& session, const TuneOrder& order) {
  const TelemetrySources sources;
  const PowerKnob knob = arguments.by.value_or(PowerKnob::kLimit);
  GAPLESS_TRY(MayChangeGpuSettings());
  GAPLESS_ASSIGN(auto watchdog, PowerWatchdog::Start(sources, knob));
  GAPLESS_ASSIGN(auto boards, PowerBoards::Open(sources, knob));
  std::optional<TuneLine> line(session);
  const PowerTuneOptions options{
      .goal = {.time_weight = arguments.time_weight, .most_slowdown = arguments.most_slowdown},
      .warmup = arguments.warmup,
      .window_steps = arguments.steps == 0 ? kUsualWindow : arguments.steps,
      .budget_s = order.options.budget_s};
  const auto tuning =
      TunePower(order.request, options, boards, watchdog, [&](const std::string& doing) { line->Say(doing); });
  line.reset();
  GAPLESS_TRY(tuning);
  return PrintTextOrJson(
      arguments, [&] { return PowerText(*tuning, RedactCommand(order.request.command)); },
      [&] { return PowerJson(*tuning); });
}

// Answers `storage`: the parts of a sample, and other ways to store and to decode its files.
Result<int> TuneStoredSamples(const TuneArguments& arguments, Session& session, const TuneOrder& order) {
  std::optional<TuneLine> line(session);
  const StorageOptions options{.pairs = order.options.pairs,
                               .most_rounds = order.options.most_rounds,
                               .budget_s = order.options.budget_s,
                               .seed = order.options.seed};
  const auto tuning = TuneStorage(order.request, options, [&](const std::string& doing) { line->Say(doing); });
  line.reset();
  GAPLESS_TRY(tuning);
  return PrintTextOrJson(
      arguments, [&] { return StorageText(*tuning, RedactCommand(order.request.command), session.terminal.width); },
      [&] { return StorageJson(*tuning); });
}

// Refuses options that the question has no use for: they would seem to have an effect.
Result<int> Execute(const TuneArguments& arguments, Session& session) {
  const Question question = arguments.question;
  GAPLESS_ASSIGN(auto order, OrderFrom(arguments));
  const bool needs_ranks = question == Question::kScaling || question == Question::kComm;
  if (!needs_ranks && !order.ranks.empty())
    return Fail(ErrorCode::kUsage, "--ranks requires the question scaling or comm",
                std::string(OneOf<kQuestions>::NameOf(question)));
  if (arguments.grid && question != Question::kDataloader)
    return Fail(ErrorCode::kUsage, "--grid requires the question dataloader",
                std::string(OneOf<kQuestions>::NameOf(question)));
  if (arguments.batch > 0 && question != Question::kScaling)
    return Fail(ErrorCode::kUsage, "--batch requires the question scaling",
                std::string(OneOf<kQuestions>::NameOf(question)));
  if (question != Question::kPower && (arguments.most_slowdown || arguments.time_weight > 0 || arguments.by))
    return Fail(ErrorCode::kUsage, "--most-slowdown, --time-weight and --by require the question power",
                std::string(OneOf<kQuestions>::NameOf(question)));
  if (question == Question::kPower) return TunePowerSetting(arguments, session, order);
  if (question == Question::kStorage) return TuneStoredSamples(arguments, session, order);
  if (needs_ranks) GAPLESS_TRY(NeedsRanks(order.request));
  if (question == Question::kScaling) return TuneScaling(arguments, session, order);
  if (question == Question::kComm) return TuneComm(arguments, session, order);
  return TuneSettings(arguments, session, std::move(order), question == Question::kBatch);
}

constexpr const TypeInfo* kDocuments[] = {&kTuneDocument, &kScalingDocument, &kExchangeDocument, &kPowerDocument,
                                          &kStorageDocument};
constexpr Example kExamples[] = {
    {"gapless tune dataloader -- python train.py", "How many workers?"},
    {"gapless tune batch -- python train.py", "How large a batch, with and without mixed precision?"},
    {"gapless tune scaling --ranks 1,2,4 -- python train.py", "How much do more GPUs bring?"},
    {"gapless tune scaling --batch 64 -- python train.py --batch-size {batch}", "With the same batch in all, too?"},
    {"gapless tune comm --ranks 4 -- python train.py", "What does the exchange of gradients cost?"},
    {"gapless tune power --most-slowdown 5% -- python train.py", "Which power limit costs least energy?"},
    {"gapless tune power --by clocks -- python train.py", "Which clock does?"},
    {"gapless tune storage -- python train.py", "Would LMDB, HDF5, tar shards or another decoder help?"},
};

}  // namespace

COMMAND(tune) = {
    .name = "tune",
    .place = {groups::kFix, 3},
    .help = "Measure one setting: workers, batch, scaling, storage, power",
    .about =
        "Runs an unmodified training script under several settings, in rounds of random order, and reports which one "
        "is significantly faster.\n\n`dataloader` tries numbers of workers. `batch` makes batches larger until they do "
        "not fit or save nothing more, with and without mixed precision. `scaling` runs it with several ranks, three "
        "rounds of them, and gives the efficiency of each with its 95 % interval over the rounds; where the command "
        "takes the samples of a rank, as {batch}, both for the same batch a rank and for the same in all. `comm` "
        "measures the step time with and without the gradient all-reduce, and that of one rank alone: the shares of "
        "compute, overhead and communication.\n\n`power` changes the power limit of the command's GPUs while it "
        "trains and finds the one at which a step takes the least energy, or costs least where time counts, too. It "
        "tries at most eight limits, each in windows of ten updates of the energy counter beside windows at the "
        "usual limit, and measures the chosen one again. It needs root. The limits are as they were when it ends, "
        "also when it is killed: a process beside it sees to that. `--by clocks` locks the clock of NVIDIA GPUs "
        "instead. Afterwards they choose their clocks again; as a lock that was there before could not be read back, "
        "nothing is changed where the driver says that a setting holds the clock. Of AMD GPUs, limits are changed, "
        "and libamd_smi has to be installed for their energy. On GPUs of somebody else set "
        "GAPLESS_KEEP_GPU_SETTINGS=1, and no setting is changed.\n\n`storage` watches samples while they are loaded: "
        "their files, and the time to read, to decode and for all else. Then it reads these files, and copies of "
        "them, from where they lie, from memory, from LMDB, HDF5 and tar shards as WebDataset has them, and decodes "
        "images by each library that can be imported, in rounds of random order. A cold row has the files dropped "
        "from the page cache before each pass. What a step would gain is an upper bound: of what it waits for "
        "batches, as far as samples would be loaded faster. Each copy has at most 256 files and 256 MiB, below "
        "TMPDIR or /dev/shm, and is removed at the end. The files of the program are only read.\n\nNothing stays "
        "changed: `gapless optimize --only` proves the setting and writes a recipe and a patch for it.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::tune_command
