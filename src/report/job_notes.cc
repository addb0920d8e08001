// SPDX-License-Identifier: Apache-2.0
// Words for what Run decided. Recordings are named by their files, as far up as two names differ.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "report/notes.h"
#include "trace/run.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxNamed = 8;  // recordings or ranges of ranks that a sentence lists

std::string SentenceList(std::vector<std::string> items) {
  if (items.size() > kMaxNamed) {
    const std::string more = StrCat(items.size() - kMaxNamed + 1, " more");
    items.resize(kMaxNamed - 1);
    items.push_back(more);
  }
  if (items.size() == 1) return items[0];
  const std::string last = items.back();
  items.pop_back();
  return StrCat(Join(items, ", "), " and ", last);
}

// The ranks below `size` that are not among `ranks`: "0–2, 4 and 6–7".
std::string Others(const std::set<int64_t>& ranks, int64_t size) {
  std::vector<std::string> ranges;
  const auto add = [&](int64_t first, int64_t last) {
    if (first <= last) ranges.push_back(first == last ? StrCat(first) : StrCat(first, "–", last));
  };
  int64_t next = 0;
  for (const int64_t rank : ranks) {
    add(next, std::min(rank, size) - 1);
    next = rank + 1;
  }
  add(next, size - 1);
  return ranges.empty() ? "" : StrCat(" (", SentenceList(std::move(ranges)), ")");
}

// Adds a note on processes that were numbered: which file is which rank.
void AddAssigned(const Run& run, std::vector<std::string>& notes) {
  std::map<int64_t, std::string> files;
  bool exchange = true;
  for (const RunTrace* of : run.primary()) {
    if (of->assigned_rank == kAbsent) continue;
    exchange = exchange && of->trace->collectives.size() > 0;
    files.try_emplace(of->assigned_rank, StrCat("rank ", of->assigned_rank, " is ", RecordingName(run, *of)));
  }
  if (files.empty()) return;
  std::vector<std::string> items;
  for (const auto& [rank, text] : files) items.push_back(text);
  std::string note =
      StrCat("no recording says its rank, so they are numbered by their names: ", SentenceList(std::move(items)));
  if (!exchange) note += "; nothing shows that they work together, so they may be jobs of their own";
  notes.push_back(std::move(note));
}

// The processes of the job that was recorded: what a recording says, or the largest group that a collective has.
int64_t JobSize(const std::vector<const RunTrace*>& recordings) {
  int64_t size = 0;
  for (const RunTrace* of : recordings) {
    size = std::max(size, of->trace->info.world_size);
    for (const int32_t group : of->trace->collectives.group_size) size = std::max<int64_t>(size, group);
  }
  return size;
}

// Adds a note on ranks of the job that were not given.
void AddMissing(const Run& run, std::vector<std::string>& notes) {
  const std::vector<const RunTrace*> recordings = run.primary();
  const int64_t size = JobSize(recordings);
  std::set<int64_t> ranks;
  std::set<int> processes;
  bool assigned = false;
  for (const RunTrace* of : recordings) {
    if (of->trace->slices.size() + of->trace->gpu_ops.size() == 0) continue;
    if (of->rank() != kAbsent) ranks.insert(of->rank());
    processes.insert(of->process);
    assigned = assigned || of->assigned_rank != kAbsent;
  }
  const auto there = static_cast<int64_t>(ranks.empty() ? processes.size() : ranks.size());
  if (there == 0 || there >= size) return;
  const int64_t count = size - there;
  notes.push_back(StrCat("the job has ", size, " ranks, and the ",
                         count == 1 ? "recording of one is" : StrCat("recordings of ", count, " are"), " missing",
                         assigned || ranks.empty() ? "" : Others(ranks, size),
                         ": how the ranks wait for each other is not known"));
}

// "98 days later"; "" if that is not known, or less than a second.
std::string Apart(const RunTrace& of, const RunTrace& from) {
  const int64_t a = from.trace->info.start_unix_ns, b = of.trace->info.start_unix_ns;
  if (a == kAbsent || b == kAbsent) return "";
  const int64_t seconds = std::abs(b - a) / 1'000'000'000;
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {
      {86'400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
  for (const auto& [length, unit] : kUnits)
    if (seconds >= 2 * length || (length == 1 && seconds == 1))
      return StrCat(FormatCounted(seconds / length, unit), b > a ? " later" : " earlier");
  return "";
}

std::string PidText(const RunTrace& of) {
  return of.trace->info.pid == kAbsent ? "" : StrCat("process ", of.trace->info.pid);
}

// Says what the recordings `left` are, which all relate to `from` in the same way.
std::string LeftOut(const std::vector<const RunTrace*>& left, const RunTrace& from, const Run& run) {
  std::vector<std::string> names;
  for (const RunTrace* of : left) names.push_back(RecordingName(run, *of));
  const RunTrace& first = *left[0];
  const auto at_once = [&](const RunTrace* of) { return of->execution == first.execution; };
  const std::string which = SentenceList(names);
  const std::string apart = std::ranges::all_of(left, at_once) ? Apart(first, from) : "";
  const bool one = left.size() == 1;
  switch (first.relation) {
    case Relation::kRankClash:
      return StrCat(which, one ? " says" : " say", " to be rank ", first.rank(), ", and so does ",
                    RecordingName(run, from),
                    first.trace->info.pid != from.trace->info.pid
                        ? StrCat(", of another process (", PidText(first), " and ", PidText(from), ")")
                        : ", of another process",
                    ": only ", RecordingName(run, from),
                    " is in these numbers; say which rank each is (RANK=FILE), or give one file");
    case Relation::kOtherJob:
      return StrCat(which, one ? " is" : " are", " of another job (", first.trace->info.world_size, " ranks, not ",
                    from.trace->info.world_size, apart.empty() ? "" : StrCat("; recorded ", apart),
                    "), so not in these numbers: give the files of one job");
    case Relation::kBeside:
      return StrCat(which, one ? " is" : " are",
                    " of a process beside the training that trains nothing itself, so not ", "in these numbers: give ",
                    one ? "it" : "them", " alone to see what it does");
    default:
      return StrCat("recorded in another run of the program", apart.empty() ? "" : StrCat(", ", apart),
                    ", so not in these numbers: ", which);
  }
}

// Adds a note for each kind of reason, in the order of the recordings.
void AddLeftOut(const Run& run, std::vector<std::string>& notes) {
  std::map<std::tuple<Relation, int, int>, std::vector<const RunTrace*>> by_reason;  // relation, execution, from
  for (const RunTrace& of : run.traces()) {
    if (of.execution == 0) continue;
    const bool timed = of.relation != Relation::kOtherTime;
    by_reason[{of.relation, timed ? of.execution : 0, timed ? of.apart_from : 0}].push_back(&of);
  }
  for (const auto& [reason, left] : by_reason) {
    const int from = std::max(0, left[0]->apart_from);
    notes.push_back(LeftOut(left, run.traces()[static_cast<size_t>(from)], run));
  }
}

}  // namespace

std::vector<std::string> RecordingsNotes(const Run& run) {
  std::vector<std::string> notes;
  AddLeftOut(run, notes);
  AddAssigned(run, notes);
  return notes;
}

std::vector<std::string> MissingRankNotes(const Run& run) {
  std::vector<std::string> notes;
  AddMissing(run, notes);
  return notes;
}

}  // namespace gapless::internal
