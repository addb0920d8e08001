// SPDX-License-Identifier: Apache-2.0
// Results of nccl-tests and rccl-tests: what is wrong, where the bandwidth falls, and what was reached.
//
// A benchmark is no training, so there is no gain. Severity: 1 for wrong values, 0.5 where a larger message is slower
// by a fifth than a smaller one, 0.2 for what was reached alone.
#include <algorithm>
#include <map>

#include "analyses/rows/comm_sizes.h"
#include "base/strings.h"
#include "diagnose/rule.h"

namespace gapless::internal::comm_benchmark_rule {
namespace {

constexpr std::string_view kNeeds[] = {"comm_sizes"};
constexpr double kSaturated = 0.9;                     // share of the highest bandwidth; assumed
constexpr double kDropped = 0.8;                       // share of the bandwidth of a smaller message; assumed
constexpr int64_t kLargeBytes = int64_t{1024} * 1024;  // below, latency counts for more than the links
constexpr double kWrong = 1, kFalls = 0.5, kReached = 0.2;

// One table of results, in one placement.
struct Test {
  std::vector<size_t> rows{};  // rows by size
  int64_t wrong = 0, checked = 0;
  size_t best = 0, small = SIZE_MAX, saturated = 0, dropped = SIZE_MAX, before_drop = 0, first_wrong = SIZE_MAX;
};
using Key = std::tuple<int64_t, int64_t, bool>;  // trace, test, in place

bool IsKnown(const CommSizesRows& sizes, size_t row) { return !sizes.IsNull(row, "bus_gbps"); }

void Judge(const CommSizesRows& sizes, Test& test) {
  std::ranges::stable_sort(test.rows, {}, [&](size_t row) { return sizes.Int(row, "bytes"); });
  test.best = test.rows.front();
  size_t highest = test.best;  // highest of large messages so far
  for (const size_t row : test.rows) {
    if (!sizes.IsNull(row, "wrong")) ++test.checked, test.wrong += sizes.Int(row, "wrong");
    if (sizes.Int(row, "wrong") > 0 && test.first_wrong == SIZE_MAX) test.first_wrong = row;
    if (test.small == SIZE_MAX && sizes.Int(row, "bytes") > 0) test.small = row;
    if (!IsKnown(sizes, row)) continue;
    const double gbps = sizes.Real(row, "bus_gbps");
    if (!IsKnown(sizes, test.best) || gbps > sizes.Real(test.best, "bus_gbps")) test.best = row;
    if (sizes.Int(row, "bytes") < kLargeBytes) continue;
    const bool falls = sizes.Int(highest, "bytes") >= kLargeBytes && gbps < kDropped * sizes.Real(highest, "bus_gbps");
    if (falls && (test.dropped == SIZE_MAX || gbps < sizes.Real(test.dropped, "bus_gbps")))
      test.dropped = row, test.before_drop = highest;
    if (sizes.Int(highest, "bytes") < kLargeBytes || gbps > sizes.Real(highest, "bus_gbps")) highest = row;
  }
  test.saturated = test.best;
  for (const size_t row : test.rows)
    if (IsKnown(sizes, row) && sizes.Real(row, "bus_gbps") >= kSaturated * sizes.Real(test.best, "bus_gbps")) {
      test.saturated = row;
      break;
    }
}

std::map<Key, Test> TestsOf(const CommSizesRows& sizes) {
  std::map<Key, Test> tests;
  for (size_t row = 0; row < sizes.rows(); ++row)
    if (sizes.Text(row, "source") == "benchmark")
      tests[{sizes.Int(row, "trace"), sizes.Int(row, "test"), sizes.Text(row, "placement") == "in_place"}]
          .rows.push_back(row);
  for (auto& [key, test] : tests) Judge(sizes, test);
  return tests;
}

std::string Gbps(const CommSizesRows& sizes, size_t row) {
  const double gbps = sizes.Real(row, "bus_gbps");
  return StrCat(FormatNumber(gbps, gbps < 10 ? 2 : 1), " GB/s");
}

std::string NameOf(const CommSizesRows& sizes, size_t row) {
  std::string name = sizes.IsNull(row, "kind") ? "the collective" : std::string(sizes.Text(row, "kind"));
  if (!sizes.IsNull(row, "group_size")) name += StrCat(" on ", FormatCounted(sizes.Int(row, "group_size"), "rank"));
  return name;
}

std::string Size(const CommSizesRows& sizes, size_t row) { return FormatBytes(sizes.Int(row, "bytes")); }

// "RING, SIMPLE, 24 channels, P2P/direct pointer"
std::string WayOf(const CommSizesRows& sizes, size_t row) {
  std::string way;
  const auto add = [&](std::string_view text) { way += StrCat(way.empty() ? "" : ", ", Printable(text)); };
  for (const CommSizesRows::TextColumn column :
       {CommSizesRows::TextColumn("algorithm"), CommSizesRows::TextColumn("protocol")})
    if (!sizes.IsNull(row, column)) add(sizes.Text(row, column));
  if (!sizes.IsNull(row, "channels")) add(FormatCounted(sizes.Int(row, "channels"), "channel"));
  if (!sizes.IsNull(row, "transport")) add(sizes.Text(row, "transport"));
  return way;
}

bool Carries(const CommSizesRows& sizes, const Test& test) {
  return IsKnown(sizes, test.best) && sizes.Real(test.best, "bus_gbps") > 0;
}

std::string ReachedText(const CommSizesRows& sizes, const Test& test) {
  const std::string name = NameOf(sizes, test.best);
  if (!Carries(sizes, test)) return StrCat(name, " moves nothing between ranks");
  return StrCat(
      name, " reaches ", Gbps(sizes, test.best), " with ", Size(sizes, test.best),
      test.saturated != test.best ? StrCat(", nine tenths of it from ", Size(sizes, test.saturated), " on") : "");
}

Evidence EvidenceOf(std::string text, double value, std::string_view unit) {
  return {.text = std::move(text), .value = value, .unit = std::string(unit), .table = "comm_sizes"};
}

void AddEvidence(const CommSizesRows& sizes, const Key& key, const Test& test, std::vector<Evidence>& all) {
  const std::string_view placement = std::get<2>(key) ? ", in place" : "";
  if (test.wrong > 0)
    all.push_back(EvidenceOf(StrCat(FormatCounted(test.wrong, "value"), " wrong in ", NameOf(sizes, test.best),
                                    placement, ", from ", Size(sizes, test.first_wrong), " on"),
                             static_cast<double>(test.wrong), "values"));
  if (test.dropped != SIZE_MAX)
    all.push_back(EvidenceOf(
        StrCat("bandwidth falls from ", Gbps(sizes, test.before_drop), " with ", Size(sizes, test.before_drop), " to ",
               Gbps(sizes, test.dropped), " with ", Size(sizes, test.dropped), placement),
        sizes.Real(test.dropped, "bus_gbps"), "GB/s"));
  const std::string way = WayOf(sizes, test.best);
  all.push_back(EvidenceOf(StrCat(ReachedText(sizes, test), placement, way.empty() ? "" : StrCat(" (", way, ")")),
                           Carries(sizes, test) ? sizes.Real(test.best, "bus_gbps") : 0, "GB/s"));
  if (test.small != SIZE_MAX && sizes.Int(test.small, "bytes") < kLargeBytes)
    all.push_back(EvidenceOf(StrCat("a call of ", Size(sizes, test.small), " takes ",
                                    FormatDuration(sizes.Int(test.small, "dur_ns")), placement),
                             sizes.Real(test.small, "dur_ns"), "ns"));
}

Recommendation AdviceOf(const CommSizesRows& sizes, const Test& test) {
  if (test.wrong > 0)
    return {"results are wrong: find the pair of GPUs or the link with tests of two ranks each, before anything else",
            "", "CUDA_VISIBLE_DEVICES=0,1 all_reduce_perf -b 8 -e 128M -f 2 -g 2 -c 1", "hours"};
  if (test.dropped != SIZE_MAX)
    return {"see what NCCL chooses for the size where it falls, and try the other choice", "",
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING all_reduce_perf …; NCCL_ALGO=Ring,Tree NCCL_PROTO=Simple …",
            "hours"};
  if (!sizes.IsNull(test.best, "transport"))
    return {"hold it against the links that there are", "", "nvidia-smi topo -m; nvidia-smi nvlink -s; ibstat",
            "minutes"};
  return {"let NCCL say what it uses of the links: the same with NCCL_DEBUG=INFO, in one log", "",
          "NCCL_DEBUG=INFO all_reduce_perf -b 8 -e 8G -f 2 -g 8 > nccl.log", "minutes"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto sizes = tables.Get<CommSizesRows>();
  const std::map<Key, Test> tests = TestsOf(sizes);
  if (tests.empty()) return std::vector<Bottleneck>{};
  const auto severity = [](const Test& test) {
    return test.wrong > 0 ? kWrong : test.dropped != SIZE_MAX ? kFalls : kReached;
  };
  // The first of the file counts among those as severe.
  const auto worst = std::ranges::max_element(
      tests, [&](const auto& a, const auto& b) { return severity(a.second) < severity(b.second); });
  const Test& test = worst->second;
  Bottleneck found;
  found.severity = severity(test);
  found.title = test.wrong > 0 ? StrCat(FormatCounted(test.wrong, "value"), " wrong in ", NameOf(sizes, test.best))
                : test.dropped != SIZE_MAX ? StrCat("bandwidth of ", NameOf(sizes, test.best), " falls to ",
                                                    Gbps(sizes, test.dropped), " with ", Size(sizes, test.dropped))
                                           : ReachedText(sizes, test);
  found.description = "A benchmark says what the links and the library give, not what a training makes of it.";
  constexpr size_t kMaxTests = 6;
  size_t shown = 0;
  AddEvidence(sizes, worst->first, test, found.evidence);
  for (auto at = tests.begin(); at != tests.end() && shown < kMaxTests; ++at)
    if (at != worst) AddEvidence(sizes, at->first, at->second, found.evidence), ++shown;
  found.recommendations.push_back(AdviceOf(sizes, test));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(comm_benchmark) = {
    .id = "comm_benchmark",
    .type = BottleneckType::kMultiGpuComm,
    .title = "What a benchmark of collectives shows",
    .why =
        "Output of nccl-tests and rccl-tests: values that are wrong, sizes from 1 MiB on whose bus bandwidth is a "
        "fifth "
        "or more below that of a smaller one, the highest bus bandwidth, the size from which nine tenths of it are "
        "reached, and the time of the smallest message. Claims no time. Severity 1 for wrong values, 0.5 where the "
        "bandwidth falls, else 0.2.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::comm_benchmark_rule
