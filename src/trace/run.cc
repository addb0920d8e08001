// SPDX-License-Identifier: Apache-2.0
// Decides how recordings of one job relate, pair by pair (trace/identity.h). That is O(n²) for n recordings in general;
// for a plain job, whose ranks are all known and each ran once, it is all but linear:
//
//   - One process at one time: only the recording with the most rows is primary.
//   - One process at several times, or several processes of one job: parts of one execution, all primary.
//   - All others: executions of their own. The one with the most processes becomes execution 0.
//   - A process that only calls models (an actor, an evaluation) beside one that trains, of the same rank or both
//     without: an execution of its own, too. The steps of a job are those of its training, and the time of the others
//     is not spent in them. Not so if its role tells it from the training: it is a part of the job then.
//   - What was recorded around the processes (telemetry of a host: counters only): belongs to the execution it
//     shares most time with, and founds one only when nothing else was recorded. Metrics of kernels have no
//     time and go with the first.
#include "trace/run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "trace/formats.h"
#include "trace/summary.h"
#include "trace/workload.h"

namespace gapless::internal {
namespace {

struct Span {
  int64_t start, end;
};

// On the wall clock where that is known, else on the recorder's own.
Span SpanOf(const Trace& trace) {
  const int64_t start = trace.info.start_unix_ns != kAbsent ? trace.info.start_unix_ns : trace.info.origin_ns;
  return {start, start + trace.info.dur_ns};
}

int64_t Overlap(Span a, Span b) { return std::min(a.end, b.end) - std::max(a.start, b.start); }

// Compares the numbers of slices and GPU operations.
bool MoreRows(const Trace& a, const Trace& b) {
  return a.slices.size() + a.gpu_ops.size() > b.slices.size() + b.gpu_ops.size();
}

// Holds nothing that a process did, only what was measured around it.
bool IsSurroundings(const Trace& trace) {
  return trace.slices.size() + trace.gpu_ops.size() + trace.syncs.size() + trace.memory_events.size() == 0 &&
         trace.info.pid == kAbsent &&
         trace.counters.size() + trace.kernel_metrics.size() + trace.host_functions.size() > 0;
}

// Samples of GPUs that another tool took: their times are local ones or missing.
bool HasLooseClock(const Trace& trace) { return trace.info.format == kGpuSamplesFormat; }

// Time shared by a trace and the recordings of one execution.
int64_t SharedTime(const Trace& trace, const std::vector<RunTrace>& traces, const std::vector<size_t>& execution) {
  int64_t shared = 0;
  for (const size_t other : execution) shared = std::max(shared, Overlap(SpanOf(trace), SpanOf(*traces[other].trace)));
  return shared;
}

void PlaceSurroundings(std::vector<RunTrace>& traces, const std::vector<size_t>& which,
                       std::vector<std::vector<size_t>> executions) {
  const size_t founded = executions.size();
  for (const size_t i : which) {
    const Trace& trace = *traces[i].trace;
    size_t best = trace.counters.size() == 0 && founded > 0 ? 0 : executions.size();
    int64_t most = 0;
    for (size_t execution = 0; execution < executions.size() && trace.counters.size() > 0; ++execution) {
      const int64_t shared = SharedTime(trace, traces, executions[execution]);
      if (shared > most) most = shared, best = execution;
    }
    // Samples without a clock, or of another time zone, are of the run that they are given with.
    if (best == executions.size() && founded > 0 && HasLooseClock(trace)) best = 0;
    if (best == executions.size()) executions.emplace_back();
    if (best >= founded) executions[best].push_back(i);
    traces[i].execution = static_cast<int>(best);
  }
}

// Orders and numbers the traces; equal ones keep their order.
void SortAndNumber(std::vector<RunTrace>& traces) {
  const auto key = [](const RunTrace& of) {
    return std::make_tuple(IsSurroundings(*of.trace), of.rank(), SpanOf(*of.trace).start, of.trace->info.pid,
                           std::string_view(of.trace->info.path));
  };
  std::ranges::stable_sort(traces, [&](const RunTrace& a, const RunTrace& b) { return key(a) < key(b); });
  for (size_t i = 0; i < traces.size(); ++i) traces[i].index = static_cast<int>(i);
}

// Sorted like the traces: one entry for each index.
std::vector<Identity> IdentitiesOf(const std::vector<RunTrace>& traces) {
  std::vector<Identity> known;
  known.reserve(traces.size());
  for (const RunTrace& of : traces) {
    known.push_back(IdentityOf(*of.trace));
    known.back().job_role = of.job_role;
  }
  return known;
}

Relation RelationOf(const RunTrace& a, const RunTrace& b, const std::vector<Identity>& known) {
  return Relate(known[static_cast<size_t>(a.index)], known[static_cast<size_t>(b.index)]);
}

// Recordings that may be of one process: their process numbers and ranks agree (identity.cc).
using ProcessKey = std::pair<int64_t, int64_t>;
ProcessKey KeyOf(const Identity& identity) { return {identity.pid, identity.rank}; }

// Counts the processes among some recordings.
class ProcessCount {
 public:
  explicit ProcessCount(const std::vector<Identity>& known) : known_(known) {}
  void Add(size_t i) {
    std::vector<size_t>& alike = counted_[KeyOf(known_[i])];
    const auto is_one = [&](size_t other) { return IsOneProcess(Relate(known_[i], known_[other])); };
    if (std::ranges::none_of(alike, is_one)) alike.push_back(i), ++count_;
  }
  size_t count() const { return count_; }

 private:
  const std::vector<Identity>& known_;
  std::map<ProcessKey, std::vector<size_t>> counted_{};
  size_t count_ = 0;
};

// Counts the processes of an execution: those that use a device, or all if none does.
size_t ProcessesOf(const std::vector<size_t>& execution, const std::vector<Identity>& known) {
  ProcessCount working(known), any(known);
  for (const size_t i : execution) {
    any.Add(i);
    if (known[i].uses_device) working.Add(i);
  }
  return working.count() == 0 ? any.count() : working.count();
}

// Puts the execution with the most processes first; the others keep their order, which is that of time.
void PutLargestFirst(std::vector<std::vector<size_t>>& executions, const std::vector<Identity>& known) {
  if (executions.size() < 2) return;
  std::vector<size_t> processes;
  for (const std::vector<size_t>& execution : executions) processes.push_back(ProcessesOf(execution, known));
  const auto largest = std::max_element(processes.begin(), processes.end()) - processes.begin();
  std::rotate(executions.begin(), executions.begin() + largest, executions.begin() + largest + 1);
}

// Each recording has the index of the first one of the same process.
std::vector<size_t> FirstOfProcess(const std::vector<Identity>& known) {
  std::vector<size_t> first(known.size());
  std::map<ProcessKey, std::vector<size_t>> before;
  for (size_t i = 0; i < known.size(); ++i) {
    std::vector<size_t>& alike = before[KeyOf(known[i])];
    const auto same = std::ranges::find_if(alike, [&](size_t j) { return IsOneProcess(Relate(known[j], known[i])); });
    first[i] = same == alike.end() ? i : first[*same];
    alike.push_back(i);
  }
  return first;
}

// Returns true if all recordings are of one job without asking every pair: each says its rank, those of one rank are of
// one process, jobs have one size, and no two began to be recorded too far apart.
bool IsPlainJob(const std::vector<size_t>& recordings, const std::vector<Identity>& known) {
  std::map<int64_t, std::vector<size_t>> ranks;
  std::optional<int64_t> size;
  int64_t last_start = std::numeric_limits<int64_t>::min(), first_end = std::numeric_limits<int64_t>::max();
  for (const size_t i : recordings) {
    const Identity& its = known[i];
    if (its.rank == kAbsent || its.pid == kAbsent) return false;
    if (its.world_size != kAbsent && size.value_or(its.world_size) != its.world_size) return false;
    if (its.world_size != kAbsent) size = its.world_size;
    if (its.wall_clock) last_start = std::max(last_start, its.start_ns), first_end = std::min(first_end, its.end_ns);
    for (const size_t other : ranks[its.rank])
      if (!IsOneProcess(Relate(known[other], its))) return false;
    ranks[its.rank].push_back(i);
  }
  return last_start == std::numeric_limits<int64_t>::min() || last_start - kFarApartNs <= first_end;
}

// Decides whether two recordings go together; those of two processes do if any two of these processes do. The
// profiler's windows of two processes rarely fall into the same seconds; what our agent saw of each covers all of it.
class Together {
 public:
  explicit Together(const std::vector<Identity>& known)
      : known_(known), first_(FirstOfProcess(known)), recordings_(known.size()) {
    for (size_t i = 0; i < known.size(); ++i) recordings_[first_[i]].push_back(i);
  }

  bool operator()(size_t a, size_t b) {
    const Relation relation = Relate(known_[a], known_[b]);
    if (relation != Relation::kOtherTime) return GoTogether(relation);
    const auto [entry, is_new] = ran_at_once_.try_emplace({first_[a], first_[b]}, false);
    if (is_new) entry->second = RanAtOnce(first_[a], first_[b]);
    return entry->second;
  }
  size_t first(size_t of) const { return first_[of]; }

 private:
  bool RanAtOnce(size_t process, size_t other) const {
    return std::ranges::any_of(recordings_[process], [&](size_t i) {
      return std::ranges::any_of(recordings_[other],
                                 [&](size_t j) { return Relate(known_[i], known_[j]) == Relation::kSameJob; });
    });
  }

  const std::vector<Identity>& known_;
  std::vector<size_t> first_;
  std::vector<std::vector<size_t>> recordings_;  // all of the process that begins with this one
  std::map<std::pair<size_t, size_t>, bool> ran_at_once_;
};

// Sets apart what only calls models beside training, as execution `apart`.
void SetBesideApart(std::vector<RunTrace>& traces, const Together& together, int apart) {
  std::map<std::pair<int, int64_t>, std::map<size_t, std::vector<size_t>>> jobs;  // execution and rank; process
  for (size_t i = 0; i < traces.size(); ++i)
    if (!IsSurroundings(*traces[i].trace))
      jobs[{traces[i].execution, traces[i].rank()}][together.first(i)].push_back(i);
  for (const auto& [job, processes] : jobs) {
    if (processes.size() < 2) continue;
    std::map<JobPart, std::vector<size_t>> by_part;
    for (const auto& [first, recordings] : processes) {
      JobPart part = JobPart::kUnknown;
      for (const size_t i : recordings) part = std::max(part, PartOf(*traces[i].trace));
      by_part[part].insert(by_part[part].end(), recordings.begin(), recordings.end());
    }
    if (!by_part.contains(JobPart::kTrains)) continue;
    std::set<std::string_view> training;  // roles of what trains
    for (const size_t i : by_part[JobPart::kTrains]) training.insert(traces[i].job_role);
    for (const size_t i : by_part[JobPart::kOnlyCalls])
      if (training.contains(traces[i].job_role) || traces[i].job_role.empty())
        traces[i].execution = apart, traces[i].relation = Relation::kBeside;
  }
}

// Each trace joins the first execution with all of whose traces it goes together. Returns the number of executions.
int AssignExecutions(std::vector<RunTrace>& traces, const std::vector<Identity>& known) {
  std::vector<size_t> by_time, surroundings;
  for (size_t i = 0; i < traces.size(); ++i) (IsSurroundings(*traces[i].trace) ? surroundings : by_time).push_back(i);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](size_t a, size_t b) { return SpanOf(*traces[a].trace).start < SpanOf(*traces[b].trace).start; });
  if (!by_time.empty() && IsPlainJob(by_time, known)) {
    PlaceSurroundings(traces, surroundings, {by_time});
    return 1;
  }
  Together together(known);
  // Workers that load data come and go during a training: theirs is the execution of any process that they ran beside.
  std::ranges::stable_partition(by_time, [&](size_t i) { return !LoadsData(*traces[i].trace); });
  std::vector<std::vector<size_t>> executions;
  for (const size_t i : by_time) {
    const bool loads = LoadsData(*traces[i].trace);
    const auto joins = [&](const std::vector<size_t>& execution) {
      const auto is_together = [&](size_t other) { return together(i, other); };
      return loads ? std::ranges::any_of(execution, is_together) : std::ranges::all_of(execution, is_together);
    };
    const auto found = std::ranges::find_if(executions, joins);
    (found == executions.end() ? executions.emplace_back() : *found).push_back(i);
  }
  PutLargestFirst(executions, known);
  for (size_t execution = 0; execution < executions.size(); ++execution)
    for (const size_t i : executions[execution]) traces[i].execution = static_cast<int>(execution);
  const size_t founded = executions.size();
  PlaceSurroundings(traces, surroundings, std::move(executions));
  const int last = traces.empty() ? 0 : std::ranges::max_element(traces, {}, &RunTrace::execution)->execution;
  SetBesideApart(traces, together, last + 1);
  return static_cast<int>(founded);
}

// Says of each recording that is not of execution 0 what keeps it from that: the same rank or another job, rather than
// another time.
void ExplainApart(std::vector<RunTrace>& traces, const std::vector<Identity>& known) {
  for (RunTrace& run_trace : traces) {
    if (run_trace.execution == 0 || run_trace.relation == Relation::kBeside) continue;
    run_trace.relation = Relation::kOtherTime;
    for (const RunTrace& other : traces) {
      if (other.execution != 0 || IsSurroundings(*other.trace)) continue;
      const Relation relation = RelationOf(run_trace, other, known);
      if (GoTogether(relation) || (run_trace.apart_from >= 0 && relation == Relation::kOtherTime)) continue;
      run_trace.apart_from = other.index;
      run_trace.relation = relation;
      if (relation != Relation::kOtherTime) break;
    }
  }
}

// Numbers the processes of an execution that use a device, by name, where none says its rank. Our agent knows the rank
// of a process if there is one, so beside it none is missing.
void AssignRanks(std::vector<RunTrace>& traces, const std::vector<Identity>& known, int execution,
                 std::string_view role) {
  std::vector<size_t> first;  // recordings of each process that come first by name
  for (size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].execution != execution || traces[i].job_role != role) continue;
    if (known[i].rank != kAbsent || known[i].profiler == kAgentFormat) return;
    if (known[i].uses_device) first.push_back(i);
  }
  std::ranges::sort(first, [&](size_t a, size_t b) { return NaturallyBefore(known[a].path, known[b].path); });
  const auto are_one = [&](size_t a, size_t b) { return IsOneProcess(Relate(known[a], known[b])); };
  std::vector<size_t> processes;
  for (const size_t i : first)
    if (std::ranges::none_of(processes, [&](size_t other) { return are_one(i, other); })) processes.push_back(i);
  if (processes.size() < 2) return;
  for (size_t rank = 0; rank < processes.size(); ++rank)
    for (size_t i = 0; i < traces.size(); ++i)
      if (traces[i].execution == execution && (i == processes[rank] || are_one(i, processes[rank])))
        traces[i].assigned_rank = static_cast<int64_t>(rank);
}

// Recordings by execution and by what those of one process have in common.
std::map<std::pair<int, ProcessKey>, std::vector<size_t>> Alike(const std::vector<RunTrace>& traces,
                                                                const std::vector<Identity>& known) {
  std::map<std::pair<int, ProcessKey>, std::vector<size_t>> alike;
  for (size_t i = 0; i < traces.size(); ++i) alike[{traces[i].execution, KeyOf(known[i])}].push_back(i);
  return alike;
}

// Gives each recording the role that is said of its process by any recording of that. Returns all roles, "" included.
std::set<std::string> AssignJobRoles(std::vector<RunTrace>& traces, const RoleChoice& choice) {
  std::set<std::string> roles{""};
  for (RunTrace& of : traces) roles.insert(of.job_role = SaidRole(*of.trace, choice));
  if (roles.size() == 1) return roles;
  const std::vector<Identity> known = IdentitiesOf(traces);
  for (RunTrace& of : traces) {
    const auto is_its = [&](const RunTrace& other) {
      Identity a = known[static_cast<size_t>(of.index)], b = known[static_cast<size_t>(other.index)];
      return !other.job_role.empty() && IsOneProcess(Relate(a, b));
    };
    if (!of.job_role.empty() || IsSurroundings(*of.trace)) continue;
    if (const auto other = std::ranges::find_if(traces, is_its); other != traces.end()) of.job_role = other->job_role;
  }
  return roles;
}

// The role whose steps are the job's: the chosen one, else the one that trains in most processes, else the largest.
std::string LeadingRole(const std::vector<RunTrace>& traces, const RoleChoice& choice) {
  if (!choice.lead.empty()) return choice.lead;
  std::map<std::string_view, std::pair<std::set<int>, std::set<int>>> processes;  // those that train, and all
  for (const RunTrace& of : traces) {
    if (of.execution != 0 || IsSurroundings(*of.trace) || LoadsData(*of.trace)) continue;
    auto& [training, all] = processes[of.job_role];
    all.insert(of.process);
    if (PartOf(*of.trace) == JobPart::kTrains) training.insert(of.process);
  }
  const auto size_of = [](const auto& role) { return std::pair(role.second.first.size(), role.second.second.size()); };
  const auto most = std::ranges::max_element(processes, {}, size_of);
  return most == processes.end() ? std::string() : std::string(most->first);
}

// A process of no role that does not lead belongs to whatever leads: a loader's worker, the driver of a job.
void AssignLead(std::vector<RunTrace>& traces, const RoleChoice& choice) {
  const std::string lead = LeadingRole(traces, choice);
  for (RunTrace& of : traces) of.leads = of.job_role == lead || of.job_role.empty();
}

// Makes a recording a supplement if another one of the same stretch has more rows, or as many and a smaller index.
void AssignRoles(std::vector<RunTrace>& traces, const std::vector<Identity>& known) {
  for (const auto& [key, recordings] : Alike(traces, known))
    for (const size_t i : recordings)
      for (const size_t j : recordings) {
        RunTrace& run_trace = traces[i];
        const RunTrace& other = traces[j];
        // A profile of functions says what no other recording does.
        if (i == j || run_trace.trace->host_functions.size() > 0 || other.trace->host_functions.size() > 0) continue;
        if (RelationOf(run_trace, other, known) != Relation::kSameStretch) continue;
        const bool tie = !MoreRows(*run_trace.trace, *other.trace) && !MoreRows(*other.trace, *run_trace.trace);
        if (MoreRows(*other.trace, *run_trace.trace) || (tie && other.index < run_trace.index))
          run_trace.role = Role::kSupplement;
      }
}

// Gives recordings of one process in one execution the index of the first of them.
void AssignProcesses(std::vector<RunTrace>& traces, const std::vector<Identity>& known) {
  for (const auto& [key, recordings] : Alike(traces, known))
    for (const size_t i : recordings) {
      const auto first = std::ranges::find_if(
          recordings, [&](size_t j) { return i == j || IsOneProcess(RelationOf(traces[j], traces[i], known)); });
      traces[i].process = traces[*first].index;
    }
}

// Sets the shift of each trace, so that the earliest trace of its execution begins at 0. Traces without times, and
// samples without a usable clock, are not shifted.
void AssignTimeAxis(std::vector<RunTrace>& traces) {
  const auto timeless = [](const Trace& trace) { return IsSurroundings(trace) && trace.counters.size() == 0; };
  // Samples that share no time with the recordings of their execution begin with the earliest of them.
  const auto is_unplaced = [&](const RunTrace& run_trace) {
    if (!HasLooseClock(*run_trace.trace)) return false;
    const auto shares = [&](const RunTrace& other) {
      return &other != &run_trace && other.execution == run_trace.execution && !timeless(*other.trace) &&
             !HasLooseClock(*other.trace) && Overlap(SpanOf(*run_trace.trace), SpanOf(*other.trace)) > 0;
    };
    const auto is_recording = [&](const RunTrace& other) {
      return other.execution == run_trace.execution && !timeless(*other.trace) && !HasLooseClock(*other.trace);
    };
    return std::ranges::any_of(traces, is_recording) && std::ranges::none_of(traces, shares);
  };
  std::vector<uint8_t> placed;
  std::map<int, int64_t> zeros;  // by execution
  for (const RunTrace& run_trace : traces) {
    placed.push_back(!timeless(*run_trace.trace) && !is_unplaced(run_trace) ? 1 : 0);
    const int64_t start = SpanOf(*run_trace.trace).start;
    if (placed.back() != 0)
      if (const auto [zero, is_new] = zeros.try_emplace(run_trace.execution, start); !is_new)
        zero->second = std::min(zero->second, start);
  }
  for (size_t i = 0; i < traces.size(); ++i)
    if (placed[i] != 0) traces[i].ts_shift_ns = SpanOf(*traces[i].trace).start - zeros[traces[i].execution];
}

// Returns how many rows the recording has whose summary this may be.
IdBase RowsOf(const Trace& trace) {
  if (trace.summary) return trace.summary->rows;
  const auto count = [](const auto& table) { return static_cast<int64_t>(table.size()); };
  return {.slice = count(trace.slices),
          .gpu_op = count(trace.gpu_ops),
          .gpu_annotation = count(trace.gpu_annotations),
          .sync = count(trace.syncs),
          .collective = count(trace.collectives),
          .step = count(trace.steps),
          .memory_event = count(trace.memory_events),
          .stack = count(trace.stacks)};
}

// Numbers the rows of each table through all traces.
void AssignIds(std::vector<RunTrace>& traces) {
  constexpr int64_t IdBase::*kTables[] = {&IdBase::slice,        &IdBase::gpu_op,     &IdBase::gpu_annotation,
                                          &IdBase::sync,         &IdBase::collective, &IdBase::step,
                                          &IdBase::memory_event, &IdBase::stack};
  IdBase next;
  for (RunTrace& run_trace : traces) {
    run_trace.base = next;
    const IdBase rows = RowsOf(*run_trace.trace);
    for (const auto table : kTables) next.*table += rows.*table;
  }
}

}  // namespace

// Ranks are assigned before the traces get their final order, which is that of the ranks.
Run::Run(std::vector<std::shared_ptr<const Trace>> given, std::span<const int64_t> ranks,
         std::shared_ptr<const RoleChoice> roles_said)
    : choice_(std::move(roles_said)) {
  const RoleChoice none, &choice = choice_ ? *choice_ : none;
  for (auto& trace : given) traces_.push_back({.trace = std::move(trace), .base = {}});
  SortAndNumber(traces_);
  const std::set<std::string> roles = AssignJobRoles(traces_, choice);
  std::vector<Identity> known = IdentitiesOf(traces_);
  for (int execution = AssignExecutions(traces_, known); execution-- > 0;)
    for (const std::string& role : roles) AssignRanks(traces_, known, execution, role);
  std::erase_if(traces_,
                [&](const RunTrace& of) { return !ranks.empty() && std::ranges::count(ranks, of.rank()) == 0; });
  SortAndNumber(traces_);
  known = IdentitiesOf(traces_);
  ExplainApart(traces_, known);
  AssignRoles(traces_, known);
  AssignProcesses(traces_, known);
  if (roles.size() > 1) AssignLead(traces_, choice);
  AssignTimeAxis(traces_);
  AssignIds(traces_);
}

std::vector<const RunTrace*> Run::primary() const {
  std::vector<const RunTrace*> found;
  for (const RunTrace& run_trace : traces_)
    if (run_trace.role == Role::kPrimary && run_trace.counts()) found.push_back(&run_trace);
  return found;
}

std::vector<const RunTrace*> Run::of_all_roles() const {
  const auto is_said = [](const RunTrace& of) { return !of.job_role.empty(); };
  std::vector<const RunTrace*> found;
  if (std::ranges::none_of(traces_, is_said)) return found;
  for (const RunTrace& of : traces_)
    if (of.role == Role::kPrimary && of.execution == 0 && !IsSurroundings(*of.trace)) found.push_back(&of);
  return found;
}

// Shortens the path of a recording to what tells it from the others.

std::string RecordingName(const Run& run, const RunTrace& of) {
  const auto name_of = [](std::string_view path) { return path.substr(path.find_last_of('/') + 1); };
  const std::string_view path = of.trace->info.path;
  bool unique = true;
  size_t common = path.size() - name_of(path).size();
  for (const RunTrace& other : run.traces()) {
    const std::string_view its_path = other.trace->info.path;
    unique = unique && (other.index == of.index || name_of(its_path) != name_of(path));
    while (common > 0 && its_path.substr(0, common) != path.substr(0, common))
      common = path.substr(0, common - 1).find_last_of('/') + 1;  // 0 where there is none
  }
  return std::string(unique ? name_of(path) : path.substr(common));
}

}  // namespace gapless::internal
