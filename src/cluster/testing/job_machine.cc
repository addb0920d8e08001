// SPDX-License-Identifier: Apache-2.0
// Runs simulated ranks. Each goes on in the order of its program until it needs the end of an exchange that another
// rank has not joined; the last rank that joins decides when it ends, and wakes those that wait for it. Hosts run ahead
// of their devices, so the order in which ranks are taken says nothing about time, and nothing depends on it.
#include "cluster/testing/job_machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <unordered_map>

namespace gapless::internal::testing {
namespace {

constexpr double kUs = 1000, kMs = 1e6;
constexpr double kLaunchLatencyNs = 4500, kLaunchCallNs = 4000, kGapNs = 1200;
constexpr int kStreams = 64;

// An exchange that ranks meet in.
struct Meeting {
  int arrived = 0;
  double begin_ns = 0, end_ns = -1;
  std::vector<std::pair<int, uint32_t>> members{};  // rank and its event
  std::vector<double> begins{};
  std::vector<int> waiting{};
  bool over() const { return end_ns >= 0; }
};

struct RankState {
  int step = 0;
  size_t at = 0;
  double host_ns = 0, compute_ns = 0, step_began_ns = 0;
  uint32_t correlation = 0, draws = 0;
  bool begun_waiting = false;
  std::array<int, kStreams> last_on{};  // meeting that the stream is busy with; −1: none
  std::array<int, kMaxSlots> slot{};
  std::vector<double> step_ends{};
};

double MemoryShare(double factor, Bound bound) { return bound == Bound::kCompute ? factor : 1 + (factor - 1) * 0.4; }

class Machine {
 public:
  explicit Machine(const Machines& of) : of_(of) {
    const int ranks = of.layout.ranks();
    for (int stage = 0; stage < of.layout.pipeline; ++stage)
      programs_.push_back(StepProgram(of.layout, of.plan, stage));
    states_.resize(static_cast<size_t>(ranks));
    out_.ranks.resize(static_cast<size_t>(ranks));
    for (RankState& state : states_) state.last_on.fill(-1), state.slot.fill(-1);
    recorder_starts_late_ = of.draws.Chance(0.7, Draw::kSettings, 1);
    MakeLinks(ranks);
  }

  Outcome Run() {
    for (int rank = 0; rank < static_cast<int>(states_.size()); ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const int rank = ready_.front();
      ready_.pop_front();
      GoOn(rank);
    }
    out_.step_ns = StepNs();
    SetBegins();
    return std::move(out_);
  }

 private:
  RankState& Of(int rank) { return states_[static_cast<size_t>(rank)]; }
  bool Ails(int rank, Fault fault) const {
    return of_.ailment.fault == fault && of_.ailment.has[static_cast<size_t>(rank)];
  }
  // One number for each thing that a rank does in its life.
  static uint64_t Key(int rank, const RankState& state) {
    return (static_cast<uint64_t>(rank) << 40) | (static_cast<uint64_t>(state.step) << 20) | state.at;
  }

  void MakeLinks(int ranks) {
    network_.latency_ns = of_.latency_ns;
    network_.leaf_share.assign(static_cast<size_t>(LeafOf(ranks - 1) + 1), 1);
    if (of_.ailment.fault == Fault::kSlowSwitch)
      network_.leaf_share[static_cast<size_t>(of_.ailment.leaf)] = of_.ailment.severity;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto number = static_cast<uint64_t>(rank);
      const double card = 1 + 0.01 * of_.draws.Normal(Draw::kLink, number, 0);
      const double nvlink = 1 + 0.005 * of_.draws.Normal(Draw::kLink, number, 1);
      network_.card.push_back(of_.card_gbps * card * (Ails(rank, Fault::kSlowLink) ? of_.ailment.severity : 1));
      network_.nvlink.push_back(of_.nvlink_gbps * nvlink * (Ails(rank, Fault::kSlowNvlink) ? of_.ailment.severity : 1));
      speed_.push_back(1 + 0.007 * of_.draws.Normal(Draw::kGpuSpeed, number));
    }
  }

  void GoOn(int rank) {
    RankState& state = Of(rank);
    const auto& program = programs_[static_cast<size_t>(PlaceOf(of_.layout, rank).stage)];
    while (state.step <= of_.steps) {
      if (!Perform(rank, state, program[state.at])) return;  // woken when the meeting is over
      if (++state.at == program.size()) state.at = 0, ++state.step;
    }
  }

  // Returns false if the rank has to wait for others before it can do this.
  bool Perform(int rank, RankState& state, const Instruction& one) {
    switch (one.what) {
      case Do::kBegin: return Begin(rank, state), true;
      case Do::kLoader: return Load(rank, state), true;
      case Do::kCopy: return LaunchWork(rank, state, one, EventKind::kCopyCall, EventKind::kCopy), true;
      case Do::kKernel: return LaunchWork(rank, state, one, EventKind::kLaunch, EventKind::kKernel), true;
      case Do::kExchange: return Join(rank, state, one);
      case Do::kWait: return Wait(rank, state, one);
      case Do::kSync: return Sync(rank, state, one), true;
      case Do::kEnd: return End(rank, state), true;
    }
    return true;
  }

  uint32_t Record(int rank, const JobEvent& event) {
    if (!of_.records) return 0;
    auto& events = out_.ranks[static_cast<size_t>(rank)].events;
    events.push_back(event);
    return static_cast<uint32_t>(events.size() - 1);
  }

  void Begin(int rank, RankState& state) {
    state.step_began_ns = state.host_ns;
    if (state.step != 1) return;
    auto& record = out_.ranks[static_cast<size_t>(rank)];
    const auto number = static_cast<uint64_t>(rank);
    record.begins_ns = static_cast<int64_t>(state.host_ns);
    if (recorder_starts_late_) {
      state.host_ns += std::min(300.0, 40 * std::exp(0.8 * of_.draws.Normal(Draw::kRecorder, number))) * kMs;
      record.begins_ns = static_cast<int64_t>(state.host_ns);
      state.step_began_ns = state.host_ns;
    }
  }

  void Load(int rank, RankState& state) {
    const uint64_t key = Key(rank, state);
    double ns = 250 * kUs * std::exp(0.5 * of_.draws.Normal(Draw::kLoader, key));
    if (Ails(rank, Fault::kSlowLoader))
      ns += of_.ailment.severity * kMs * of_.draws.Between(0.7, 1.3, Draw::kLoader, key, 1);
    Record(rank, {.ts_ns = At(state.host_ns), .dur_ns = At(ns), .kind = EventKind::kLoader});
    state.host_ns += ns + 20 * kUs;
  }

  static int64_t At(double ns) { return static_cast<int64_t>(std::llround(ns)); }

  // The host's part of an operator; returns when its launch begins.
  double HostOperator(int rank, RankState& state, const Instruction& one, double us) {
    const uint64_t key = Key(rank, state);
    Collect(rank, state);
    double ns = us * kUs * std::exp(0.25 * of_.draws.Normal(Draw::kLaunch, key) - 0.03);
    if (Ails(rank, Fault::kSlowHost)) ns = SlowHostNs(ns, us * kUs, key);
    if (of_.draws.Chance(1e-4, Draw::kPause, key)) ns += of_.draws.Between(1, 5, Draw::kPause, key, 1) * kMs;
    const double begin = state.host_ns, call = std::min(kLaunchCallNs, ns * 0.5);
    Record(rank, {.ts_ns = At(begin),
                  .dur_ns = At(ns - 800),
                  .kind = EventKind::kOperator,
                  .stream = one.thread,
                  .name = one.name,
                  .correlation = state.correlation + 1});
    state.host_ns += ns;
    return begin + ns - 1500 - call;
  }

  double SlowHostNs(double ns, double mean_ns, uint64_t key) const {
    const double factor = of_.ailment.severity;
    if (!of_.ailment.steals) return ns * factor;
    if (!of_.draws.Chance(0.08, Draw::kTheft, key)) return ns;
    return ns + (factor - 1) * mean_ns / 0.08 * of_.draws.Between(0.5, 1.5, Draw::kTheft, key, 1);
  }

  void Collect(int rank, RankState& state) {
    if (!Ails(rank, Fault::kGarbage) || state.step % of_.ailment.period != 0) return;
    const auto& program = programs_[static_cast<size_t>(PlaceOf(of_.layout, rank).stage)];
    const auto step = static_cast<uint64_t>(state.step);
    const int where = of_.draws.Index(static_cast<int>(program.size()), Draw::kGarbage, step);
    if (state.begun_waiting || static_cast<int>(state.at) < where) return;
    state.begun_waiting = true;  // once a step
    const double ns = of_.ailment.severity * kMs * of_.draws.Between(0.85, 1.15, Draw::kGarbage, step, 1);
    if (!of_.ailment.silent) Record(rank, {.ts_ns = At(state.host_ns), .dur_ns = At(ns), .kind = EventKind::kGarbage});
    state.host_ns += ns + 10 * kUs;
  }

  double TokensOf(int rank, const RankState& state, const Instruction& one) const {
    const auto data = static_cast<uint64_t>(PlaceOf(of_.layout, rank).data);
    if (one.of_experts) return 1 + 0.06 * of_.draws.Normal(Draw::kExperts, Key(rank, state));
    const uint64_t batch =
        (data << 32) | (static_cast<uint64_t>(state.step) << 8) | static_cast<uint64_t>(one.microbatch);
    const double drawn = 1 + of_.plan.token_spread * of_.draws.Normal(Draw::kTokens, batch);
    return drawn * (Ails(rank, Fault::kUnevenData) ? of_.ailment.severity : 1);
  }

  double KernelNs(int rank, const RankState& state, const Instruction& one, double tokens) const {
    const uint64_t key = Key(rank, state);
    const Bound bound = WorkNameOf(one.name).bound;
    double ns = one.us * kUs * MemoryShare(speed_[static_cast<size_t>(rank)], bound);
    ns *= 1 + 0.025 * of_.draws.Normal(Draw::kKernel, key);
    if (of_.draws.Chance(2e-4, Draw::kHiccup, key)) ns *= of_.draws.Between(1.5, 3, Draw::kHiccup, key, 1);
    if (Ails(rank, Fault::kSlowGpu)) ns *= MemoryShare(of_.ailment.severity, bound);
    for (int power = 0; power < one.tokens; ++power) ns *= tokens;
    return ns;
  }

  void LaunchWork(int rank, RankState& state, const Instruction& one, EventKind call, EventKind work) {
    const double launch = HostOperator(rank, state, one, of_.plan.operator_us);
    const double tokens = one.tokens > 0 ? TokensOf(rank, state, one) : 1;
    const double start = std::max(state.compute_ns + kGapNs, launch + kLaunchCallNs + kLaunchLatencyNs);
    const double ns = KernelNs(rank, state, one, tokens);
    ++state.correlation;
    Record(rank, {.ts_ns = At(launch),
                  .dur_ns = At(kLaunchCallNs - 300),
                  .kind = call,
                  .stream = one.thread,
                  .name = one.name,
                  .correlation = state.correlation});
    const auto blocks = static_cast<uint32_t>(std::lround(one.blocks * (one.tokens > 0 ? tokens : 1)));
    Record(rank, {.ts_ns = At(start),
                  .dur_ns = At(ns),
                  .kind = work,
                  .stream = one.stream,
                  .name = one.name,
                  .correlation = state.correlation,
                  .grid = blocks});
    state.compute_ns = start + ns;
  }

  int PeerOf(int rank, const Instruction& one) const {
    return one.peer == 0 ? -1 : rank + one.peer * of_.layout.tensor * of_.layout.data;
  }

  // Exchanges of one channel meet in the order in which ranks come to them. Between two ranks each direction is one.
  int MeetingOf(int rank, const Instruction& one, int group) {
    int channel = group;
    if (one.peer != 0) {
      const int sender = one.exchange == Exchange::kSend ? rank : PeerOf(rank, one);
      const bool up = (one.exchange == Exchange::kSend) == (one.peer > 0);
      channel = static_cast<int>(of_.groups.all.size()) + 2 * sender + (up ? 1 : 0);
    }
    const uint64_t comes = (static_cast<uint64_t>(channel) << 32) | static_cast<uint64_t>(rank);
    const int ordinal = comes_[comes]++;
    const uint64_t key = (static_cast<uint64_t>(channel) << 32) | static_cast<uint64_t>(ordinal);
    const auto [at, is_new] = places_.try_emplace(key, static_cast<int>(meetings_.size()));
    if (is_new) meetings_.emplace_back(), meeting_keys_.push_back(key);
    return at->second;
  }

  bool Join(int rank, RankState& state, const Instruction& one) {
    const int before = state.last_on[one.stream];
    if (before >= 0 && !Await(rank, before)) return false;
    const double launch = HostOperator(rank, state, one, of_.plan.operator_us * 0.5);
    double start = std::max(state.compute_ns + kGapNs, launch + kLaunchCallNs + kLaunchLatencyNs);
    if (before >= 0) start = std::max(start, meetings_[static_cast<size_t>(before)].end_ns + kGapNs);
    const int group = of_.groups.of[static_cast<size_t>(one.dimension)][static_cast<size_t>(rank)];
    const int number = MeetingOf(rank, one, group);
    ++state.correlation;
    Record(rank, {.ts_ns = At(launch),
                  .dur_ns = At(kLaunchCallNs - 300),
                  .kind = EventKind::kLaunch,
                  .stream = one.thread,
                  .name = one.name,
                  .correlation = state.correlation});
    const uint32_t event = Record(rank, EventOf(rank, state, one, group, start));
    state.last_on[one.stream] = state.slot[static_cast<size_t>(one.slot)] = number;
    Arrive(rank, one, group, event, start, meetings_[static_cast<size_t>(number)], number);
    return true;
  }

  JobEvent EventOf(int rank, const RankState& state, const Instruction& one, int group, double start) const {
    const auto members = static_cast<int64_t>(of_.groups.all[static_cast<size_t>(group)].ranks.size());
    auto elements = static_cast<int64_t>(one.bytes / 2) / members * members;
    if (one.exchange == Exchange::kAllGather) elements /= members;
    return {.ts_ns = At(start),
            .kind = EventKind::kCollective,
            .stream = one.stream,
            .name = one.name,
            .correlation = state.correlation,
            .grid = 16,
            .group = group,
            .peer = PeerOf(rank, one),
            .elements = std::max<int64_t>(1, elements)};  // clang-format off
  }
  // clang-format on

  void Arrive(int rank, const Instruction& one, int group, uint32_t event, double start, Meeting& meeting, int number) {
    meeting.begin_ns = std::max(meeting.begin_ns, start);
    meeting.members.emplace_back(rank, event);
    meeting.begins.push_back(start);
    const bool pair = one.peer != 0;
    const auto& ranks = of_.groups.all[static_cast<size_t>(group)].ranks;
    if (++meeting.arrived < (pair ? 2 : static_cast<int>(ranks.size()))) return;
    const double quiet =
        pair ? network_.ExchangeNs(one.exchange, one.bytes, {rank, PeerOf(rank, one)}) : GroupNs(one, group, ranks);
    const uint64_t key = meeting_keys_[static_cast<size_t>(number)];
    double ns = quiet * (1 + 0.025 * of_.draws.Normal(Draw::kTransfer, key));
    if (of_.draws.Chance(0.003, Draw::kCongestion, key)) ns *= of_.draws.Between(1.5, 4, Draw::kCongestion, key, 1);
    meeting.end_ns = meeting.begin_ns + ns;
    if (of_.records) WriteEnds(meeting, key);
    for (const int waiting : meeting.waiting) ready_.push_back(waiting);
  }

  // The time of an exchange depends on its group, kind and size only; it is asked for again and again.
  double GroupNs(const Instruction& one, int group, const std::vector<int>& ranks) {
    const auto [at, is_new] =
        quiet_.try_emplace({group, static_cast<int>(one.exchange), static_cast<int64_t>(one.bytes)}, 0);
    if (is_new) at->second = network_.ExchangeNs(one.exchange, one.bytes, ranks);
    return at->second;
  }

  void WriteEnds(const Meeting& meeting, uint64_t key) {
    for (size_t i = 0; i < meeting.members.size(); ++i) {
      const auto& [rank, event] = meeting.members[i];
      const double late = std::fabs(of_.draws.Normal(Draw::kEnd, key, static_cast<uint64_t>(rank))) * 2000;
      JobEvent& written = out_.ranks[static_cast<size_t>(rank)].events[event];
      written.dur_ns = At(meeting.end_ns + std::min(late, 0.8 * kGapNs)) - written.ts_ns;
    }
  }

  bool Await(int rank, int number) {
    Meeting& meeting = meetings_[static_cast<size_t>(number)];
    if (!meeting.over()) meeting.waiting.push_back(rank);
    return meeting.over();
  }

  bool Wait(int rank, RankState& state, const Instruction& one) {
    const int number = state.slot[static_cast<size_t>(one.slot)];
    if (number < 0) return true;
    if (!Await(rank, number)) return false;
    state.compute_ns = std::max(state.compute_ns, meetings_[static_cast<size_t>(number)].end_ns + 5 * kUs);
    return true;
  }

  void Sync(int rank, RankState& state, const Instruction& one) {
    if (!of_.plan.syncs && state.step % 2 == 0 && state.step != of_.steps) return;
    LaunchWork(rank, state, {.what = Do::kCopy, .name = one.name, .us = 2, .blocks = 4}, EventKind::kCopyCall,
               EventKind::kCopy);
    const double end = std::max(state.host_ns, state.compute_ns + 6 * kUs);
    Record(rank, {.ts_ns = At(state.host_ns),
                  .dur_ns = At(end - state.host_ns),
                  .kind = EventKind::kSync,
                  .correlation = ++state.correlation});
    state.host_ns = end + 5 * kUs;
  }

  void End(int rank, RankState& state) {
    Record(rank, {.ts_ns = At(state.step_began_ns),
                  .dur_ns = At(state.host_ns - state.step_began_ns),
                  .kind = EventKind::kStep,
                  .name = static_cast<uint16_t>(10 + state.step)});
    state.host_ns += 30 * kUs;
    state.begun_waiting = false;
    state.step_ends.push_back(std::max(state.host_ns, state.compute_ns));
  }

  int64_t StepNs() const {
    double sum = 0;
    for (const RankState& state : states_) sum += state.step_ends.back() - state.step_ends[1];
    return At(sum / static_cast<double>(states_.size()) / std::max(1, of_.steps - 1));
  }

  // Recorders that are started by hand begin somewhere in the first steps.
  void SetBegins() {
    if (recorder_starts_late_) return;
    for (size_t rank = 0; rank < out_.ranks.size(); ++rank)
      out_.ranks[rank].begins_ns +=
          static_cast<int64_t>(static_cast<double>(out_.step_ns) * of_.draws.Between(0, 0.9, Draw::kRecorder, rank));
  }

  struct Sized {
    int group, exchange;
    int64_t bytes;
    bool operator==(const Sized&) const = default;
  };
  struct SizedHash {
    size_t operator()(const Sized& of) const {
      return Mixed(static_cast<uint64_t>(of.group) * 8 + static_cast<uint64_t>(of.exchange)) ^
             Mixed(static_cast<uint64_t>(of.bytes));
    }
  };

  const Machines& of_;
  Network network_{};
  std::vector<double> speed_{};
  std::vector<std::vector<Instruction>> programs_{};  // by stage
  std::vector<RankState> states_{};
  std::vector<Meeting> meetings_{};
  std::vector<uint64_t> meeting_keys_{};
  std::unordered_map<uint64_t, int> places_{}, comes_{};
  std::unordered_map<Sized, double, SizedHash> quiet_{};
  std::deque<int> ready_{};
  bool recorder_starts_late_ = true;
  Outcome out_{};
};

}  // namespace

Outcome RunMachines(const Machines& machines) { return Machine(machines).Run(); }

}  // namespace gapless::internal::testing
