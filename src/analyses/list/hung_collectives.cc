// SPDX-License-Identifier: Apache-2.0
// Holds the calls of all ranks of a group against each other, by the number that the library gave each: dumps of
// flight recorders of a job that hangs.
//
// The call of most ranks is taken for right (of as many, what the lowest rank called). Sizes and types are compared as
// PyTorch's own analyser does: those of all_to_all may differ, so may what a scatter takes and what a gather gives. A
// rank is missing at a number that lies behind its last call; a number before its first was overwritten in its ring,
// and says nothing. Calls that were coalesced share a number and are compared in their order.
//
// Sends and receives have no number that both sides share: the n-th send from one rank to another belongs to its n-th
// receive. Only what did not end, and what differs in size, is a row.
#include "analyses/rows/hung_collectives.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/user_code.h"
#include "base/strings.h"

namespace gapless::internal::hung_collectives_analysis {
namespace {

// A call: a row of the collectives of one recording.
struct Call {
  const RunTrace* of = nullptr;
  size_t row = 0;

  const Trace& trace() const { return *of->trace; }
  const CollectiveTable& table() const { return of->trace->collectives; }
  std::string_view Text(Column<StringId> CollectiveTable::*column) const {
    return trace().Text((table().*column)[row]);
  }
  std::string_view kind() const { return Text(&CollectiveTable::kind); }
  // "nccl:send 0->1" → "send"
  std::string_view Op() const {
    std::string_view name = Text(&CollectiveTable::name);
    name.remove_prefix(name.find_last_of(':') + 1);
    return name.substr(0, name.find(' '));
  }
  bool IsDone() const { return Text(&CollectiveTable::state) == "completed"; }
};

using Ranks = std::set<int64_t>;
using Calls = std::map<int64_t, std::vector<Call>>;  // calls by rank

struct Group {
  Ranks ranks;                      // ranks as recorded; where no group was recorded, those that called something in it
  std::map<int64_t, Calls> by_seq;  // collectives, by number
  std::map<int64_t, std::pair<int64_t, int64_t>> spans;  // first and last number, by rank
  std::map<int64_t, Call> last;                          // last call, by rank
  std::map<std::pair<int64_t, int64_t>, std::pair<std::vector<Call>, std::vector<Call>>> messages;  // sends, receives
};
using Groups = std::map<std::pair<std::string_view, std::string_view>, Group>;  // groups by name and ranks

std::string RanksText(const Ranks& ranks) {
  std::string text;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const int64_t first = *at;
    int64_t last = first;
    for (++at; at != ranks.end() && *at == last + 1; ++at) last = *at;
    text += StrCat(text.empty() ? "" : ", ", first);
    if (last > first) text += StrCat(last == first + 1 ? ", " : "–", last);
  }
  return text;
}

void AddRanks(std::string_view text, Ranks& ranks) {
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), rank);
    if (error == std::errc()) ranks.insert(rank);
    at = static_cast<size_t>(end - text.data());
  }
}

bool IsMessage(std::string_view kind) { return kind == "send" || kind == "recv"; }

void AddCall(const Call& call, int64_t rank, Group& group) {
  const CollectiveTable& all = call.table();
  if (IsMessage(call.kind())) {
    const std::pair<int64_t, int64_t> peers{all.src_rank[call.row], all.dst_rank[call.row]};
    auto& [sends, receives] = group.messages[peers];
    (call.kind() == "send" ? sends : receives).push_back(call);
    return;
  }
  const int64_t seq = all.seq[call.row];
  if (seq == kAbsent) return;
  group.by_seq[seq][rank].push_back(call);
  const auto [span, is_new] = group.spans.try_emplace(rank, seq, seq);
  span->second = {std::min(span->second.first, seq), std::max(span->second.second, seq)};
  if (is_new || seq >= span->second.second) group.last[rank] = call;
}

Groups GroupsOf(const Run& run, Ranks& dumped) {
  Groups groups;
  for (const RunTrace* of : run.primary()) {
    const Trace& trace = *of->trace;
    const CollectiveTable& all = trace.collectives;
    // A dump without a rank is one of its own.
    const int64_t rank = of->rank() == kAbsent ? of->index : of->rank();
    for (size_t row = 0; row < all.size(); ++row) {
      if (all.state[row] == StringId::kNone || all.seq[row] == kAbsent) continue;
      if (trace.info.format != "flight_recorder") break;
      dumped.insert(rank);
      Group& group = groups[{trace.Text(all.group[row]), trace.Text(all.group_ranks[row])}];
      if (group.ranks.empty()) AddRanks(trace.Text(all.group_ranks[row]), group.ranks);
      AddCall({of, row}, rank, group);
    }
  }
  for (auto& [key, group] : groups)
    if (group.ranks.empty())
      for (const auto& [rank, span] : group.spans) group.ranks.insert(rank);
  return groups;
}

struct Place {
  std::string line;
  StackId stack{};
};

// The innermost frame of the user's own code; of none the innermost.
Place PlaceOf(const Call& call) {
  const Trace& trace = call.trace();
  const StackTable& stacks = trace.stacks;
  const StackId inner = call.table().stack[call.row];
  for (const bool own : {true, false})
    for (StackId at = inner; at.valid(); at = stacks.parent[at.value]) {
      const std::string_view file = trace.Text(stacks.file[at.value]);
      if (file.empty() || (own && !IsUsersFile(file))) continue;
      const int64_t line = stacks.line[at.value];
      return {line == kAbsent ? std::string(file) : StrCat(file, ":", line), inner};
    }
  return {};
}

struct Finding {
  std::string_view problem;
  Ranks missing{}, differing{}, unknown{};
  std::string detail{};
  const Call* culprit = nullptr;
};

bool IsUneven(std::string_view kind) { return kind == "all_to_all"; }

// The part of a call that its other ranks share; "" where it may differ.
std::string_view InShape(const Call& call) {
  return IsUneven(call.kind()) || call.kind() == "scatter" ? std::string_view() : call.Text(&CollectiveTable::in_shape);
}
std::string_view OutShape(const Call& call) {
  return IsUneven(call.kind()) || call.kind() == "gather" ? std::string_view() : call.Text(&CollectiveTable::out_shape);
}

using Told = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
Told TellOf(const Call& call) { return {call.Op(), InShape(call), OutShape(call), call.Text(&CollectiveTable::dtype)}; }

// The call of most ranks at one place, by its lowest rank.
const Call& MostCalled(const std::vector<std::pair<int64_t, const Call*>>& calls) {
  std::map<Told, size_t> counts;
  for (const auto& [rank, call] : calls) ++counts[TellOf(*call)];
  const Call* most = calls.front().second;
  for (const auto& [rank, call] : calls)
    if (counts[TellOf(*call)] > counts[TellOf(*most)]) most = call;
  return *most;
}

// The difference of a call from that of most ranks.
Finding Difference(const Call& call, const Call& most) {
  const auto quoted = [](std::string_view a, std::string_view b) { return StrCat(a, " instead of ", b); };
  if (call.Op() != most.Op()) return {.problem = "kind", .detail = quoted(call.Op(), most.Op())};
  if (InShape(call) != InShape(most))
    return {.problem = "shape", .detail = StrCat("input ", quoted(InShape(call), InShape(most)))};
  if (OutShape(call) != OutShape(most))
    return {.problem = "shape", .detail = StrCat("output ", quoted(OutShape(call), OutShape(most)))};
  const auto dtype = &CollectiveTable::dtype;
  if (call.Text(dtype) != most.Text(dtype))
    return {.problem = "dtype", .detail = quoted(call.Text(dtype), most.Text(dtype))};
  return {};
}

// All ranks of an all_to_all together give as much as they get.
Finding UnevenDifference(const Calls& calls, const Group& group) {
  int64_t given = 0, got = 0;
  if (calls.size() < group.ranks.size()) return {};
  for (const auto& [rank, of_rank] : calls) {
    const CollectiveTable& all = of_rank.front().table();
    const int64_t in = all.in_elements[of_rank.front().row], out = all.out_elements[of_rank.front().row];
    if (!IsUneven(of_rank.front().kind()) || in == kAbsent || out == kAbsent) return {};
    given += in, got += out;
  }
  if (given == got) return {};
  return {.problem = "shape",
          .detail = StrCat("all ranks together give ", FormatCount(given), " elements and take ", FormatCount(got))};
}

Finding Compare(const Calls& calls, const Group& group) {
  size_t most_calls = 0;
  for (const auto& [rank, of_rank] : calls) most_calls = std::max(most_calls, of_rank.size());
  for (size_t place = 0; place < most_calls; ++place) {
    std::vector<std::pair<int64_t, const Call*>> at_place;
    for (const auto& [rank, of_rank] : calls)
      if (place < of_rank.size()) at_place.emplace_back(rank, &of_rank[place]);
    const Call& most = MostCalled(at_place);
    Finding found;
    for (const auto& [rank, call] : at_place) {
      Finding one = Difference(*call, most);
      if (one.problem.empty()) continue;
      if (found.differing.empty()) found = std::move(one), found.culprit = call;
      found.differing.insert(rank);
    }
    if (!found.differing.empty()) return found;
  }
  return UnevenDifference(calls, group);
}

Finding FindingAt(int64_t seq, const Calls& calls, const Group& group, const Ranks& dumped) {
  Finding found = Compare(calls, group);
  for (const int64_t rank : group.ranks) {
    if (calls.contains(rank)) continue;
    const auto span = group.spans.find(rank);
    const bool is_missing = dumped.contains(rank) && (span == group.spans.end() || seq > span->second.second);
    (is_missing ? found.missing : found.unknown).insert(rank);
  }
  if (found.problem.empty() && !found.missing.empty()) found.problem = "missing";
  if (!found.problem.empty()) return found;
  const bool done = std::ranges::all_of(calls, [](const auto& of_rank) {
    return std::ranges::all_of(of_rank.second, [](const Call& call) { return call.IsDone(); });
  });
  if (!done) found.problem = "stuck";
  return found;
}

void SetStates(const Calls& calls, TableOf<HungCollectivesRows>::RowWriter& row) {
  std::map<std::string_view, Ranks> ranks;
  for (const auto& [rank, of_rank] : calls)
    for (const Call& call : of_rank) ranks[call.Text(&CollectiveTable::state)].insert(rank);
  row.Set("ranks_scheduled", RanksText(ranks["scheduled"])).Set("ranks_started", RanksText(ranks["started"]));
  row.Set("ranks_completed", RanksText(ranks["completed"]));
}

void SetTime(const Calls& calls, TableOf<HungCollectivesRows>::RowWriter& row) {
  int64_t first = kAbsent;
  for (const auto& [rank, of_rank] : calls) {
    const Call& call = of_rank.front();
    const int64_t ns = call.table().ts_ns[call.row] + call.of->ts_shift_ns;
    if (first == kAbsent || ns < first) first = ns;
  }
  row.Set("ts_ns", first);
}

void AddRow(const Groups::value_type& entry, int64_t seq, const Calls& calls, const Finding& found,
            TableOf<HungCollectivesRows>& table) {
  std::vector<std::pair<int64_t, const Call*>> first;
  for (const auto& [rank, of_rank] : calls) first.emplace_back(rank, &of_rank.front());
  const Call& most = MostCalled(first);
  const Call& shown = found.culprit != nullptr ? *found.culprit : most;
  auto row = table.Row(*shown.of);
  row.Set("group", entry.first.first).Set("group_ranks", entry.first.second).Set("seq", seq);
  row.Set("kind", most.kind()).Set("name", most.Text(&CollectiveTable::name)).Set("problem", found.problem);
  row.Set("ranks_missing", RanksText(found.missing)).Set("ranks_differing", RanksText(found.differing));
  row.Set("ranks_unknown", RanksText(found.unknown)).Set("detail", found.detail);
  SetStates(calls, row);
  SetTime(calls, row);
  const Place place = PlaceOf(shown);
  row.Set("source_line", place.line).Set("stack_id", shown.of->Id(place.stack));
  if (found.missing.empty()) return;
  const auto last = entry.second.last.find(*found.missing.begin());
  if (last == entry.second.last.end()) return;
  row.Set("last_name", last->second.Text(&CollectiveTable::name)).Set("last_line", PlaceOf(last->second).line);
}

// The n-th send with the n-th receive; what is left over on one side and did not end has no partner.
void AddMessages(const Groups::value_type& entry, const Ranks& dumped, TableOf<HungCollectivesRows>& table) {
  for (const auto& [peers, lists] : entry.second.messages) {
    const auto& [sends, receives] = lists;
    const size_t most = std::max(sends.size(), receives.size());
    for (size_t at = 0; at < most; ++at) {
      Finding found;
      Calls calls;
      if (at < sends.size()) calls[peers.first].push_back(sends[at]);
      if (at < receives.size()) calls[peers.second].push_back(receives[at]);
      const bool done = std::ranges::all_of(calls, [](const auto& side) { return side.second.front().IsDone(); });
      if (calls.size() == 1) {
        const int64_t other = at < sends.size() ? peers.second : peers.first;
        if (done) continue;
        (dumped.contains(other) ? found.missing : found.unknown).insert(other);
        found.problem = found.missing.empty() ? "stuck" : "missing";
      } else if (const auto given = sends[at].Text(&CollectiveTable::in_shape),
                 taken = receives[at].Text(&CollectiveTable::out_shape);
                 given != taken) {
        found = {.problem = "shape", .detail = StrCat("sent ", given, ", received ", taken), .culprit = &receives[at]};
        found.differing.insert(peers.second);
      } else if (!done) {
        found.problem = "stuck";
      } else {
        continue;
      }
      const Call& first = calls.begin()->second.front();
      AddRow(entry, first.table().seq[first.row], calls, found, table);
    }
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<HungCollectivesRows> table;
  Ranks dumped;
  const Groups groups = GroupsOf(run, dumped);
  for (const Groups::value_type& entry : groups) {
    for (const auto& [seq, calls] : entry.second.by_seq) {
      const Finding found = FindingAt(seq, calls, entry.second, dumped);
      if (!found.problem.empty()) AddRow(entry, seq, calls, found, table);
    }
    AddMessages(entry, dumped, table);
  }
  return table;
}

}  // namespace

ANALYSIS(hung_collectives) = AnalysisOf<HungCollectivesRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::hung_collectives_analysis
