// SPDX-License-Identifier: Apache-2.0
// Implements the flow: a thread that looks at the energy counters, a watcher that hands counters and steps to the
// blocks (optimize/power_blocks.h), and runs of the command until all is measured.
//
// A counter changes ten times a second and does not say when. The thread asks every few milliseconds and dates a change
// between two looks, in the clock in which the agent dates steps; where a busy machine let it look too seldom, a change
// is not dated at all. Blocks and boards belong to the launcher's thread.
#include "optimize/power_tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "collect/telemetry/process_tree.h"
#include "optimize/contest.h"
#include "trial/run_sample.h"

namespace gapless::internal {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(3);
constexpr int64_t kSharpNs = 10'000'000;  // between two looks, so that a change is dated
constexpr double kStandsStillS = 5;       // a counter that does not change for so long does not count
constexpr size_t kMostProcesses = 20;

int64_t UnixNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Notes when the counters of the boards change.
class CounterThread {
 public:
  struct Change {
    size_t board;
    int64_t unix_ns;
    double joules;
    bool is_sharp;  // the moment is known well enough
  };
  explicit CounterThread(const PowerBoards& boards)
      : boards_(boards), latest_(boards.boards().size()), thread_([this](const std::stop_token& stop) {
          for (; !stop.stop_requested(); std::this_thread::sleep_for(kLookEvery)) Look();
        }) {}

  std::vector<Change> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

 private:
  void Look() {
    for (size_t board = 0; board < latest_.size(); ++board) {
      const auto joules = boards_.Joules(board);
      const int64_t now = UnixNs();
      if (!joules) continue;
      auto& [looked_ns, known] = latest_[board];
      const int64_t gap = now - std::exchange(looked_ns, now);
      const std::optional<double> before = std::exchange(known, joules);
      if (!before || *before == *joules) continue;
      const std::lock_guard lock(mutex_);
      changes_.push_back({board, now - gap / 2, *joules, gap <= kSharpNs});
    }
  }

  const PowerBoards& boards_;
  std::vector<std::pair<int64_t, std::optional<double>>> latest_;  // by board: when it was looked at, and what it said
  std::mutex mutex_{};
  std::vector<Change> changes_{};
  std::jthread thread_;
};

Unexpected NotAlike(PowerKnob knob, double one, double other) {
  const auto text = [&](double value) { return StrCat(FormatNumber(value, 0), " ", UnitOf(knob)); };
  const std::string both = StrCat(text(one), " and ", text(other));
  if (knob == PowerKnob::kLimit)
    return Fail(ErrorCode::kEnvironment, "the GPUs of the command do not have the same power limit", both,
                "set one limit on all of them first: nvidia-smi -pl");
  return Fail(ErrorCode::kEnvironment, "the GPUs of the command do not have the same highest clock", both,
              "tune the clocks of GPUs of one kind, or power limits: --by limits");
}

// The limits or clocks that all boards admit. An error: they have none in common, or are not set alike.
Result<PowerRange> RangeOf(std::span<const PowerBoard> boards, PowerKnob knob) {
  PowerRange range{.low = boards[0].least, .high = 0, .usual = boards[0].found, .admitted = boards[0].admitted};
  double most = boards[0].most;
  for (const PowerBoard& board : boards) {
    range.low = std::max(range.low, board.least);
    range.high = std::max({range.high, board.found, board.usual.value_or(0)});
    most = std::min(most, board.most);
    if (board.found != range.usual) return NotAlike(knob, range.usual, board.found);
    std::vector<double> both;
    std::ranges::set_intersection(range.admitted, board.admitted, std::back_inserter(both));
    range.admitted = std::move(both);
  }
  range.high = std::min(range.high, most);
  const bool has_none = knob == PowerKnob::kClock && range.admitted.size() < 2;
  if (has_none || range.low + 1 >= range.high || range.usual > range.high)
    return Fail(ErrorCode::kEnvironment,
                StrCat("the GPUs of the command admit no other ", SettingsOf(knob), " in common"));
  return range;
}

// The highest power limit of the boards, W; absent: a board names none.
std::optional<double> HighestOf(std::span<const PowerBoard> boards) {
  double highest = 0;
  for (const PowerBoard& board : boards) {
    if (!board.highest_w) return std::nullopt;
    highest = std::max(highest, *board.highest_w);
  }
  return highest;
}

// Hands steps and counters to the blocks. The boards of the command are known once it trains.
class PowerWatch : public Watcher {
 public:
  PowerWatch(const PowerTuneOptions& options, PowerBoards& boards, PowerWatchdog& watchdog,
             const PowerListener& listener)
      : options_(options), boards_(boards), watchdog_(watchdog), listener_(listener) {
    ends_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget_s));
  }

  void OnStart(int64_t pid) override {
    root_ = pid;
    trains_ = 0;
    changed_.assign(changed_.size(), UnixNs());
    if (blocks_) blocks_->BeginProcess();
  }

  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override {
    const wire::RingHeader& header = process.ring.header();
    if (record.kind != wire::RecordKind::kStep || header.role != wire::AgentRole::kTrains || header.rank > 0) return;
    if (trains_ != 0 && trains_ != header.pid) return;
    trains_ = header.pid;
    if (!blocks_ && !error_) Begin();
    if (blocks_) blocks_->AddStep(record.ts_ns, record.dur_ns);
  }

  void OnTick(RingKeeper& /*rings*/, ControlBlock& /*control*/, std::vector<RunEvent>& /*events*/) override {
    if (!blocks_ || IsDone()) return;
    const int64_t now = UnixNs();
    for (const auto& change : counters_->Take()) {
      if (change.is_sharp) blocks_->AddEnergy(change.board, change.unix_ns, change.joules);
      changed_[change.board] = change.unix_ns;
    }
    for (size_t board = 0; board < changed_.size(); ++board)
      if (static_cast<double>(now - changed_[board]) / 1e9 > kStandsStillS)
        error_ = Fail(ErrorCode::kEnvironment, "the energy counter stands still",
                      StrCat("GPU ", boards_.boards()[board].index),
                      "a GPU that computes counts: look at it with nvidia-smi or amd-smi")
                     .error;
    const double before = blocks_->limit();
    blocks_->Advance(now);
    if (blocks_->error()) error_ = blocks_->error();
    if (blocks_->limit() != before) Say();
    if (Clock::now() > ends_) is_late_ = true;
  }

  bool IsDone() const { return error_ || is_late_ || (blocks_ && blocks_->IsDone()); }
  bool is_late() const { return is_late_; }
  const std::optional<Error>& error() const { return error_; }
  const PowerBlocks* blocks() const { return blocks_ ? &*blocks_ : nullptr; }

 private:
  // The first step: the boards on which the command computes, and their limits, are known.
  void Begin() {
    ProcessTree tree("/proc");
    tree.Refresh(root_);
    auto range = Prepare(tree.running());
    if (!range) {
      error_ = range.error();
      return;
    }
    changed_.assign(boards_.boards().size(), UnixNs());
    counters_.emplace(boards_);
    PowerPlan plan{.range = *range,
                   .goal = options_.goal,
                   .devices = boards_.boards().size(),
                   .warmup = options_.warmup,
                   .window_steps = options_.window_steps};
    if (boards_.knob() == PowerKnob::kClock) plan.highest_w = HighestOf(boards_.boards());
    blocks_.emplace(plan, [this](double value) { return boards_.SetAll(value); });
    Say();
  }
  Result<PowerRange> Prepare(std::span<const int64_t> pids) {
    GAPLESS_TRY(boards_.KeepThoseOf(pids));
    GAPLESS_TRY(boards_.CheckPermission(watchdog_));
    if (options_.goal.time_weight > 0 && !HighestOf(boards_.boards()))
      return Fail(ErrorCode::kEnvironment,
                  "the GPUs name no highest power limit: time cannot be weighed against energy", "",
                  "leave --time-weight out, or use --most-slowdown");
    return RangeOf(boards_.boards(), boards_.knob());
  }
  void Say() {
    const bool is_free = boards_.knob() == PowerKnob::kClock && blocks_->limit() == blocks_->plan().range.usual;
    const std::string at = StrCat(FormatNumber(blocks_->limit(), 0), " ", UnitOf(boards_.knob()));
    listener_(StrCat(is_free ? "clocks not locked" : at, blocks_->chosen() ? ", measured again" : ""));
  }

  const PowerTuneOptions& options_;
  PowerBoards& boards_;
  PowerWatchdog& watchdog_;
  const PowerListener& listener_;
  Clock::time_point ends_{};
  int64_t root_ = 0, trains_ = 0;  // processes: the command, and the one whose steps count
  std::optional<PowerBlocks> blocks_{};
  std::vector<int64_t> changed_{};  // when the counter of each board last changed
  std::optional<Error> error_{};
  bool is_late_ = false;
  std::optional<CounterThread> counters_{};  // the last: its thread ends first
};

PowerRow RowOf(const PowerSetting& setting, std::span<const PowerSetting> all) {
  return {.value = setting.value, .ratio = RatioOf(setting, all), .pairs = setting.energy.size()};
}

// The cost of the proof's pairs by the goal.
RatioInterval ProofCost(const PowerBlocks& blocks) {
  PowerSetting costs = blocks.proof();
  for (size_t i = 0; i < costs.energy.size(); ++i)
    costs.energy[i] =
        std::log(CostRatio(blocks.plan().goal, std::exp(costs.energy[i]), std::exp(costs.time[i]), blocks.draw()));
  return RatioOf(costs, std::span(&costs, 1)).energy;
}

PowerVerdict VerdictOf(const PowerTuning& tuning, bool was_late) {
  if (was_late) return PowerVerdict::kNoTime;
  if (!tuning.proof) return PowerVerdict::kNoLimit;
  if (tuning.goal.most_slowdown && tuning.proof->ratio.time.expected > 1 + *tuning.goal.most_slowdown)
    return PowerVerdict::kTooSlow;
  return tuning.cost.high.value_or(1) < 1 ? PowerVerdict::kSaves : PowerVerdict::kNotProven;
}

PowerTuning AnswerOf(const PowerBlocks& blocks, const PowerBoards& boards, bool was_late) {
  PowerTuning tuning{.boards = {boards.boards().begin(), boards.boards().end()},
                     .range = blocks.plan().range,
                     .goal = blocks.plan().goal,
                     .usual_joules = blocks.usual_joules().value_or(0),
                     .usual_seconds = blocks.usual_seconds().value_or(0),
                     .chosen = blocks.chosen(),
                     .steps = blocks.steps(),
                     .update_s = blocks.update_s().value_or(0),
                     .knob = boards.knob()};
  for (const PowerSetting& setting : blocks.settings()) tuning.rows.push_back(RowOf(setting, blocks.settings()));
  std::ranges::sort(tuning.rows, std::greater(), &PowerRow::value);
  if (!blocks.proof().energy.empty()) {
    tuning.proof = RowOf(blocks.proof(), std::span(&blocks.proof(), 1));
    tuning.cost = ProofCost(blocks);
  }
  tuning.verdict = VerdictOf(tuning, was_late && !blocks.FoundAll());
  if (tuning.verdict == PowerVerdict::kSaves) tuning.set_command = boards.SetCommand(*tuning.chosen);
  return tuning;
}

// Runs the command until all is measured: a program that ends before is started again.
Result<size_t> RunAll(const RunRequest& request, PowerWatch& watch) {
  size_t processes = 0;
  while (!watch.IsDone()) {
    const size_t before = watch.blocks() == nullptr ? 0 : watch.blocks()->steps();
    const auto sample = RunOnce(request);
    ++processes;
    if (watch.error()) return Unexpected{*watch.error()};
    GAPLESS_TRY(sample);
    if (sample->interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
    if (const Fault fault = FaultOf(*sample); fault != Fault::kNone && !watch.IsDone())
      return Fail(ErrorCode::kCommand, StrCat("the command cannot be measured: ", DescribeFault(*sample)), "",
                  "it must train for some steps and end well by itself");
    const size_t after = watch.blocks() == nullptr ? 0 : watch.blocks()->steps();
    if (!watch.IsDone() && (after == before || processes == kMostProcesses))
      return Fail(ErrorCode::kCommand, "the command ends before a setting can be measured", "",
                  "it has to train for minutes: give it more steps");
  }
  return processes;
}

}  // namespace

std::string_view NameOf(PowerVerdict verdict) {
  switch (verdict) {
    case PowerVerdict::kSaves: return "saves";
    case PowerVerdict::kNoLimit: return "no_limit";
    case PowerVerdict::kNotProven: return "not_proven";
    case PowerVerdict::kTooSlow: return "too_slow";
    case PowerVerdict::kNoTime: break;
  }
  return "no_time";
}

Result<PowerTuning> TunePower(const RunRequest& request, const PowerTuneOptions& options, PowerBoards& boards,
                              PowerWatchdog& watchdog, const PowerListener& listener) {
  PowerWatch watch(options, boards, watchdog, listener);
  RunRequest asked = request;
  asked.warmup = options.warmup;
  asked.measure = 1;  // and then as many as the blocks want
  asked.enough = [&](std::span<const int64_t>) { return watch.IsDone(); };
  asked.watchers.push_back(&watch);
  const auto processes = RunAll(asked, watch);
  if (!boards.Restore())
    return Fail(ErrorCode::kEnvironment, "a GPU refused to be as it was", "",
                StrCat("do it by hand: ", boards.GiveBackCommand()));
  GAPLESS_TRY(processes);
  if (watch.blocks() == nullptr || !watch.blocks()->usual_joules())
    return Fail(ErrorCode::kEnvironment, "the time was up before the first window was measured", "",
                "give it more time: --budget 30m");
  PowerTuning tuning = AnswerOf(*watch.blocks(), boards, watch.is_late());
  tuning.processes = *processes;
  return tuning;
}

}  // namespace gapless::internal
