// SPDX-License-Identifier: Apache-2.0
// Matches the parts of two ledgers, and gives each difference to a cause.
#include "diagnose/step_difference.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include "analyses/kernel_names.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kKindNames[] = {
    "kernel_time",   "kernel_count",   "other_kernels", "operators",  "clock",   "communication",
    "copies",        "loader",         "launch",        "sync",       "host",    "unknown",
    "operator_time", "operator_count", "optimizer",     "checkpoint", "garbage", "compile"};
static_assert(std::size(kKindNames) == static_cast<size_t>(CauseKind::kKinds));

struct PartKind {
  std::string_view part;
  CauseKind kind;  // of parts with names in both and calls that count: the kind for their time
};
constexpr PartKind kPartKinds[] = {{"compute", CauseKind::kKernelTime},
                                   {"exposed_comm", CauseKind::kCommunication},
                                   {"exposed_copy", CauseKind::kCopies},
                                   {"idle_data", CauseKind::kLoader},
                                   {"idle_launch", CauseKind::kLaunch},
                                   {"idle_sync", CauseKind::kSync},
                                   {"idle_host", CauseKind::kHost},
                                   {"idle_unknown", CauseKind::kUnknown},
                                   {"data", CauseKind::kLoader},
                                   {"save", CauseKind::kCheckpoint},
                                   {"gc", CauseKind::kGarbage},
                                   {"compile", CauseKind::kCompile},
                                   {"optimizer", CauseKind::kOptimizer},
                                   {"collective", CauseKind::kCommunication},
                                   {"operator", CauseKind::kOperatorTime},
                                   {"python", CauseKind::kHost}};

CauseKind KindOf(std::string_view part) {
  for (const PartKind& known : kPartKinds)
    if (known.part == part) return known.kind;
  return CauseKind::kUnknown;
}

// "train.py(41): step" → "train.py: step", "<built-in method f at 0x7f3a>" → "<built-in method f>": what differs
// between two runs of a program that was edited.
std::string WithoutPlace(std::string_view name) {
  if (const size_t at = name.find(" at 0x"); at != name.npos) return StrCat(name.substr(0, at), ">");
  const size_t close = name.find("): "), open = close == name.npos ? close : name.rfind('(', close);
  if (open == name.npos || close == open + 1) return std::string(name);
  for (size_t i = open + 1; i < close; ++i)
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) return std::string(name);
  return StrCat(name.substr(0, open), name.substr(close + 1));
}

struct Key {
  CauseKind kind;  // as by the part
  bool sums;       // the sum of a stored ledger's small parts
  std::string name, op;
  auto operator<=>(const Key&) const = default;
};

struct Side {
  bool present = false;
  int64_t total_ns = 0, ns = 0, total_calls = 0;  // ns: of a step
  std::string name, line;
};
struct Pair {
  std::array<Side, 2> of;
  int64_t ns() const { return of[1].ns - of[0].ns; }
};
using Pairs = std::map<Key, Pair>;

Key KeyOf(const StepPart& part) {
  CauseKind kind = KindOf(part.part);
  if (part.after_wait) kind = CauseKind::kSync;
  const bool is_kernel = part.part == "compute" || part.part == "exposed_comm";
  if (part.name == kOtherParts) return {kind, true, {}, {}};
  // Copies match by direction, so that pinned memory in place of pageable memory is one row.
  if (kind == CauseKind::kCopies) return {kind, false, part.name.substr(0, part.name.find('_')), part.op};
  return {kind, false, is_kernel ? PlainKernelName(part.name) : WithoutPlace(part.name), part.op};
}

void AddSide(const StepLedger& ledger, size_t side, Pairs& pairs) {
  for (const StepPart& part : ledger.parts) {
    Side& of = pairs[KeyOf(part)].of[side];
    const bool more = !of.present || part.ns > of.total_ns;
    of.present = true, of.total_ns += part.ns, of.total_calls += part.calls;
    if (more) of.name = part.name;
    if (more && !part.line.empty()) of.line = part.line;
  }
}

// A stored ledger lists its largest parts only. What it does not list, and is too small for its list, is among its
// sums, and so must be the other's.
void MoveUnlisted(const std::array<const StepLedger*, 2>& ledgers, Pairs& pairs) {
  for (size_t side = 0; side < 2; ++side) {
    const StepLedger& cut = *ledgers[side];
    if (cut.summed_below_ns == 0) continue;
    const StepLedger& other = *ledgers[1 - side];
    const double least = static_cast<double>(cut.summed_below_ns) / static_cast<double>(cut.Units());
    for (auto at = pairs.begin(); at != pairs.end();) {
      const Side& listed = at->second.of[1 - side];
      const bool is_small = static_cast<double>(listed.total_ns) / static_cast<double>(other.Units()) <= least;
      if (at->first.sums || at->second.of[side].present || !is_small) {
        ++at;
        continue;
      }
      Side& sum = pairs[{at->first.kind, true, {}, {}}].of[1 - side];
      sum.present = true, sum.name = kOtherParts;
      sum.total_ns += listed.total_ns, sum.total_calls += listed.total_calls;
      at = pairs.erase(at);
    }
  }
}

// Gives every side its time of a step. Returns the rounded mean step.
int64_t Share(const StepLedger& ledger, size_t side, Pairs& pairs) {
  std::vector<int64_t> amounts;
  for (const auto& [key, pair] : pairs) amounts.push_back(pair.of[side].total_ns);
  const std::vector<int64_t> shares = SharesOf(amounts, ledger.Units());
  size_t at = 0;
  for (auto& [key, pair] : pairs) pair.of[side].ns = shares[at++];
  return std::accumulate(shares.begin(), shares.end(), int64_t{0});
}

class Splitter {
 public:
  Splitter(const StepLedger& a, const StepLedger& b) : ledgers_{&a, &b} {
    if (a.clock_hz && b.clock_hz && *a.clock_hz > 0 && *b.clock_hz > 0) clock_ratio_ = *a.clock_hz / *b.clock_hz;
  }

  void Add(const Key& key, const Pair& pair) {
    if (key.sums) return AddRow(key.kind, key, pair, pair.ns());
    const bool both = pair.of[0].present && pair.of[1].present;
    if (!both && IsOfOneOperator(key, pair)) return AddWhole(key, pair);
    if (key.kind == CauseKind::kKernelTime)
      return both ? AddMatched(key, pair, CauseKind::kKernelCount) : AddOther(key, pair);
    if (key.kind == CauseKind::kOperatorTime && both) return AddMatched(key, pair, CauseKind::kOperatorCount);
    AddRow(key.kind, key, pair, pair.ns());
  }

  std::vector<Cause> Finish() {
    for (auto& [of, row] : of_operators_) AddRow(of.first, std::move(row));
    std::vector<Cause> causes;
    for (auto& [kind, cause] : causes_) {
      std::erase_if(cause.rows, [](const CauseRow& row) { return row.ns == 0; });
      if (cause.rows.empty()) continue;
      std::ranges::stable_sort(cause.rows, std::greater<>(), [](const CauseRow& row) { return std::abs(row.ns); });
      causes.push_back(std::move(cause));
    }
    std::ranges::stable_sort(causes, std::greater<>(), [](const Cause& cause) { return std::abs(cause.ns); });
    return causes;
  }

 private:
  double CallsOf(const Pair& pair, size_t side) const {
    return static_cast<double>(pair.of[side].total_calls) / static_cast<double>(ledgers_[side]->Units());
  }

  // Is this of an operator that only one of the runs has? Names of calls and frames are no operators. A stored ledger
  // does not list its operators.
  bool IsOfOneOperator(const Key& key, const Pair& pair) const {
    const bool is_launch = key.kind == CauseKind::kLaunch || key.kind == CauseKind::kSync;
    const bool is_work = key.kind == CauseKind::kKernelTime || key.kind == CauseKind::kOperatorTime;
    if (!is_launch && !is_work) return false;
    const std::string& op = key.kind == CauseKind::kKernelTime ? key.op : key.name;
    if (op.empty()) return false;
    const size_t has = pair.of[0].present ? 0 : 1;
    const auto known = [&](size_t side) {
      const auto& names = ledgers_[side]->operators;
      return std::ranges::binary_search(names, op);
    };
    if (ledgers_[1 - has]->operators.empty()) return false;
    return !known(1 - has) && (ledgers_[has]->operators.empty() ? is_work : known(has));
  }

  CauseRow RowOf(const Key& key, const Pair& pair, int64_t ns) const {
    const Side& a = pair.of[0];
    const Side& b = pair.of[1];
    std::string name = b.present ? b.name : a.name;
    if (key.kind == CauseKind::kCopies && a.present && b.present && a.name != b.name)
      name = StrCat(a.name, " → ", b.name);
    return {.name = std::move(name),
            .op = key.op,
            .presence = !b.present   ? Presence::kOnlyA
                        : !a.present ? Presence::kOnlyB
                                     : Presence::kBoth,
            .ns = ns,
            .a_ns = a.ns,
            .b_ns = b.ns,
            .a_calls = CallsOf(pair, 0),
            .b_calls = CallsOf(pair, 1),
            .line = !b.line.empty() ? b.line : a.line};
  }

  void AddRow(CauseKind kind, CauseRow row) {
    Cause& cause = causes_[kind];
    cause.kind = kind, cause.ns += row.ns;
    cause.rows.push_back(std::move(row));
  }
  void AddRow(CauseKind kind, const Key& key, const Pair& pair, int64_t ns) { AddRow(kind, RowOf(key, pair, ns)); }

  // The same work in more and shorter calls is neither as much dearer by the one as it is cheaper by the other: where
  // the two have opposite signs, what is left of the larger is all there is. Returns what the count has of `all`.
  static int64_t WithoutCancelling(int64_t by_count, int64_t all) {
    const int64_t by_time = all - by_count;
    if ((by_count < 0) == (by_time < 0) || by_count == 0 || by_time == 0) return by_count;
    return std::abs(by_count) >= std::abs(by_time) ? all : 0;
  }

  // The operator names the row, and calls are those of its work: moments of idling are no calls.
  void AddWhole(const Key& key, const Pair& pair) {
    CauseRow row = RowOf(key, pair, pair.ns());
    const bool is_work = key.kind == CauseKind::kKernelTime || key.kind == CauseKind::kOperatorTime;
    if (!is_work) row.a_calls = row.b_calls = 0;
    const std::string op = key.kind == CauseKind::kKernelTime ? key.op : key.name;
    row.name = op, row.op.clear();
    AddToOperator(CauseKind::kOperators, op, std::move(row));
  }

  // Both run it: what more calls cost, what the clock explains, and the rest.
  void AddMatched(const Key& key, const Pair& pair, CauseKind count_kind) {
    const double a_calls = CallsOf(pair, 0), b_calls = CallsOf(pair, 1);
    int64_t left = pair.ns();
    if (a_calls > 0 && b_calls > 0) {
      const double mean_ns =
          (static_cast<double>(pair.of[0].ns) / a_calls + static_cast<double>(pair.of[1].ns) / b_calls) / 2;
      const int64_t by_count = WithoutCancelling(std::llround((b_calls - a_calls) * mean_ns), left);
      AddRow(count_kind, key, pair, by_count);
      left -= by_count;
    }
    if (key.kind == CauseKind::kKernelTime && clock_ratio_) {
      // At A's clock B's time would be divided by the ratio.
      const auto b_ns = static_cast<double>(pair.of[1].ns);
      const int64_t most = std::llround(b_ns - b_ns / *clock_ratio_);
      const int64_t by_clock = left > 0 ? std::clamp<int64_t>(most, 0, left) : std::clamp<int64_t>(most, left, 0);
      AddRow(CauseKind::kClock, key, pair, by_clock);
      left -= by_clock;
    }
    AddRow(key.kind, key, pair, left);
  }

  // A kernel that only one of them runs: of an operator that both have, what one gains the other may lose.
  void AddOther(const Key& key, const Pair& pair) {
    if (key.op.empty()) return AddRow(CauseKind::kOtherKernels, key, pair, pair.ns());
    AddToOperator(CauseKind::kOtherKernels, key.op, RowOf(key, pair, pair.ns()));
  }

  // All of an operator that only one of them has, or of what replaces its kernels, is one row.
  void AddToOperator(CauseKind kind, const std::string& op, CauseRow row) {
    const auto [at, is_new] = of_operators_.try_emplace({kind, op}, row);
    if (is_new) return;
    CauseRow& sum = at->second;
    // The part with most time in B names the row, else the one with most in A.
    if (std::pair(row.b_ns, row.a_ns) > std::pair(sum.b_ns, sum.a_ns)) sum.name = row.name;
    if (sum.presence != row.presence) sum.presence = Presence::kBoth;
    if (sum.line.empty()) sum.line = row.line;
    sum.ns += row.ns, sum.a_ns += row.a_ns, sum.b_ns += row.b_ns;
    sum.a_calls += row.a_calls, sum.b_calls += row.b_calls;
  }

  std::array<const StepLedger*, 2> ledgers_;
  std::optional<double> clock_ratio_{};  // A's clock over B's: as much longer everything takes in B
  std::map<CauseKind, Cause> causes_;
  std::map<std::pair<CauseKind, std::string>, CauseRow> of_operators_;
};

Result<void> CheckComparable(const StepLedger& a, const StepLedger& b) {
  const auto no = [](std::string_view why, std::string_view hint) {
    return Fail(ErrorCode::kInput, StrCat("cannot compare the steps of these runs: ", why), "", std::string(hint));
  };
  if (a.on_device != b.on_device)
    return no(StrCat(a.on_device ? "A" : "B", " did work on a GPU, ", a.on_device ? "B" : "A", " did not"), "");
  if ((a.steps > 0) != (b.steps > 0))
    return no(StrCat(a.steps > 0 ? "A" : "B", " marks its steps, ", a.steps > 0 ? "B" : "A", " does not"),
              "record both the same way, e.g. with gapless profile");
  return {};
}

}  // namespace

std::string_view NameOf(CauseKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string_view NameOf(Presence presence) {
  return presence == Presence::kOnlyA ? "only_a" : presence == Presence::kOnlyB ? "only_b" : "both";
}

// Every result is rounded down; what is then missing to the rounded whole goes to those with the largest remainders.
std::vector<int64_t> SharesOf(std::span<const int64_t> amounts, int64_t units) {
  std::vector<int64_t> shares, remainders;
  int64_t sum = 0, whole = 0;
  for (const int64_t amount : amounts) {
    int64_t share = amount / units;
    if (amount % units < 0) --share;
    shares.push_back(share), remainders.push_back(amount - share * units);
    sum += share, whole += amount;
  }
  int64_t mean = whole / units;
  if (whole % units < 0) --mean;
  if (2 * (whole - mean * units) >= units) ++mean;
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return remainders[i]; });
  for (size_t i = 0; i < order.size() && sum < mean; ++i) ++shares[order[i]], ++sum;
  return shares;
}

Result<StepDifference> DifferenceOf(const StepLedger& first, const StepLedger& second) {
  GAPLESS_TRY(CheckComparable(first, second));
  const bool is_cut =
      first.summed_below_ns > 0 || second.summed_below_ns > 0 || first.operators.empty() != second.operators.empty();
  const StepLedger a = is_cut ? WithShortNames(first) : first;
  const StepLedger b = is_cut ? WithShortNames(second) : second;
  Pairs pairs;
  AddSide(a, 0, pairs), AddSide(b, 1, pairs);
  MoveUnlisted({&a, &b}, pairs);
  StepDifference difference{.of_steps = a.steps > 0};
  difference.a_ns = Share(a, 0, pairs), difference.b_ns = Share(b, 1, pairs);
  Splitter splitter(a, b);
  for (const auto& [key, pair] : pairs) splitter.Add(key, pair);
  difference.causes = splitter.Finish();
  return difference;
}

}  // namespace gapless::internal
