// SPDX-License-Identifier: Apache-2.0
// Ranks and hosts that are late by their own time: the outcomes of tests become names. A host explains its ranks where
// both are behind in the same thing.
#include "analyses/list/slow_parts/own_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace gapless::internal::slow_parts_analysis {
namespace {

bool HasGrids(const Unit& unit) {
  return std::ranges::any_of(unit.kernels, [](const auto& kernel) { return kernel.second.blocks > 0; });
}

int64_t GarbageOf(const Unit& unit) {
  int64_t garbage_ns = 0;
  for (const OwnStep& step : unit.all_steps) garbage_ns += step.garbage_ns;
  return garbage_ns / std::ssize(unit.all_steps);
}

// Returns what an outcome comes to in a step on average; its excess is the median where it lasts.
double MeanExcess(const Outcome& outcome) {
  if (outcome.over.empty()) return static_cast<double>(outcome.excess_ns);
  double sum = 0;
  for (const auto& [step, ns] : outcome.over) sum += ns;
  return sum / static_cast<double>(outcome.over.size());
}

// Outcomes of a unit or a host that stand.
using Stands = std::array<const Outcome*, kMeasures>;

// A Verdict names the measure in which a unit or host is behind most.
struct Verdict {
  std::string_view kind{};
  const Outcome* outcome = nullptr;
};

// `all`: also outcomes that do not stand.
Verdict VerdictOf(const Stands& stands, const Stands& all) {
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
      if (2 * static_cast<double>(GarbageOf(*most->unit)) > MeanExcess(*most)) return {"garbage", most};
      const Outcome* const pauses = all[kPausing];
      const Outcome* const lasting = all[kHostTime];
      if (lasting != nullptr && lasting->excess_ns > most->excess_ns) most = lasting;
      const bool paused = pauses != nullptr && 2 * static_cast<double>(pauses->excess_ns) > MeanExcess(*most);
      return {paused ? "pauses" : "host", most};
    }
    case kLoading:
    case kLoaderStalls: return {"loader", most};
    default: return {"copies", most};
  }
}

struct Name {
  Verdict verdict{};
  Peers units{};
};

// Are both the host's doing? Pauses and late launches are two looks of one thing.
bool SameCause(std::string_view a, std::string_view b) {
  const auto of_host = [](std::string_view kind) { return kind == "host" || kind == "pauses"; };
  return a == b || (of_host(a) && of_host(b));
}

// Hosts first, then the ranks that their host does not explain.
std::vector<Name> NamesOf(const std::vector<Outcome>& outcomes) {
  std::map<std::string_view, Stands> hosts, all_of_hosts;
  std::map<const Unit*, Stands> ranks, all_of_ranks;
  for (const Outcome& outcome : outcomes) {
    (outcome.host.empty() ? all_of_ranks[outcome.unit] : all_of_hosts[outcome.unit->host])[outcome.measure] = &outcome;
    if (outcome.q > kFalseShare || outcome.excess_ns <= 0) continue;
    (outcome.host.empty() ? ranks[outcome.unit] : hosts[outcome.unit->host])[outcome.measure] = &outcome;
  }
  std::vector<Name> names;
  for (const auto& [host, stands] : hosts) {
    const Verdict verdict = VerdictOf(stands, all_of_hosts[host]);
    names.push_back({verdict, verdict.outcome->host});
  }
  const size_t of_hosts = names.size();
  for (const auto& [unit, stands] : ranks) {
    const Verdict verdict = VerdictOf(stands, all_of_ranks[unit]);
    const auto explains = [&](const Name& host) {
      return host.units[0]->host == unit->host && SameCause(host.verdict.kind, verdict.kind);
    };
    if (std::none_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(of_hosts), explains))
      names.push_back({verdict, {verdict.outcome->unit}});
  }
  return names;
}

SlowPart PartOf(const Name& name, std::string_view part, int64_t tests) {
  const Outcome& outcome = *name.verdict.outcome;
  SlowPart slow{.part = part, .kind = name.verdict.kind, .longest = outcome.unit->of};
  for (const Unit* unit : name.units) slow.ranks.push_back(unit->rank());
  std::ranges::sort(slow.ranks);
  slow.host = std::string(outcome.unit->host), slow.what = std::string(outcome.what);
  slow.late = outcome.late;
  slow.tried = std::ssize(IsPauses(outcome.measure) ? outcome.unit->all_steps : outcome.unit->steps);
  slow.excess_ns = outcome.excess_ns, slow.ratio = outcome.ratio, slow.q = outcome.q, slow.tests = tests;
  return slow;
}

// Joins names into one: that with most stays, with the units of both.
void Join(const Name& other, Name& name) {
  name.units.insert(name.units.end(), other.units.begin(), other.units.end());
  if (other.verdict.outcome->excess_ns > name.verdict.outcome->excess_ns) name.verdict = other.verdict;
}

// Ranks with more to do are one part: model parallel ranks share their data. So are ranks behind in the same thing
// where that is half of a small job's host, whose hosts are too few to be tested.
std::vector<SlowPart> PartsOf(const std::vector<Name>& names, const std::vector<Unit>& units, int64_t tests) {
  std::map<std::string_view, size_t> ranks_of_host;
  for (const Unit& unit : units) ++ranks_of_host[unit.host];
  std::vector<SlowPart> parts;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const Name*>> together;  // by kind and host
  Name more_work;
  for (const Name& name : names) {
    if (name.verdict.kind == "work")
      more_work.units.empty() ? void(more_work = name) : Join(name, more_work);
    else if (name.units.size() > 1)
      parts.push_back(PartOf(name, "host", tests));
    else
      together[{name.verdict.kind, name.units[0]->host}].push_back(&name);
  }
  if (!more_work.units.empty())
    parts.push_back(PartOf(more_work, more_work.units.size() > 1 ? "ranks" : "rank", tests));
  for (const auto& [key, of_host] : together) {
    const size_t all = ranks_of_host[key.second];
    if (key.second.empty() || of_host.size() < 2 || 2 * of_host.size() < all || all == units.size()) {
      for (const Name* name : of_host) parts.push_back(PartOf(*name, "rank", tests));
      continue;
    }
    Name whole = *of_host[0];
    for (const Name* name : std::span(of_host).subspan(1)) Join(*name, whole);
    parts.push_back(PartOf(whole, "host", tests));
  }
  return parts;
}

}  // namespace

std::vector<SlowPart> SlowByOwnTime(Tables& tables) {
  std::vector<Unit> units = UnitsOf(tables);
  const std::vector<Outcome> outcomes = TestOwnTime(units);
  return PartsOf(NamesOf(outcomes), units, static_cast<int64_t>(outcomes.size()));
}

}  // namespace gapless::internal::slow_parts_analysis
