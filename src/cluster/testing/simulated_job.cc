// SPDX-License-Identifier: Apache-2.0
// Draws a job and its fault, and runs it with and without: a fault that hardly matters is made worse until it does.
#include "cluster/testing/simulated_job.h"

#include <algorithm>
#include <array>
#include <set>

#include "cluster/testing/job_layout.h"
#include "cluster/testing/job_machine.h"
#include "cluster/testing/job_program.h"

namespace gapless::internal::testing {
namespace {

// The severity of a fault: the range it is drawn from, the step by which it is raised, the limit. Shares of bandwidth
// get smaller.
struct Severity {
  std::string_view name;
  double low = 0, high = 0, worse = 1, worst = 0;
};
constexpr Severity kSeverities[static_cast<size_t>(Fault::kCount)] = {
    {"none"},
    {"slow_gpu", 1.08, 1.5, 1.08, 2.2},
    {"slow_host", 2, 6, 1.3, 16},
    {"slow_link", 0.2, 0.7, 0.7, 0.04},
    {"slow_nvlink", 0.2, 0.7, 0.7, 0.04},
    {"slow_switch", 0.2, 0.7, 0.7, 0.04},
    {"uneven_data", 1.15, 1.6, 1.1, 2.2},
    {"garbage", 30, 200, 1.3, 500},
    {"slow_loader", 20, 150, 1.3, 400},
};
constexpr double kMatters = 1.02;  // a step with the fault against one without

const Severity& SeverityOf(Fault fault) { return kSeverities[static_cast<size_t>(fault)]; }

std::vector<int> RanksOfHost(int host, int ranks) {
  std::vector<int> all;
  for (int rank = host * kGpusPerHost; rank < std::min(ranks, (host + 1) * kGpusPerHost); ++rank) all.push_back(rank);
  return all;
}

std::vector<int> RanksOfLeaves(const std::vector<int>& leaves, int ranks) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    if (std::ranges::find(leaves, LeafOf(rank)) != leaves.end()) all.push_back(rank);
  return all;
}

std::vector<int> RanksOfReplica(const JobLayout& layout, int rank) {
  std::vector<int> all;
  for (int other = 0; other < layout.ranks(); ++other)
    if (PlaceOf(layout, other).data == PlaceOf(layout, rank).data) all.push_back(other);
  return all;
}

// The ranks that are at fault, and the smallest set that can be told to be.
void Plant(const Machines& machines, int at, Ailment& ailment, JobTruth& truth) {
  const JobLayout& layout = machines.layout;
  const Draws& draws = machines.draws;
  const int ranks = layout.ranks();
  std::vector<int> ill{at};
  const bool other_kind = draws.Chance(0.5, Draw::kFault, 2);
  switch (ailment.fault) {
    case Fault::kSlowHost:
      ill = RanksOfHost(HostOf(at), ranks), ailment.steals = other_kind;
      truth.variant = other_kind ? "steals" : "launches";
      break;
    case Fault::kSlowLoader:
      if (other_kind) ill = RanksOfHost(HostOf(at), ranks);
      truth.variant = other_kind ? "host" : "rank";
      break;
    case Fault::kGarbage:
      ailment.silent = other_kind,
      ailment.period = 1 + draws.Index(std::clamp(machines.steps / 2, 1, 3), Draw::kFault, 3);
      truth.variant = other_kind ? "silent" : "marked";
      break;
    case Fault::kUnevenData: ill = RanksOfReplica(layout, at); break;
    case Fault::kSlowSwitch: ailment.leaf = truth.leaf = LeafOf(at), ill = RanksOfLeaves({LeafOf(at)}, ranks); break;
    default: break;
  }
  truth.ranks = ill;
  if (ailment.fault == Fault::kSlowLink) truth.ranks = AlikeByCard(layout, machines.groups, at);
  if (ailment.fault == Fault::kSlowNvlink) truth.ranks = AlikeByNvlink(layout, machines.groups, at);
  if (ailment.fault == Fault::kSlowSwitch)
    truth.ranks = RanksOfLeaves(LeavesAlike(layout, machines.groups, truth.leaf), ranks);
  ailment.has.assign(static_cast<size_t>(ranks), false);
  for (const int rank : ill) ailment.has[static_cast<size_t>(rank)] = true;
  if (ailment.fault == Fault::kSlowLink || ailment.fault == Fault::kSlowNvlink || ailment.fault == Fault::kSlowSwitch)
    truth.groups = SlowedDimensions(ailment.fault, machines.groups, ill);
}

// Makes the fault worse until a step is longer by as much as matters, and says what it takes in the end.
void Worsen(Machines& machines, JobTruth& truth, bool given) {
  const Severity& of = SeverityOf(truth.fault);
  Machines clean = machines;
  clean.records = false, clean.ailment.fault = Fault::kNone;
  truth.step_without_ns = RunMachines(clean).step_ns;
  machines.records = false;
  for (;;) {
    truth.step_ns = RunMachines(machines).step_ns;
    const auto step = static_cast<double>(truth.step_ns), without = static_cast<double>(truth.step_without_ns);
    const double next = machines.ailment.severity * of.worse;
    if (given || step >= kMatters * without || (of.worse < 1 ? next < of.worst : next > of.worst)) break;
    machines.ailment.severity = next;
  }
  machines.records = true;
  truth.severity = machines.ailment.severity;
}

void DrawClocks(const Draws& draws, SimulatedJob& job) {
  const double offset_ns = draws.Between(1e6, 5e6, Draw::kSettings, 3) * job.spec.clock_scale;
  const double drift = draws.Between(0, 20e-6, Draw::kSettings, 4) * job.spec.drift_scale;
  for (int host = 0; host <= HostOf(job.spec.ranks - 1); ++host) {
    job.host_offset_ns.push_back(offset_ns * draws.Normal(Draw::kClock, static_cast<uint64_t>(host)));
    job.host_drift.push_back(drift * draws.Normal(Draw::kDrift, static_cast<uint64_t>(host)));
  }
}

GroupNames DrawnNames(const Draws& draws) {
  const double drawn = draws.Uniform(Draw::kSettings, 2);
  return drawn < 0.4 ? GroupNames::kMegatron : drawn < 0.6 ? GroupNames::kDeviceMesh : GroupNames::kUndefined;
}

void Ail(Machines& machines, SimulatedJob& job) {
  Ailment& ailment = machines.ailment;
  JobTruth& truth = job.truth;
  const Severity& of = SeverityOf(job.spec.fault);
  truth.fault = ailment.fault = job.spec.fault;
  ailment.severity =
      job.spec.severity > 0 ? job.spec.severity : machines.draws.Between(of.low, of.high, Draw::kFault, 1);
  Plant(machines, machines.draws.Index(job.spec.ranks, Draw::kFault, 0), ailment, truth);
  std::set<int> hosts;
  for (const int rank : truth.ranks) hosts.insert(HostOf(rank));
  for (const int host : hosts) truth.hosts.push_back(HostName(host));
  Worsen(machines, truth, job.spec.severity > 0);
}

}  // namespace

std::string_view NameOf(Fault fault) { return SeverityOf(fault).name; }

Fault FaultNamed(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(Fault::kCount); ++i)
    if (kSeverities[i].name == name) return static_cast<Fault>(i);
  return Fault::kCount;
}

SimulatedJob MakeJob(const JobSpec& spec) {
  const Draws draws(spec.seed);
  SimulatedJob job{.spec = spec};
  if (spec.layout.ranks() > 1)
    job.spec.ranks = spec.layout.ranks();
  else
    job.spec.layout = DrawnLayout(draws, spec.ranks, spec.fault);
  const JobLayout& layout = job.spec.layout;
  job.names = spec.names.value_or(DrawnNames(draws));
  Machines machines{.draws = draws,
                    .layout = layout,
                    .plan = DrawnPlan(draws, layout),
                    .groups = GroupsFor(layout, job.names),
                    .steps = spec.steps,
                    .card_gbps = spec.card_gbps,
                    .nvlink_gbps = spec.nvlink_gbps,
                    .latency_ns = 1000 * spec.latency_us};
  machines.plan.cards = spec.cards;
  machines.plan.gathers_ahead = spec.gathers_ahead, machines.plan.keeps_gathered = spec.keeps_gathered;
  if (spec.shards_optimizer && layout.sharded) machines.plan.optimizer = 8.0 / layout.data;
  if (layout.pipeline > 1) machines.plan.last_stage = spec.last_stage;
  if (spec.pieces > 1) {
    machines.layout.microbatches *= spec.pieces;
    machines.plan.unit_us /= spec.pieces, machines.plan.optimizer *= spec.pieces;
  }
  machines.ailment.has.assign(static_cast<size_t>(layout.ranks()), false);
  DrawClocks(draws, job);
  if (spec.fault != Fault::kNone) Ail(machines, job);
  Outcome outcome = RunMachines(machines);
  job.ranks = std::move(outcome.ranks);
  job.truth.step_ns = outcome.step_ns;
  if (spec.fault == Fault::kNone) job.truth.step_without_ns = outcome.step_ns;
  job.spec.severity = job.truth.severity;
  job.groups = std::move(machines.groups.all);
  return job;
}

}  // namespace gapless::internal::testing
