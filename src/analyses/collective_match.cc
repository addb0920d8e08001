// SPDX-License-Identifier: Apache-2.0
// Aligns the collective sequences of ranks with the Z-function, which is linear in their length. Of several possible
// places it takes the longest overlap whose times agree. Then it computes transfer, waiting and the last rank of each
// matched collective.
#include "analyses/collective_match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "analyses/analysis.h"

namespace gapless::internal {
namespace {

// The collectives of one group as one device (or one host process) of one trace issued them.
struct Sequence {
  size_t trace = 0;  // position in `traces`
  std::vector<uint32_t> rows;
  std::vector<uint64_t> keys;  // equal keys: the same kind and size, and the same number in the group where it is known
  int64_t first_ordinal = kAbsent;
};

struct Group {
  int32_t size = kAbsent32;
  std::vector<Sequence> sequences;
};
// Key: name, ranks as recorded, whether on the host. Libraries that name groups in each process give several one name.
using Groups = std::map<std::tuple<std::string_view, std::string_view, bool>, Group>;

uint64_t KeyOf(uint64_t kind_hash, int64_t bytes) {
  return (kind_hash ^ static_cast<uint64_t>(bytes)) * 0x9E3779B97F4A7C15ULL + kind_hash;
}

void AddTrace(size_t position, const Trace& trace, Groups& groups) {
  const CollectiveTable& all = trace.collectives;
  std::map<std::tuple<StringId, StringId, int32_t>, Sequence> mine;
  std::vector<uint64_t> hashes(all.size() > 0 ? trace.strings.size() : 0);
  for (uint32_t row = 0; row < all.size(); ++row) {
    const auto kind = static_cast<uint32_t>(all.kind[row]);
    if (hashes[kind] == 0) {
      const std::string_view text = trace.Text(all.kind[row]);
      hashes[kind] = text == "send" || text == "recv" ? 1 : std::hash<std::string_view>{}(text) | 2;
    }
    if (hashes[kind] == 1 || all.dur_ns[row] == kAbsent) continue;
    Sequence& sequence = mine[{all.group[row], all.group_ranks[row], all.device[row]}];
    sequence.trace = position;
    sequence.rows.push_back(row);
    const uint64_t key = KeyOf(hashes[kind], all.bytes[row]);
    sequence.keys.push_back(all.seq[row] == kAbsent ? key : KeyOf(key | 1, all.seq[row]));
  }
  for (auto& [key, sequence] : mine) {
    const auto& [name, ranks, device] = key;
    Group& group = groups[{trace.Text(name), trace.Text(ranks), device == kAbsent32}];
    group.size = std::max(group.size, all.group_size[sequence.rows[0]]);
    group.sequences.push_back(std::move(sequence));
  }
}

// Returns, for each place of `b`, how many keys from there on agree with the start of `a` (the Z-function, linear).
std::vector<size_t> AgreementWith(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<uint64_t> joined(a);
  joined.push_back(0);  // no key is 0: kind hashes are not
  joined.insert(joined.end(), b.begin(), b.end());
  std::vector<size_t> agree(joined.size());
  size_t left = 0, right = 0;
  for (size_t i = 1; i < joined.size(); ++i) {
    size_t& here = agree[i];
    if (i < right) here = std::min(right - i, agree[i - left]);
    while (i + here < joined.size() && joined[here] == joined[i + here]) ++here;
    if (i + here > right) left = i, right = i + here;
  }
  return {agree.begin() + static_cast<std::ptrdiff_t>(a.size()) + 1, agree.end()};
}

struct Place {
  size_t overlap = 0;
  int64_t offset = 0;  // index in the longest sequence − index in the other
};

// Returns the places at which `other` fits on `longest` without contradiction, longest overlap first.
std::vector<Place> PlacesOf(const Sequence& other, const Sequence& longest) {
  std::vector<Place> places;
  const size_t least = (other.keys.size() + 1) / 2;
  const auto add = [&](const std::vector<size_t>& agree, size_t length, int64_t sign) {
    for (size_t at = 0; at < agree.size(); ++at)
      if (const size_t overlap = std::min(length, agree.size() - at); agree[at] >= overlap && overlap >= least)
        if (sign > 0 || at > 0) places.push_back({overlap, sign * static_cast<int64_t>(at)});
  };
  add(AgreementWith(other.keys, longest.keys), other.keys.size(), 1);
  add(AgreementWith(longest.keys, other.keys), longest.keys.size(), -1);
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tuple(b.overlap, std::abs(a.offset)) < std::tuple(a.overlap, std::abs(b.offset));
  });
  return places;
}

using Traces = std::span<const RunTrace* const>;

Interval SpanOf(const RunTrace& of, uint32_t row) {
  const CollectiveTable& all = of.trace->collectives;
  const int64_t start = all.ts_ns[row] + of.ts_shift_ns;
  return {start, start + all.dur_ns[row]};
}

// Is there a clock offset within bounds under which no matched collective ends before the other rank begins it?
bool TimesAllow(Traces traces, const Sequence& other, const Sequence& longest, const Place& place) {
  int64_t least = -kMaxClockOffsetNs, most = kMaxClockOffsetNs;
  const auto first = static_cast<size_t>(std::max<int64_t>(0, -place.offset));
  for (size_t i = 0; i < place.overlap && least <= most; ++i) {
    const Interval here = SpanOf(*traces[other.trace], other.rows[first + i]);
    const auto at = static_cast<size_t>(static_cast<int64_t>(first + i) + place.offset);
    const Interval there = SpanOf(*traces[longest.trace], longest.rows[at]);
    least = std::max(least, there.start - here.end), most = std::min(most, there.end - here.start);
  }
  return least <= most;
}

// Returns how much the distances between the ends of matched collectives vary, in ns. A collective ends on all ranks at
// once, so where the sequences belong together the ends are apart by what the clocks are, in all of them alike.
int64_t SpreadOfEnds(Traces traces, const Sequence& other, const Sequence& longest, const Place& place) {
  std::vector<int64_t> apart;
  const auto first = static_cast<size_t>(std::max<int64_t>(0, -place.offset));
  for (size_t i = 0; i < place.overlap; ++i) {
    const auto at = static_cast<size_t>(static_cast<int64_t>(first + i) + place.offset);
    apart.push_back(SpanOf(*traces[other.trace], other.rows[first + i]).end -
                    SpanOf(*traces[longest.trace], longest.rows[at]).end);
  }
  std::ranges::sort(apart);
  return apart[apart.size() * 3 / 4] - apart[apart.size() / 4];
}

// The place at which the ends agree far better than at any other, whatever the clocks say; nullptr: there is none.
const Place* BestByEnds(Traces traces, const Sequence& other, const Sequence& longest, std::span<const Place> places) {
  constexpr size_t kFewest = 4;  // collectives that must overlap
  constexpr int64_t kTimesBetter = 4;
  const Place* best = nullptr;
  int64_t least = INT64_MAX, second = INT64_MAX;
  for (const Place& place : places) {
    if (place.overlap < kFewest) continue;
    const int64_t spread = SpreadOfEnds(traces, other, longest, place);
    if (spread < least)
      second = least, least = spread, best = &place;
    else
      second = std::min(second, spread);
  }
  return best != nullptr && second != INT64_MAX && second / kTimesBetter > least ? best : nullptr;
}

// nullptr: none can be trusted.
const Place* Best(Traces traces, const Sequence& other, const Sequence& longest, std::span<const Place> places) {
  constexpr size_t kTried = 64;  // bounds the time on sequences that fit everywhere
  const auto has_clock = [&](size_t trace) { return traces[trace]->trace->info.start_unix_ns != kAbsent; };
  if (places.empty()) return nullptr;
  if (places.size() == 1 || !has_clock(other.trace) || !has_clock(longest.trace)) return &places[0];
  const auto tried = places.first(std::min(kTried, places.size()));
  for (const Place& place : tried)
    if (TimesAllow(traces, other, longest, place)) return &place;
  return BestByEnds(traces, other, longest, tried);
}

void Align(Traces traces, Group& group) {
  const auto longest = std::max_element(group.sequences.begin(), group.sequences.end(),
                                        [](const auto& a, const auto& b) { return a.rows.size() < b.rows.size(); });
  longest->first_ordinal = 0;
  int64_t least = 0;
  for (Sequence& other : group.sequences) {
    if (&other == &*longest) continue;
    const std::vector<Place> places = PlacesOf(other, *longest);
    if (const Place* place = Best(traces, other, *longest, places); place != nullptr)
      other.first_ordinal = place->offset;
    if (other.first_ordinal == kAbsent) continue;
    least = std::min(least, other.first_ordinal);
  }
  for (Sequence& sequence : group.sequences)
    if (sequence.first_ordinal != kAbsent) sequence.first_ordinal -= least;
}

// Merges what all ranks recorded of one collective.
struct Meeting {
  int32_t ranks = 0;
  int64_t shortest = 0, longest = 0, start = 0, sum_ns = 0;
};

std::vector<Meeting> MeetingsOf(Traces traces, const Group& group) {
  std::vector<Meeting> meetings;
  for (const Sequence& sequence : group.sequences) {
    if (sequence.first_ordinal == kAbsent) continue;
    const auto first = static_cast<size_t>(sequence.first_ordinal);
    if (meetings.size() < first + sequence.rows.size()) meetings.resize(first + sequence.rows.size());
    for (size_t i = 0; i < sequence.rows.size(); ++i) {
      Meeting& meeting = meetings[first + i];
      const Interval span = SpanOf(*traces[sequence.trace], sequence.rows[i]);
      const bool fresh = meeting.ranks++ == 0;
      meeting.sum_ns += span.length();
      meeting.shortest = fresh ? span.length() : std::min(meeting.shortest, span.length());
      meeting.longest = fresh ? span.length() : std::max(meeting.longest, span.length());
      meeting.start = fresh ? span.start : std::min(meeting.start, span.start);
    }
  }
  return meetings;
}

void Fill(Traces traces, const Group& group, CollectiveMatches& matches) {
  std::vector<Meeting> meetings = MeetingsOf(traces, group);
  int32_t all = 0;
  for (const Meeting& meeting : meetings) all = std::max(all, meeting.ranks);
  size_t opening = 0;
  while (opening < meetings.size() && meetings[opening].ranks < all) ++opening;
  std::vector<uint8_t> last_told(meetings.size()), first_told(meetings.size());
  for (const Sequence& sequence : group.sequences) {
    if (sequence.first_ordinal == kAbsent) continue;
    for (size_t i = 0; i < sequence.rows.size(); ++i) {
      const size_t ordinal = static_cast<size_t>(sequence.first_ordinal) + i;
      const Meeting& meeting = meetings[ordinal];
      CollectiveMatch& match = matches[sequence.trace][sequence.rows[i]];
      match.ordinal = static_cast<int64_t>(ordinal);
      match.ranks = meeting.ranks;
      if (meeting.ranks < 2) continue;
      const Interval span = SpanOf(*traces[sequence.trace], sequence.rows[i]);
      match.opening = ordinal <= opening;
      match.transfer_ns = meeting.shortest;
      match.wait_ns = span.length() - meeting.shortest;
      match.start_lag_ns = span.start - meeting.start;
      if (meeting.longest - meeting.shortest < kArrivalNoiseNs) continue;
      match.last = match.wait_ns == 0 && last_told[ordinal]++ == 0;
      if (match.last) match.caused_ns = meeting.sum_ns - meeting.ranks * meeting.shortest;
      match.first = span.length() == meeting.longest && first_told[ordinal]++ == 0;
    }
  }
}

}  // namespace

CollectiveMatches MatchCollectives(Traces traces) {
  CollectiveMatches matches;
  Groups groups;
  for (size_t position = 0; position < traces.size(); ++position) {
    matches.emplace_back(traces[position]->trace->collectives.size());
    AddTrace(position, *traces[position]->trace, groups);
  }
  for (auto& [name, group] : groups) {
    // More sequences than the group has ranks: several groups go by this name, and nothing distinguishes them.
    if (group.size != kAbsent32 && group.sequences.size() > static_cast<size_t>(group.size)) continue;
    Align(traces, group);
    Fill(traces, group, matches);
  }
  return matches;
}

CollectiveMatches MatchPrimary(Tables& tables) { return MatchCollectives(tables.run().primary()); }

}  // namespace gapless::internal
