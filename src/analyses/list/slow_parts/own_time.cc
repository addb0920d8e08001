// SPDX-License-Identifier: Apache-2.0
// Ranks and hosts that are late by their own time: slower kernels, more work, a slow host, pauses, the loader, copies.
//
// Slower and more: a kernel's time over its thread blocks is its speed, and the blocks at the median speed of its peers
// are its amount of work. The speed of a rank is the median over its kernels, by time, of how they compare with the
// same kernels of peers: one kernel that meets a hiccup moves nothing. Where grids were not recorded the two stay one.
//
// Pauses (garbage collection, a loader that stalls) come in some steps only, which a median over steps does not see.
// They are counted: a step is late if its longest stretch of idle time is far longer than that of peers, and a rank has
// more such steps than the other ranks have by chance (binomial, with their frequency).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analyses/list/slow_parts/part.h"
#include "analyses/rows/rank_kernels.h"
#include "analyses/rows/rank_steps.h"
#include "base/strings.h"
#include "trace/identity.h"
#include "validate/distributions.h"

namespace gapless::internal::slow_parts_analysis {
namespace {

constexpr size_t kFewestSteps = 3;         // of fewer nobody can say that it lasts
constexpr double kMattersShare = 0.02;     // of kernel time: kernels by which peers are recognised
constexpr double kSameCalls = 0.02;        // peers launch as many kernels a step, up to this share
constexpr double kLeastLogSpread = 0.003;  // GPUs of one kind differ by no less
constexpr double kLeastStepSpread = 0.002;
constexpr double kFarOut = 6;  // spreads from the median at which a single step is late

enum Measure : uint8_t { kSpeed, kAmount, kHostTime, kPausing, kLoading, kLoaderStalls, kCopying, kMeasures };

struct OwnStep {
  int64_t number, wall_ns, kernels, kernel_ns, copies_ns, data_ns, host_ns, pause_ns, garbage_ns;
};

struct KernelUse {
  std::string_view name;
  double calls = 0, ns = 0, blocks = 0;  // blocks < 0: not recorded
};

struct Unit {
  const RunTrace* of = nullptr;
  std::string_view host{};
  std::vector<OwnStep> steps{};
  std::map<std::string_view, KernelUse> kernels{};
  double kernel_ns = 0, kernels_a_step = 0;
  int64_t rank() const { return of->rank() != kAbsent ? of->rank() : of->index; }
};
using Peers = std::vector<Unit*>;

// What one test says of one unit.
struct Outcome {
  Unit* unit;
  Measure measure;
  double p = 1, ratio = 1;
  int64_t excess_ns = 0, late = 0;
  std::string_view what{};
  double q = 1;
};

std::vector<Unit> UnitsOf(Tables& tables) {
  std::map<std::pair<int, int64_t>, Unit> units;  // by process and device
  const auto traces = tables.run().traces();
  const auto unit_of = [&](int64_t trace, int64_t device) -> Unit& {
    const RunTrace& of = traces[static_cast<size_t>(trace)];
    Unit& unit = units[{of.process, device}];
    if (unit.of == nullptr) unit.of = &of, unit.host = IdentityOf(*of.trace).host;
    return unit;
  };
  const auto steps = tables.Get<RankStepsRows>();
  for (size_t row = 0; row < steps.rows(); ++row)
    unit_of(steps.Int(row, "trace"), steps.Int(row, "device"))
        .steps.push_back({steps.Int(row, "step"), steps.Int(row, "wall_ns"), steps.Int(row, "kernels"),
                          steps.Int(row, "kernel_ns"), steps.Int(row, "copies_ns"), steps.Int(row, "data_ns"),
                          steps.Int(row, "host_ns"), steps.Int(row, "pause_ns"), steps.Int(row, "garbage_ns")});
  const auto kernels = tables.Get<RankKernelsRows>();
  for (size_t row = 0; row < kernels.rows(); ++row) {
    Unit& unit = unit_of(kernels.Int(row, "trace"), kernels.Int(row, "device"));
    KernelUse& use = unit.kernels[kernels.Text(row, "kernel")];
    use.name = kernels.Text(row, "kernel");
    use.calls += static_cast<double>(kernels.Int(row, "calls")),
        use.ns += static_cast<double>(kernels.Int(row, "total_ns"));
    use.blocks = kernels.IsNull(row, "blocks") || use.blocks < 0
                     ? -1
                     : use.blocks + static_cast<double>(kernels.Int(row, "blocks"));
    unit.kernel_ns += static_cast<double>(kernels.Int(row, "total_ns"));
  }
  std::vector<Unit> whole;
  for (auto& [key, unit] : units) {
    if (unit.steps.size() < kFewestSteps) continue;
    for (const OwnStep& step : unit.steps) unit.kernels_a_step += static_cast<double>(step.kernels);
    unit.kernels_a_step /= static_cast<double>(unit.steps.size());
    whole.push_back(std::move(unit));
  }
  return whole;
}

// Does `b` run every kernel that matters to `a`?
bool RunsKernelsOf(const Unit& a, const Unit& b) {
  return std::ranges::all_of(a.kernels, [&](const auto& kernel) {
    return kernel.second.ns < kMattersShare * a.kernel_ns || b.kernels.contains(kernel.first);
  });
}

bool AreAlike(const Unit& a, const Unit& b) {
  return std::abs(a.kernels_a_step - b.kernels_a_step) <= kSameCalls * std::max(a.kernels_a_step, b.kernels_a_step) &&
         RunsKernelsOf(a, b) && RunsKernelsOf(b, a);
}

// Groups of units that do the same, by the first unit of each.
std::vector<Peers> AlikeUnits(std::vector<Unit>& units) {
  std::vector<Peers> groups;
  for (Unit& unit : units) {
    const auto group = std::ranges::find_if(groups, [&](const Peers& peers) { return AreAlike(*peers[0], unit); });
    if (group != groups.end())
      group->push_back(&unit);
    else
      groups.push_back({&unit});
  }
  std::erase_if(groups, [](const Peers& peers) { return peers.size() < kFewestPeers; });
  return groups;
}

double TypicalStep(const Peers& peers) {
  std::vector<double> wall;
  for (const Unit* unit : peers)
    for (const OwnStep& step : unit->steps) wall.push_back(static_cast<double>(step.wall_ns));
  return MedianOf(std::move(wall));
}

// What a kernel does on the median of the peers that have it.
struct Usual {
  std::vector<double> speeds{}, calls{};
  double ns_per_block = 0, blocks_a_step = 0;
};

double BlocksOf(const KernelUse& use) { return use.blocks > 0 ? use.blocks : use.calls; }

std::map<std::string_view, Usual> UsualOf(const Peers& peers) {
  std::map<std::string_view, Usual> usual;
  for (const Unit* unit : peers)
    for (const auto& [name, use] : unit->kernels) {
      usual[name].speeds.push_back(use.ns / std::max(1.0, BlocksOf(use)));
      usual[name].calls.push_back(BlocksOf(use) / static_cast<double>(unit->steps.size()));
    }
  for (auto& [name, of] : usual)
    of.ns_per_block = MedianOf(std::move(of.speeds)), of.blocks_a_step = MedianOf(std::move(of.calls));
  return usual;
}

// A value that lies so that half of the weight lies below.
double WeightedMedian(std::vector<std::pair<double, double>> values_and_weights) {
  std::ranges::sort(values_and_weights);
  double whole = 0, below = 0;
  for (const auto& [value, weight] : values_and_weights) whole += weight;
  for (const auto& [value, weight] : values_and_weights)
    if (below += weight; 2 * below >= whole) return value;
  return 0;
}

// How a unit's kernels compare with the usual ones, as logarithms of ratios.
struct Comparison {
  double speed = 0, amount = 0;
  std::string_view slowest{}, most{};  // kernels with most of it
};

Comparison Compare(const Unit& unit, const std::map<std::string_view, Usual>& usual) {
  std::vector<std::pair<double, double>> speeds;
  double expected = 0, median = 0, slowest = 0, most = 0;
  Comparison found;
  const auto steps = static_cast<double>(unit.steps.size());
  for (const auto& [name, use] : unit.kernels) {
    const Usual& of = usual.at(name);
    const double at_usual_speed = of.ns_per_block * BlocksOf(use) / steps,
                 as_usual = of.ns_per_block * of.blocks_a_step;
    speeds.emplace_back(std::log(use.ns / steps / at_usual_speed), use.ns);
    expected += at_usual_speed, median += as_usual;
    if (use.ns / steps - at_usual_speed > slowest) slowest = use.ns / steps - at_usual_speed, found.slowest = name;
    if (at_usual_speed - as_usual > most) most = at_usual_speed - as_usual, found.most = name;
  }
  found.speed = WeightedMedian(std::move(speeds));
  if (expected > 0 && median > 0) found.amount = std::log(expected / median);
  return found;
}

// The p of a value among those of peers: how far it lies above their median, in spreads, by Student's distribution.
class Among {
 public:
  Among(std::span<const double> values, double least_spread)
      : middle_(MedianOf({values.begin(), values.end()})),
        spread_(std::max(least_spread, SpreadOf(values, middle_))),
        df_(static_cast<double>(values.size() - 1)) {}
  double middle() const { return middle_; }
  double P(double value) const { return StudentUpperTail((value - middle_) / spread_, df_); }

 private:
  double middle_, spread_, df_;
};

int64_t StepsAbove(const std::vector<double>& excesses, double line) {
  return std::ranges::count_if(excesses, [&](double excess) { return excess > line; });
}

// A member of OwnStep over the steps of all peers, each less the median of its step.
using StepMember = int64_t OwnStep::*;
std::vector<std::vector<double>> ExcessesOf(const Peers& peers, StepMember member) {
  std::map<int64_t, std::vector<double>> by_number;
  for (const Unit* unit : peers)
    for (const OwnStep& step : unit->steps) by_number[step.number].push_back(static_cast<double>(step.*member));
  std::vector<double> all;
  for (const auto& [number, values] : by_number) all.insert(all.end(), values.begin(), values.end());
  const double overall = MedianOf(all);
  std::map<int64_t, double> usual;
  for (auto& [number, values] : by_number)
    usual[number] = 2 * values.size() >= peers.size() ? MedianOf(values) : overall;
  std::vector<std::vector<double>> excesses;
  for (const Unit* unit : peers) {
    auto& of_unit = excesses.emplace_back();
    for (const OwnStep& step : unit->steps) of_unit.push_back(static_cast<double>(step.*member) - usual[step.number]);
  }
  return excesses;
}

void AddKernelTests(const Peers& peers, std::vector<Outcome>& outcomes) {
  const std::map<std::string_view, Usual> usual = UsualOf(peers);
  std::vector<double> speeds, amounts;
  std::vector<Comparison> found;
  for (const Unit* unit : peers) {
    found.push_back(Compare(*unit, usual));
    speeds.push_back(found.back().speed), amounts.push_back(found.back().amount);
  }
  const Among by_speed(speeds, kLeastLogSpread), by_amount(amounts, kLeastLogSpread);
  const auto excesses = ExcessesOf(peers, &OwnStep::kernel_ns);
  for (size_t i = 0; i < peers.size(); ++i) {
    const auto add = [&](Measure measure, const Among& among, double value, std::string_view what) {
      const double ratio = std::exp(value - among.middle());
      const double a_step = peers[i]->kernel_ns / static_cast<double>(peers[i]->steps.size());
      const auto excess = static_cast<int64_t>(a_step * (1 - 1 / ratio));
      outcomes.push_back({.unit = peers[i],
                          .measure = measure,
                          .p = among.P(value),
                          .ratio = ratio,
                          .excess_ns = excess,
                          .late = StepsAbove(excesses[i], static_cast<double>(excess) / 2),
                          .what = what});
    };
    add(kSpeed, by_speed, speeds[i], found[i].slowest);
    add(kAmount, by_amount, amounts[i], found[i].most);
  }
}

// What lasts: the median over steps.
void AddLastingTest(const Peers& peers, Measure measure, StepMember member, double step_ns,
                    std::vector<Outcome>& outcomes) {
  const auto excesses = ExcessesOf(peers, member);
  std::vector<double> values;
  for (const std::vector<double>& of_unit : excesses) values.push_back(MedianOf(of_unit));
  const Among among(values, kLeastStepSpread * step_ns);
  for (size_t i = 0; i < peers.size(); ++i) {
    const double excess = values[i] - among.middle();
    std::vector<double> own;
    for (const OwnStep& step : peers[i]->steps) own.push_back(static_cast<double>(step.*member));
    const double mine = MedianOf(own);
    outcomes.push_back({.unit = peers[i],
                        .measure = measure,
                        .p = among.P(values[i]),
                        .ratio = mine > excess && excess > 0 ? mine / (mine - excess) : 1,
                        .excess_ns = static_cast<int64_t>(excess),
                        .late = StepsAbove(excesses[i], excess / 2)});
  }
}

// What comes in some steps: their number.
void AddPauseTest(const Peers& peers, Measure measure, StepMember member, double step_ns,
                  std::vector<Outcome>& outcomes) {
  const auto excesses = ExcessesOf(peers, member);
  std::vector<double> all;
  for (const std::vector<double>& of_unit : excesses) all.insert(all.end(), of_unit.begin(), of_unit.end());
  const double line = std::max(kLeastShare * step_ns, kFarOut * SpreadOf(all, 0));
  const int64_t late_of_all = StepsAbove(all, line);
  for (size_t i = 0; i < peers.size(); ++i) {
    const auto steps = static_cast<int64_t>(excesses[i].size());
    const int64_t late = StepsAbove(excesses[i], line);
    const double others =
        static_cast<double>(late_of_all - late + 1) / static_cast<double>(all.size() - excesses[i].size() + 1);
    double excess = 0;
    for (const double of_step : excesses[i]) excess += of_step > line ? of_step : 0;
    outcomes.push_back({.unit = peers[i],
                        .measure = measure,
                        .p = late < 2 ? 1 : 1 - BinomialCdf(late - 1, steps, std::min(1.0, others)),
                        .excess_ns = static_cast<int64_t>(excess) / steps,
                        .late = late});
  }
}

std::vector<Outcome> TestAll(const std::vector<Peers>& groups) {
  std::vector<Outcome> outcomes;
  for (const Peers& peers : groups) {
    const double step_ns = TypicalStep(peers);
    AddKernelTests(peers, outcomes);
    AddLastingTest(peers, kHostTime, &OwnStep::host_ns, step_ns, outcomes);
    AddPauseTest(peers, kPausing, &OwnStep::pause_ns, step_ns, outcomes);
    AddLastingTest(peers, kLoading, &OwnStep::data_ns, step_ns, outcomes);
    AddPauseTest(peers, kLoaderStalls, &OwnStep::data_ns, step_ns, outcomes);
    AddLastingTest(peers, kCopying, &OwnStep::copies_ns, step_ns, outcomes);
    for (size_t at = outcomes.size() - kMeasures * peers.size(); at < outcomes.size(); ++at)
      if (static_cast<double>(outcomes[at].excess_ns) < kLeastShare * step_ns)
        outcomes[at].what = {}, outcomes[at].excess_ns = 0;
  }
  std::vector<double> p;
  for (const Outcome& outcome : outcomes) p.push_back(outcome.p);
  const std::vector<double> q = AdjustedForMany(p);
  for (size_t i = 0; i < q.size(); ++i) outcomes[i].q = q[i];
  return outcomes;
}

bool HasGrids(const Unit& unit) {
  return std::ranges::any_of(unit.kernels, [](const auto& kernel) { return kernel.second.blocks > 0; });
}

int64_t GarbageOf(const Unit& unit) {
  int64_t garbage_ns = 0;
  for (const OwnStep& step : unit.steps) garbage_ns += step.garbage_ns;
  return garbage_ns / static_cast<int64_t>(unit.steps.size());
}

// The kinds of a unit from its outcomes that stand: the one it is behind in most.
struct Verdict {
  std::string_view kind{};
  const Outcome* outcome = nullptr;
};

Verdict VerdictOf(const std::array<const Outcome*, kMeasures>& stands) {
  const Outcome* most = nullptr;
  for (const Outcome* outcome : stands)
    if (outcome != nullptr && (most == nullptr || outcome->excess_ns > most->excess_ns)) most = outcome;
  if (most == nullptr) return {};
  switch (most->measure) {
    case kSpeed:
      if (!HasGrids(*most->unit)) return {"kernels", most};
      if (const Outcome* amount = stands[kAmount]; amount != nullptr && 3 * amount->excess_ns > most->excess_ns)
        return {"work", amount};
      return {"gpu", most};
    case kAmount: return {"work", most};
    case kHostTime:
    case kPausing: {
      if (2 * GarbageOf(*most->unit) > most->excess_ns) return {"garbage", most};
      const Outcome* pauses = stands[kPausing];
      return {pauses != nullptr && 2 * pauses->excess_ns > most->excess_ns ? "pauses" : "host", most};
    }
    case kLoading:
    case kLoaderStalls: return {"loader", most};
    default: return {"copies", most};
  }
}

using Named = std::vector<std::pair<Unit*, Verdict>>;

Named NameUnits(const std::vector<Outcome>& outcomes) {
  std::map<const Unit*, std::array<const Outcome*, kMeasures>> stands;
  for (const Outcome& outcome : outcomes)
    if (outcome.q <= kFalseShare && outcome.excess_ns > 0) stands[outcome.unit][outcome.measure] = &outcome;
  Named named;
  for (const auto& [unit, of_unit] : stands)
    if (const Verdict verdict = VerdictOf(of_unit); verdict.outcome != nullptr)
      named.emplace_back(verdict.outcome->unit, verdict);
  std::ranges::sort(named, {}, [](const auto& one) { return one.first->rank(); });
  return named;
}

SlowPart PartOf(std::span<const std::pair<Unit*, Verdict>> units, std::string_view part, int64_t tests) {
  const auto& most =
      *std::ranges::max_element(units, {}, [](const auto& one) { return one.second.outcome->excess_ns; });
  const Outcome& outcome = *most.second.outcome;
  SlowPart slow{.part = part, .kind = most.second.kind, .longest = most.first->of};
  for (const auto& [unit, verdict] : units) slow.ranks.push_back(unit->rank());
  slow.host = std::string(most.first->host), slow.what = std::string(outcome.what);
  slow.late = outcome.late, slow.tried = static_cast<int64_t>(most.first->steps.size());
  slow.excess_ns = outcome.excess_ns, slow.ratio = outcome.ratio, slow.q = outcome.q, slow.tests = tests;
  return slow;
}

// Ranks that are behind in the same are one part where at least half of a host's ranks are, and where they have more to
// do: model parallel ranks share their data. The others are each alone.
std::vector<SlowPart> PartsOf(const Named& named, const std::vector<Unit>& units, int64_t tests) {
  std::map<std::string_view, size_t> ranks_of_host;
  for (const Unit& unit : units) ++ranks_of_host[unit.host];
  std::map<std::pair<std::string_view, std::string_view>, Named> together;  // by kind and host
  Named more_work;
  for (const auto& one : named)
    (one.second.kind == "work" ? more_work : together[{one.second.kind, one.first->host}]).push_back(one);
  std::vector<SlowPart> parts;
  if (!more_work.empty()) parts.push_back(PartOf(more_work, more_work.size() > 1 ? "ranks" : "rank", tests));
  for (const auto& [key, of_host] : together) {
    const size_t all = ranks_of_host[key.second];
    if (!key.second.empty() && of_host.size() >= 2 && 2 * of_host.size() >= all && all < units.size())
      parts.push_back(PartOf(of_host, "host", tests));
    else
      for (const auto& one : of_host) parts.push_back(PartOf({&one, 1}, "rank", tests));
  }
  return parts;
}

}  // namespace

std::vector<SlowPart> SlowByOwnTime(Tables& tables) {
  std::vector<Unit> units = UnitsOf(tables);
  const std::vector<Outcome> outcomes = TestAll(AlikeUnits(units));
  return PartsOf(NameUnits(outcomes), units, static_cast<int64_t>(outcomes.size()));
}

}  // namespace gapless::internal::slow_parts_analysis
