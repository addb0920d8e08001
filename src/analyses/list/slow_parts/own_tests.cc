// SPDX-License-Identifier: Apache-2.0
// Tests the own time of each rank and host against those that do the same.
//
// Slower and more: a kernel's time over its thread blocks is its speed, and the blocks at the median speed of its peers
// are its amount of work. The speed of a rank is the median over its kernels, by time, of how they compare with the
// same kernels of peers: one kernel that meets a hiccup moves nothing. Where grids were not recorded the two stay one.
//
// Pauses (garbage collection, a loader that stalls) come in some steps only, which a median over steps does not see.
// They are counted: a step is late if its longest stretch of idle time is far longer than that of peers, and a rank has
// more such steps than the other ranks have by chance (binomial, with their frequency). One that a recorded garbage
// collection explains needs no second one: that it happened is no guess.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "analyses/list/slow_parts/own_time.h"
#include "analyses/rows/rank_kernels.h"
#include "analyses/rows/rank_steps.h"
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

}  // namespace

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
    unit.recorded_steps = std::max(1.0, static_cast<double>(unit.steps.size()));
    unit.all_steps = unit.steps;
    // Recorders start at different moments, for which ranks wait in the first step.
    if (!unit.steps.empty()) unit.steps.erase(unit.steps.begin());
    if (unit.steps.size() < kFewestSteps) continue;
    for (const OwnStep& step : unit.steps) unit.kernels_a_step += static_cast<double>(step.kernels);
    unit.kernels_a_step /= static_cast<double>(unit.steps.size());
    whole.push_back(std::move(unit));
  }
  return whole;
}

namespace {

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

// A kernel on the median of the peers that have it.
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
      usual[name].calls.push_back(BlocksOf(use) / unit->recorded_steps);
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

// A Comparison holds a unit's kernels against the usual ones, as logarithms of ratios.
struct Comparison {
  double speed = 0, amount = 0;
  std::string_view slowest{}, most{};  // kernels with most of it
};

Comparison Compare(const Unit& unit, const std::map<std::string_view, Usual>& usual) {
  std::vector<std::pair<double, double>> speeds;
  double expected = 0, median = 0, slowest = 0, most = 0;
  Comparison found;
  const double steps = unit.recorded_steps;
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

size_t DifferentOf(std::span<const double> values) {
  constexpr double kSame = 1e-6;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  size_t different = 1;
  for (size_t i = 1; i < sorted.size(); ++i) different += sorted[i] - sorted[i - 1] > kSame;
  return different;
}

// The p of a value among those of peers: how far it lies above their median, in spreads, by Student's distribution.
class Among {
 public:
  // Ranks of one model share their data: where values differ at all, as many are independent as are different.
  Among(std::span<const double> values, double least_spread)
      : middle_(MedianOf({values.begin(), values.end()})),
        spread_(std::max(least_spread, SpreadOf(values, middle_))),
        df_(static_cast<double>((spread_ > least_spread ? DifferentOf(values) : values.size()) - 1)) {}
  double middle() const { return middle_; }
  double Far(double value) const { return (value - middle_) / spread_; }
  double P(double value) const { return StudentUpperTail(Far(value), std::max(1.0, df_)); }

 private:
  double middle_, spread_, df_;
};

int64_t StepsAbove(const std::vector<double>& excesses, double line) {
  return std::ranges::count_if(excesses, [&](double excess) { return excess > line; });
}

// A member of OwnStep over steps of all peers, each less the median of its step.
using StepMember = int64_t OwnStep::*;
using StepsMember = std::vector<OwnStep> Unit::*;
std::vector<std::vector<double>> ExcessesOf(const Peers& peers, StepMember member, StepsMember steps = &Unit::steps) {
  std::map<int64_t, std::vector<double>> by_number;
  for (const Unit* unit : peers)
    for (const OwnStep& step : unit->*steps) by_number[step.number].push_back(static_cast<double>(step.*member));
  std::vector<double> all;
  for (const auto& [number, values] : by_number) all.insert(all.end(), values.begin(), values.end());
  const double overall = MedianOf(all);
  std::map<int64_t, double> usual;
  for (auto& [number, values] : by_number)
    usual[number] = 2 * values.size() >= peers.size() ? MedianOf(values) : overall;
  std::vector<std::vector<double>> excesses;
  for (const Unit* unit : peers) {
    auto& of_unit = excesses.emplace_back();
    for (const OwnStep& step : unit->*steps) of_unit.push_back(static_cast<double>(step.*member) - usual[step.number]);
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
      const double a_step = peers[i]->kernel_ns / peers[i]->recorded_steps;
      const auto excess = static_cast<int64_t>(a_step * (1 - 1 / ratio));
      const int64_t late = StepsAbove(excesses[i], static_cast<double>(excess) / 2);
      const bool lasts = 2 * late >= static_cast<int64_t>(excesses[i].size());
      outcomes.push_back({.unit = peers[i],
                          .measure = measure,
                          .p = lasts ? among.P(value) : 1,
                          .ratio = ratio,
                          .far = among.Far(value),
                          .excess_ns = excess,
                          .late = late,
                          .what = what});
    };
    add(kSpeed, by_speed, speeds[i], found[i].slowest);
    add(kAmount, by_amount, amounts[i], found[i].most);
  }
}

// Tests what lasts: the median over steps.
void AddLastingTest(const Peers& peers, Measure measure, StepMember member, double step_ns,
                    std::vector<Outcome>& outcomes) {
  const auto excesses = ExcessesOf(peers, member);
  std::vector<double> values;
  for (const std::vector<double>& of_unit : excesses) values.push_back(MedianOf(of_unit));
  const Among among(values, kLeastStepSpread * step_ns);
  std::vector<double> all;
  for (const std::vector<double>& of_unit : excesses) all.insert(all.end(), of_unit.begin(), of_unit.end());
  const double line = kFarOut * std::max(kLeastStepSpread * step_ns, SpreadOf(all, 0));
  for (size_t i = 0; i < peers.size(); ++i) {
    std::map<int64_t, double> over;
    for (size_t step = 0; step < excesses[i].size(); ++step) over[peers[i]->steps[step].number] = excesses[i][step];
    const double excess = values[i] - among.middle();
    std::vector<double> own;
    for (const OwnStep& step : peers[i]->steps) own.push_back(static_cast<double>(step.*member));
    const double mine = MedianOf(own);
    outcomes.push_back({.unit = peers[i],
                        .measure = measure,
                        .p = among.P(values[i]),
                        .ratio = mine > excess && excess > 0 ? mine / (mine - excess) : 1,
                        .far = among.Far(values[i]),
                        .excess_ns = static_cast<int64_t>(excess),
                        .late = StepsAbove(excesses[i], excess / 2),
                        .over = std::move(over),
                        .line = line});
  }
}

// The p of `mine` of `of` steps, where `others` of `all` other steps are late (with half a step more: Jeffreys).
double FrequencyP(int64_t mine, int64_t of, int64_t others, int64_t all) {
  if (mine < 2) return 1;
  const double frequency = (static_cast<double>(others) + 0.5) / (static_cast<double>(all) + 1);
  return BetaCdf(std::min(1.0, frequency), static_cast<double>(mine), static_cast<double>(of - mine + 1));
}

// The p of a unit's pauses, twice the better of two: as many beyond the line, and a second one as long. `all`: every
// step of all peers, in order.
double PauseP(std::vector<double> mine, const std::vector<double>& all, double line) {
  std::ranges::sort(mine, std::greater());
  if (mine.size() < 2 || mine[1] <= line) return 1;
  const auto steps = std::ssize(mine), of_all = std::ssize(all);
  const auto p_beyond = [&](double least) {
    const auto own = std::ranges::count_if(mine, [&](double ns) { return ns >= least; });
    return FrequencyP(own, steps, all.end() - std::ranges::lower_bound(all, least) - own, of_all - steps);
  };
  return std::min(1.0, 2 * std::min(p_beyond(std::nextafter(line, mine[1])), p_beyond(mine[1])));
}

// In how many of a unit's steps does a garbage collection that was recorded explain a pause beyond the line?
int64_t CollectionsOf(const Unit& unit, const std::vector<double>& excesses, double line) {
  int64_t count = 0;
  for (size_t step = 0; step < excesses.size(); ++step)
    count += excesses[step] > line && 2 * static_cast<double>(unit.all_steps[step].garbage_ns) > excesses[step];
  return count;
}

// A collection that was recorded happened, by chance or not. So one is enough where peers have ten times fewer.
void ObserveCollections(const Peers& peers, const std::vector<std::vector<double>>& excesses, double line,
                        std::span<Outcome> outcomes) {
  std::vector<int64_t> counts;
  int64_t all = 0, steps = 0;
  for (size_t i = 0; i < peers.size(); ++i) {
    counts.push_back(CollectionsOf(*peers[i], excesses[i], line));
    all += counts.back(), steps += std::ssize(excesses[i]);
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto mine = std::ssize(excesses[i]);
    outcomes[i].observed = 10 * (all - counts[i]) * mine < counts[i] * (steps - mine);
  }
}

// Tests what comes in some steps only: the number of these steps.
void AddPauseTest(const Peers& peers, Measure measure, StepMember member, double step_ns,
                  std::vector<Outcome>& outcomes) {
  const auto excesses = ExcessesOf(peers, member, &Unit::all_steps);
  std::vector<double> all;
  for (const std::vector<double>& of_unit : excesses) all.insert(all.end(), of_unit.begin(), of_unit.end());
  const double line = std::max(kLeastShare * step_ns, kFarOut * SpreadOf(all, 0));
  std::ranges::sort(all);
  for (size_t i = 0; i < peers.size(); ++i) {
    const auto steps = static_cast<int64_t>(excesses[i].size());
    const int64_t late = StepsAbove(excesses[i], line);
    double excess = 0;
    std::vector<int64_t> late_in;
    for (size_t step = 0; step < excesses[i].size(); ++step)
      if (excesses[i][step] > line) excess += excesses[i][step], late_in.push_back(peers[i]->all_steps[step].number);
    outcomes.push_back({.unit = peers[i],
                        .measure = measure,
                        .p = PauseP(excesses[i], all, line),
                        .excess_ns = static_cast<int64_t>(excess) / steps,
                        .late = late,
                        .late_in = std::move(late_in)});
  }
  if (measure == kPausing) ObserveCollections(peers, excesses, line, std::span(outcomes).last(peers.size()));
}

// Returns how much longer than usual all steps of a unit were together, in ns.
double OverAll(const Outcome& one) {
  double sum = 0;
  for (const auto& [step, ns] : one.over) sum += ns;
  return sum;
}

// The mean of all but the largest: what happened once counts for nothing.
double MeanWithoutLargest(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return (sum - *std::ranges::max_element(values)) / static_cast<double>(values.size() - 1);
}

// The mean over a host's ranks and steps. A host that is taken away from its ranks in turn delays some of them in some
// steps, none of them in most.
double MeanOfHost(const std::vector<const Outcome*>& units, const Outcome* worst, Outcome& host) {
  std::map<int64_t, std::pair<double, double>> sum_and_most;
  for (const Outcome* one : units)
    for (const auto& [step, ns] : one->over) {
      auto& [sum, most] = sum_and_most[step];
      sum += one == worst ? 0 : ns, most = std::max(most, ns);
    }
  std::vector<double> means;
  double most = 0;
  for (const auto& [step, of] : sum_and_most)
    means.push_back(of.first / static_cast<double>(units.size() - 1)), most += of.second;
  host.excess_ns = static_cast<int64_t>(most / static_cast<double>(std::max<size_t>(1, means.size())));
  host.late = StepsAbove(means, host.line / kFarOut);
  return MeanWithoutLargest(means);
}

// One measure of the units of a host, of those that are alike. What concerns one rank is not the host's, so its worst
// rank does not count; of the measures of kernels the rank counts that two thirds are above.
Outcome OfHost(const std::vector<const Outcome*>& units) {
  Outcome host = **std::ranges::max_element(units, {}, [](const Outcome* one) { return one->excess_ns; });
  const Outcome* const worst = *std::ranges::max_element(
      units, {}, [&](const Outcome* one) { return IsPauses(host.measure) ? one->late_in.size() : OverAll(*one); });
  host.p = 1, host.observed = false, host.late_in.clear();
  std::vector<double> far;
  std::set<int64_t> late_in;
  for (const Outcome* one : units) {
    host.host.push_back(one->unit), far.push_back(one->far);
    if (one != worst) late_in.insert(one->late_in.begin(), one->late_in.end());
  }
  host.late_in = {late_in.begin(), late_in.end()};
  std::ranges::sort(far);
  host.far = host.over.empty() ? far[far.size() / 3] : MeanOfHost(units, worst, host);
  return host;
}

// Sets the p of hosts for one measure: by its ranks, by its steps, or by those in which one paused.
void JudgeHosts(std::span<Outcome> hosts) {
  std::vector<double> far;
  int64_t late = 0, steps = 0;
  for (const Outcome& host : hosts)
    far.push_back(host.far), late += std::ssize(host.late_in), steps += std::ssize(host.unit->all_steps);
  // The median of normal values has a spread of its own; idle time is in ns.
  const double least = 1.2533 / std::sqrt(static_cast<double>(hosts[0].host.size()));
  const Among among(far, hosts[0].over.empty() ? least : least * hosts[0].line / kFarOut);
  for (Outcome& host : hosts) {
    if (!IsPauses(host.measure)) {
      host.p = among.P(host.far);
    } else if (const auto mine = std::ssize(host.late_in); mine >= 2) {
      const auto own = std::ssize(host.unit->all_steps);
      host.p = FrequencyP(mine, own, late - mine, steps - own);
    }
  }
}

// Adds to the outcomes of alike units those of their hosts.
void AddHosts(size_t first, std::vector<Outcome>& outcomes) {
  std::array<std::map<std::string_view, std::vector<const Outcome*>>, kMeasures> hosts;
  for (size_t at = first; at < outcomes.size(); ++at)
    if (!outcomes[at].unit->host.empty() && outcomes[at].measure != kAmount)
      hosts[outcomes[at].measure][outcomes[at].unit->host].push_back(&outcomes[at]);
  std::vector<Outcome> added;
  for (auto& of_measure : hosts) {
    std::erase_if(of_measure, [](const auto& host) { return host.second.size() < 2; });
    if (of_measure.size() < kFewestPeers) continue;
    const size_t begin = added.size();
    for (const auto& [host, units] : of_measure) added.push_back(OfHost(units));
    JudgeHosts(std::span(added).subspan(begin));
  }
  outcomes.insert(outcomes.end(), added.begin(), added.end());
}

}  // namespace

std::vector<Outcome> TestOwnTime(std::vector<Unit>& units) {
  std::vector<Outcome> outcomes;
  for (const Peers& peers : AlikeUnits(units)) {
    const double step_ns = TypicalStep(peers);
    const size_t first = outcomes.size();
    AddKernelTests(peers, outcomes);
    AddLastingTest(peers, kHostTime, &OwnStep::host_ns, step_ns, outcomes);
    AddPauseTest(peers, kPausing, &OwnStep::pause_ns, step_ns, outcomes);
    AddLastingTest(peers, kLoading, &OwnStep::data_ns, step_ns, outcomes);
    AddPauseTest(peers, kLoaderStalls, &OwnStep::data_ns, step_ns, outcomes);
    AddLastingTest(peers, kCopying, &OwnStep::copies_ns, step_ns, outcomes);
    AddHosts(first, outcomes);
    for (size_t at = first; at < outcomes.size(); ++at)
      if (static_cast<double>(outcomes[at].excess_ns) < kLeastShare * step_ns)
        outcomes[at].what = {}, outcomes[at].excess_ns = 0;
  }
  std::vector<double> p;
  for (const Outcome& outcome : outcomes) p.push_back(outcome.p);
  const std::vector<double> q = AdjustedForMany(p);
  for (size_t i = 0; i < q.size(); ++i) outcomes[i].q = outcomes[i].observed ? 0 : q[i];
  return outcomes;
}

}  // namespace gapless::internal::slow_parts_analysis
