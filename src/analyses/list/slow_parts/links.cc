// SPDX-License-Identifier: Apache-2.0
// Slow links: groups and pairs whose transfers take longer than those of others with the same messages, and the
// smallest set of ranks that explains them.
//
// Each process group, and each pair of ranks that send to each other, is a path. The time of a path is that of the
// median transfer of each of its messages (kind, size, number of ranks), summed; usual is the median of the faster ones
// that carry the same, since a slow switch slows a large share of all. A path is slow if it takes 15 % longer than
// usual, beyond what paths differ by.
//
// A slow link slows every path through it and no other. So ranks are joined by the paths that are as fast as usual:
// what they join shares no slow link. Slow paths lead between such sets, and the sets that explain all of them with the
// fewest ranks are suspects: a rank with a slow link is joined to nobody, ranks below a slow switch to each other only.
// (To cover paths by sets is the weighted set cover, taken greedily: Chvatal 1979.) Where several sets explain the same
// paths equally well, as members that meet nowhere else do, nothing tells them apart, and their group is named. Paths
// within hosts and between hosts are judged apart, since other links carry them.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analyses/collective_match.h"
#include "analyses/list/slow_parts/part.h"
#include "analyses/timeline.h"
#include "base/strings.h"
#include "trace/identity.h"
#include "validate/distributions.h"

namespace gapless::internal::slow_parts_analysis {
namespace {

constexpr double kLinkSpread = 0.03;   // in logarithms: links of one kind differ by no less
constexpr double kSurelyUsual = 1.07;  // up to here a path joins its members
constexpr size_t kFewestTransfers = 3;

// Messages that are alike: kind, bytes, ranks, whether hosts are crossed.
using MessageKey = std::tuple<std::string_view, int64_t, size_t, bool>;

// Transfers of one kind of message over a path.
struct Transfers {
  std::vector<double> ns{};
  double usual_ns = 0;  // 0: too few other paths carry it
};

struct Path {
  std::string_view group{};       // of a pair: empty
  std::vector<size_t> members{};  // places in the run's primary recordings: those that are known to meet
  size_t size = 2;                // ranks of the group, also of those whose recordings are missing
  bool crosses_hosts = false;
  std::map<std::pair<std::string_view, int64_t>, Transfers> transfers{};  // by kind and bytes
  double usual_ns = 0, ns = 0, excess_a_step = 0;
  double p = 1, q = 1;
  std::string_view what{};
  double ratio() const { return usual_ns > 0 ? ns / usual_ns : 1; }
  bool slow() const { return q <= kFalseShare && ratio() >= kLeastSlower; }
};

struct Ranks {
  std::vector<const RunTrace*> of{};
  std::vector<std::string_view> hosts{};
  std::vector<int64_t> numbers{};
  std::map<int64_t, size_t> place_of{};
};

Ranks RanksOf(Tables& tables) {
  Ranks ranks;
  for (const RunTrace* of : tables.run().primary()) {
    const int64_t number = of->rank() != kAbsent ? of->rank() : of->index;
    ranks.place_of.emplace(number, ranks.of.size());
    ranks.of.push_back(of), ranks.hosts.push_back(IdentityOf(*of->trace).host), ranks.numbers.push_back(number);
  }
  return ranks;
}

bool IsMessage(std::string_view kind) { return kind == "send" || kind == "recv"; }

// Collectives: a path for each group, its transfers as matched over the ranks.
std::vector<Path> GroupPaths(const Ranks& ranks, const CollectiveMatches& matches) {
  struct Growing {
    Path path{};
    std::set<std::pair<std::pair<std::string_view, int64_t>, int64_t>> seen{};
  };
  std::map<std::pair<std::string_view, std::string_view>, Growing> paths;  // by group and its ranks
  for (size_t place = 0; place < ranks.of.size(); ++place) {
    const Trace& trace = *ranks.of[place]->trace;
    const CollectiveTable& all = trace.collectives;
    for (uint32_t row = 0; row < all.size(); ++row) {
      const CollectiveMatch& match = matches[place][row];
      if (match.transfer_ns == kAbsent || match.opening) continue;
      Growing& growing = paths[{trace.Text(all.group[row]), trace.Text(all.group_ranks[row])}];
      if (growing.path.members.empty() || growing.path.members.back() != place) growing.path.members.push_back(place);
      growing.path.size = std::max<size_t>(growing.path.size, static_cast<size_t>(std::max(0, all.group_size[row])));
      const std::pair message(trace.Text(all.kind[row]), all.bytes[row]);
      if (growing.seen.emplace(message, match.ordinal).second)
        growing.path.transfers[message].ns.push_back(static_cast<double>(match.transfer_ns));
    }
  }
  std::vector<Path> grown;
  for (auto& [key, growing] : paths) {
    growing.path.group = key.first;
    if (growing.path.members.size() >= 2) grown.push_back(std::move(growing.path));
  }
  return grown;
}

// Messages of one size from one rank to another, as one of both recorded them, in order.
struct Message {
  int64_t end_ns, dur_ns;
};
using Passing = std::map<std::tuple<size_t, size_t, int64_t, std::string_view>, std::vector<Message>>;

// Adds the messages of a rank. Key: sender, receiver, bytes, side of the recording (send or recv).
void AddMessages(const Ranks& ranks, size_t place, Passing& passing) {
  const RunTrace& of = *ranks.of[place];
  const CollectiveTable& all = of.trace->collectives;
  for (uint32_t row = 0; row < all.size(); ++row) {
    const std::string_view kind = of.trace->Text(all.kind[row]);
    if (!IsMessage(kind) || all.dur_ns[row] == kAbsent) continue;
    const bool sends = kind == "send";
    const auto peer = ranks.place_of.find(sends ? all.dst_rank[row] : all.src_rank[row]);
    if (peer == ranks.place_of.end() || peer->second == place) continue;
    const size_t from = sends ? place : peer->second, to = sends ? peer->second : place;
    passing[{from, to, all.bytes[row], kind}].push_back(
        {all.ts_ns[row] + all.dur_ns[row] + of.ts_shift_ns, all.dur_ns[row]});
  }
}

// Returns the place of the first send among the receives. A message ends on both sides at once, so where they belong
// together the ends are apart by what the clocks are, always the same; elsewhere they are apart by what steps vary by.
std::ptrdiff_t ShiftOf(std::span<const Message> sent, std::span<const Message> got) {
  constexpr std::ptrdiff_t kTried = 12;  // messages about the place that the clocks say
  const auto near = std::ranges::lower_bound(got, sent[0].end_ns, {}, &Message::end_ns) - got.begin();
  double least = std::numeric_limits<double>::infinity();
  std::ptrdiff_t best = near;
  for (std::ptrdiff_t shift = near - kTried; shift <= near + kTried; ++shift) {
    std::vector<double> apart;
    for (size_t i = 0; i < sent.size(); ++i)
      if (const auto at = static_cast<std::ptrdiff_t>(i) + shift; at >= 0 && at < std::ssize(got))
        apart.push_back(static_cast<double>(sent[i].end_ns - got[static_cast<size_t>(at)].end_ns));
    if (2 * apart.size() < std::min(sent.size(), got.size())) continue;
    const double spread = SpreadOf(apart, MedianOf(apart));
    if (spread < least) least = spread, best = shift;
  }
  return best;
}

// Messages: a path for each pair. The shorter side of a message is the transfer, since either waits for the other.
std::vector<Path> PairPaths(const Ranks& ranks) {
  Passing passing;
  for (size_t place = 0; place < ranks.of.size(); ++place) AddMessages(ranks, place, passing);
  std::map<std::pair<size_t, size_t>, Path> paths;
  for (const auto& [key, sent] : passing) {
    const auto& [from, to, bytes, kind] = key;
    if (kind != "send") continue;
    const auto found = passing.find({from, to, bytes, "recv"});
    if (found == passing.end()) continue;
    const std::vector<Message>& got = found->second;
    const std::ptrdiff_t shift = ShiftOf(sent, got);
    Path& path = paths[std::minmax(from, to)];
    path.members = {std::min(from, to), std::max(from, to)};
    for (size_t i = 0; i < sent.size(); ++i)
      if (const auto at = static_cast<std::ptrdiff_t>(i) + shift; at >= 0 && at < std::ssize(got))
        path.transfers[{"send", bytes}].ns.push_back(
            static_cast<double>(std::min(sent[i].dur_ns, got[static_cast<size_t>(at)].dur_ns)));
  }
  std::vector<Path> grown;
  for (auto& [key, path] : paths) grown.push_back(std::move(path));
  return grown;
}

// Returns the median of the values near the lower quartile: up to three quarters of the values may be slow.
double UsualOf(std::vector<double> values) {
  std::ranges::sort(values);
  const double line = kLeastSlower * values[values.size() / 4];
  std::erase_if(values, [&](double value) { return value > line; });
  return MedianOf(std::move(values));
}

void DropFew(Path& path) {
  std::erase_if(path.transfers, [](const auto& of) { return of.second.ns.size() < kFewestTransfers; });
}

MessageKey KeyOf(const Path& path, const std::pair<std::string_view, int64_t>& message) {
  return MessageKey(message.first, message.second, path.size, path.crosses_hosts);
}

// Returns the usual time of each message that enough paths carry.
std::map<MessageKey, double> UsualTimes(const std::vector<Path>& paths) {
  std::map<MessageKey, std::vector<double>> medians;
  for (const Path& path : paths)
    for (const auto& [message, of] : path.transfers) medians[KeyOf(path, message)].push_back(MedianOf(of.ns));
  std::map<MessageKey, double> usual;
  for (auto& [key, of_all] : medians)
    if (of_all.size() >= kFewestPeers) usual.emplace(key, UsualOf(std::move(of_all)));
  return usual;
}

// Paths of one kind, within hosts or between them: how many are judged, and how those vary that are not slow.
struct Kind {
  std::vector<double> logs{};
  size_t judged = 0;
  double spread = kLinkSpread;
};

// Sets the time of each path, what is usual for its messages, and how far beyond chance it is.
void Judge(std::vector<Path>& paths, double steps) {
  const std::map<MessageKey, double> usual = UsualTimes(paths);
  std::map<bool, Kind> kinds;
  for (Path& path : paths) {
    double most = 0;
    for (auto& [message, of] : path.transfers) {
      const auto found = usual.find(KeyOf(path, message));
      if (found == usual.end()) continue;
      of.usual_ns = found->second;
      const double mine = MedianOf(of.ns), calls = static_cast<double>(of.ns.size());
      path.usual_ns += of.usual_ns * calls, path.ns += mine * calls;
      if ((mine - of.usual_ns) * calls > most) most = (mine - of.usual_ns) * calls, path.what = message.first;
    }
    path.excess_a_step = std::max(0.0, path.ns - path.usual_ns) / steps;
    if (path.usual_ns <= 0 || path.ns <= 0) continue;
    Kind& kind = kinds[path.crosses_hosts];
    ++kind.judged;
    if (path.ratio() <= kLeastSlower) kind.logs.push_back(std::log(path.ratio()));
  }
  for (auto& [crosses, kind] : kinds) kind.spread = std::max(kLinkSpread, SpreadOf(kind.logs, MedianOf(kind.logs)));
  for (Path& path : paths) {
    const Kind& kind = kinds[path.crosses_hosts];
    if (path.usual_ns <= 0 || kind.judged < kFewestPeers || kind.logs.size() < 2) continue;
    path.p = StudentUpperTail(std::log(path.ratio()) / kind.spread, static_cast<double>(kind.logs.size() - 1));
  }
}

// Sets of ranks that fast paths join, each by its first rank.
class Joined {
 public:
  explicit Joined(size_t ranks) : parent_(ranks), size_(ranks, 1) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  void Join(size_t a, size_t b) {
    a = SetOf(a), b = SetOf(b);
    if (a == b) return;
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a, size_[a] += size_[b];
  }
  size_t SetOf(size_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  size_t SizeOf(size_t rank) { return size_[SetOf(rank)]; }

 private:
  std::vector<size_t> parent_, size_;
};

// A set of ranks with the slow paths that pass through it.
using PathsOfSets = std::map<size_t, std::set<const Path*>>;

// The sets that explain slow paths best, by paths per rank: one, or several that the same paths pass through.
std::vector<size_t> BestSets(const PathsOfSets& through, Joined& joined) {
  const auto worth = [&](const auto& set) {
    return static_cast<double>(set.second.size()) / static_cast<double>(joined.SizeOf(set.first));
  };
  const auto best = std::ranges::max_element(through, {}, worth);
  std::vector<size_t> sets;
  for (const auto& set : through)
    if (worth(set) == worth(*best) && set.second == best->second) sets.push_back(set.first);
  return sets;
}

// Ranks that explain slow paths together.
struct Suspected {
  std::vector<size_t> ranks{};
  std::set<const Path*> paths{};
  bool told_apart = true;  // false: any one of these ranks alone would explain the paths
};

std::vector<Suspected> SuspectsOf(const std::vector<const Path*>& paths, size_t ranks) {
  Joined joined(ranks);
  for (const Path* path : paths)
    if (path->usual_ns > 0 && path->ratio() <= kSurelyUsual)
      for (const size_t member : path->members) joined.Join(path->members[0], member);
  PathsOfSets through;
  for (const Path* path : paths)
    if (path->slow())
      for (const size_t member : path->members) through[joined.SetOf(member)].insert(path);
  std::vector<Suspected> all;
  while (!through.empty()) {
    const std::vector<size_t> sets = BestSets(through, joined);
    Suspected& found = all.emplace_back(Suspected{.paths = through[sets[0]], .told_apart = sets.size() == 1});
    for (size_t rank = 0; rank < ranks; ++rank)
      if (std::ranges::count(sets, joined.SetOf(rank)) > 0) found.ranks.push_back(rank);
    for (auto& [set, its] : through) std::erase_if(its, [&](const Path* path) { return found.paths.contains(path); });
    std::erase_if(through, [](const auto& set) { return set.second.empty(); });
  }
  return all;
}

SlowPart LinkPart(std::string_view part, const Suspected& suspected, const Ranks& ranks) {
  SlowPart found{.part = part, .kind = "link", .longest = ranks.of[suspected.ranks[0]]};
  std::set<std::string_view> hosts;
  for (const size_t place : suspected.ranks)
    found.ranks.push_back(ranks.numbers[place]), hosts.insert(ranks.hosts[place]);
  std::ranges::sort(found.ranks);
  for (const std::string_view host : hosts)
    if (!host.empty()) found.host += StrCat(found.host.empty() ? "" : ", ", host);
  const Path* most = *std::ranges::max_element(suspected.paths, {}, &Path::excess_a_step);
  found.what = std::string(most->what), found.ratio = most->ratio(), found.q = most->q;
  found.excess_ns = static_cast<int64_t>(most->excess_a_step);
  if (part == "group") found.group = std::string(most->group);
  for (const auto& [message, of] : most->transfers) {
    if (of.usual_ns <= 0) continue;
    found.tried += static_cast<int64_t>(of.ns.size());
    found.late += std::ranges::count_if(of.ns, [&](double ns) { return ns > kSurelyUsual * of.usual_ns; });
  }
  return found;
}

// Suspects become parts: those that nothing tells apart their group; whole hosts together; the rest each alone.
std::vector<SlowPart> PartsOfSuspects(const std::vector<Suspected>& all, const Ranks& ranks) {
  std::map<std::string_view, size_t> all_of, suspects_of;
  for (const std::string_view host : ranks.hosts) ++all_of[host];
  for (const Suspected& suspected : all)
    if (suspected.told_apart)
      for (const size_t place : suspected.ranks) ++suspects_of[ranks.hosts[place]];
  const auto is_whole = [&](size_t place) {
    const std::string_view host = ranks.hosts[place];
    return !host.empty() && suspects_of[host] >= 2 && 2 * suspects_of[host] > all_of[host];
  };
  std::vector<SlowPart> parts;
  Suspected whole;
  std::set<std::string_view> hosts;
  for (const Suspected& suspected : all) {
    if (!suspected.told_apart) {
      parts.push_back(LinkPart("group", suspected, ranks));
      continue;
    }
    for (const size_t place : suspected.ranks) {
      if (!is_whole(place)) {
        parts.push_back(LinkPart("rank", {.ranks = {place}, .paths = suspected.paths}, ranks));
        continue;
      }
      whole.ranks.push_back(place), hosts.insert(ranks.hosts[place]);
      whole.paths.insert(suspected.paths.begin(), suspected.paths.end());
    }
  }
  if (!whole.ranks.empty()) parts.push_back(LinkPart(hosts.size() > 1 ? "hosts" : "host", whole, ranks));
  return parts;
}

}  // namespace

std::vector<SlowPart> SlowByLinks(Tables& tables) {
  const Ranks ranks = RanksOf(tables);
  std::vector<Path> paths = GroupPaths(ranks, tables.OnceForRun(MatchPrimary));
  for (Path& pair : PairPaths(ranks)) paths.push_back(std::move(pair));
  std::vector<double> steps, wall;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    steps.push_back(static_cast<double>(std::max<size_t>(1, timeline.window.steps.size())));
    wall.push_back(static_cast<double>(timeline.window.span.length()) / steps.back());
  }
  for (Path& path : paths) {
    const std::string_view first = ranks.hosts[path.members[0]];
    path.crosses_hosts = std::ranges::any_of(path.members, [&](size_t place) { return ranks.hosts[place] != first; });
    DropFew(path);
  }
  Judge(paths, MedianOf(steps));
  std::vector<double> p;
  for (const Path& path : paths) p.push_back(path.p);
  const std::vector<double> q = AdjustedForMany(p);
  std::vector<SlowPart> parts;
  for (const bool crosses : {false, true}) {
    std::vector<const Path*> of_kind;
    for (size_t i = 0; i < paths.size(); ++i) {
      paths[i].q = q[i];
      if (paths[i].crosses_hosts == crosses) of_kind.push_back(&paths[i]);
    }
    for (SlowPart& part : PartsOfSuspects(SuspectsOf(of_kind, ranks.of.size()), ranks))
      parts.push_back(std::move(part));
  }
  for (SlowPart& part : parts) part.tests = static_cast<int64_t>(paths.size());
  std::erase_if(
      parts, [&](const SlowPart& part) { return static_cast<double>(part.excess_ns) < kLeastShare * MedianOf(wall); });
  return parts;
}

}  // namespace gapless::internal::slow_parts_analysis
