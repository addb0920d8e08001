// SPDX-License-Identifier: Apache-2.0
// The device waits while the host does something else than launching: Python between operators, pre-processing,
// logging, a library. The affected time is the `host` parts of idle gaps. Gaps with launching as the main cause belong
// to launch_bound. The gain is an assumption: what can be moved out of the loop or to another thread goes (all: high);
// we expect half and at least a quarter.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyses/rows/host_time.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_code_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/os_wait_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "fixes/names.h"

namespace gapless::internal::host_bound_rule {
namespace {

// Host code with nothing launched: as for launches, one cause of idle time alone.
constexpr double kHostBoundShare = 0.10;

constexpr std::string_view kNeeds[] = {"ledger", "host_time", "host_code", "os_waits"};

constexpr HostTimeRows::TextColumn kKey[] = {"name", "annotation", "source_line"};
// A few gaps of which nothing is known but that they were long: a pause of the program, or of the recording.
constexpr int64_t kFewParts = 10;
// Python between two launches takes this long; more is work of its own.
constexpr int64_t kBetweenLaunchesNs = 1'000'000;

bool AnythingKnown(const HostTimeRows& host, const std::vector<RowGroup>& parts) {
  int64_t count = 0;
  for (const RowGroup& row_group : parts) count += SumOver(host, row_group, "parts");
  return !host.IsNull(parts[0].first(), "name") || !host.IsNull(parts[0].first(), "annotation") || count >= kFewParts;
}

int64_t LongestOf(const HostTimeRows& host, const RowGroup& part) {
  int64_t longest = 0;
  for (const size_t row : part.rows) longest = std::max(longest, host.Int(row, "longest_ns"));
  return longest;
}

std::string NameOf(const HostTimeRows& host, size_t row) {
  const std::string annotation = TextOr(host, row, "annotation", "");
  return FrameText(TextOr(host, row, "name", annotation.empty() ? "host code that was not recorded" : annotation));
}

Evidence EvidenceOf(const HostTimeRows& host, const RowGroup& part, const LedgerView& ledger) {
  const size_t row = part.first();
  const std::string line = TextOr(host, row, "source_line", ""), name = NameOf(host, row);
  return {.text = StrCat("the GPU idles, mostly during ", name, name == line ? "" : InLine(line), ": ",
                         ledger.CostText(part.value), ", ", HowOften(host, part, "parts_per_step", "parts"),
                         ", at most ", FormatDuration(LongestOf(host, part)), " at once"),
          .value = static_cast<double>(part.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(host, part.rows, "slice_id"),
          .source = line};
}

std::vector<Recommendation> Recommend(const HostTimeRows& host, const RowGroup& worst, const Run& run) {
  std::vector<Recommendation> all;
  const std::string line = TextOr(host, worst.first(), "source_line", "");
  const bool python = host.Text(worst.first(), "category") == "python";
  const bool prepares = line.find("image_processing") != line.npos || line.find("feature_extraction") != line.npos ||
                        line.find("tokenization") != line.npos || line.find("transformers/pipelines/") != line.npos;
  if (prepares && UsesPipeline(run))
    all.push_back({"let the pipeline prepare its inputs in worker processes while the GPU works",
                   fixes::kHost.Item("0.5"), "pipeline(task, model=..., num_workers=4)", "minutes"});
  else if (LongestOf(host, worst) < kBetweenLaunchesNs)
    all.push_back(
        {StrCat("run less Python between launches: compile the model, or capture it in a CUDA graph", InLine(line)),
         fixes::kCudagraph.Item(), "model = torch.compile(model, mode=\"reduce-overhead\")", "hours"});
  else
    all.push_back({StrCat("do this work while the GPU computes: in a worker process, in another thread, or after the "
                          "next step's work is launched",
                          InLine(line)),
                   fixes::kHost.Item("0.5"), "", "hours"});
  if (!python) all.push_back({"record call stacks to see what runs there", "", RecordStacksCode(run), "minutes"});
  return all;
}

int64_t StakeOf(const HostTimeRows& host, size_t row) {
  return host.Int(row, "while_launching") == 0 ? host.Int(row, "idle_ns") : 0;
}

// The stake of each device of the ledger.
std::vector<int64_t> ByDevice(const HostTimeRows& host, const LedgerView& ledger) {
  std::map<std::pair<int64_t, int64_t>, int64_t> by_device;  // trace and device
  for (size_t row = 0; row < host.rows(); ++row)
    by_device[{host.Int(row, "trace"), host.Int(row, "device")}] += StakeOf(host, row);
  std::vector<int64_t> stakes;
  for (const DeviceBreakdown& device : ledger.devices) stakes.push_back(by_device[{device.trace, device.device}]);
  return stakes;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto host = tables.Get<HostTimeRows>();
  std::vector<RowGroup> parts = GroupRows(host, kKey, [&](size_t row) { return StakeOf(host, row); });
  int64_t stake = 0;
  for (const RowGroup& row_group : parts) stake += row_group.value;
  const double share = ledger.Share(stake);
  const bool known = ledger.total.idle_unknown_ns <= ledger.total.idle_host_ns;
  if (share < kHostBoundShare || !known || !AnythingKnown(host, parts)) return std::vector<Bottleneck>{};
  parts.resize(std::min<size_t>(parts.size(), 3));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(stake), " for host code that launches nothing");
  found.description = StrCat(
      "For ", FormatPercent(share),
      " of the time the GPU is idle and the program neither launches work nor loads data nor waits; most of it during ",
      NameOf(host, parts[0].first()), ledger.WorstText(ByDevice(host, ledger)), ".");
  for (const RowGroup& row_group : parts)
    if (20 * row_group.value >= stake || &row_group == &parts[0])
      found.evidence.push_back(EvidenceOf(host, row_group, ledger));
  if (auto place = HostPlaceEvidence(tables.Get<HostCodeRows>(), "code")) found.evidence.push_back(std::move(*place));
  std::ranges::move(OsWaitEvidence(tables.Get<OsWaitsRows>(), stake, ledger), std::back_inserter(found.evidence));
  found.recommendations = Recommend(host, parts[0], tables.run());
  const auto waste = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.5,
                             .high_ns = waste,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(host_bound) = {
    .id = "host_bound",
    .type = BottleneckType::kHostBound,
    .title = "The GPU waits for host code that launches nothing",
    .why =
        "Parts of idle gaps in which no launching thread was inside an operator, a call to the GPU, a wait or the data "
        "loader, but for gaps whose main cause is launching. Reported at 10 % of the analysed time or more, as "
        "launch_bound: two thirds of what TraceLens flags for idle time of any cause; but not of fewer than 10 parts "
        "of which nothing is known, nor where the cause of more idle time is unknown than is laid to the host: there "
        "the recording is a sample, and operators that ran are missing from it. Names the frame or annotation that was "
        "open and its line, and the call of the operating system in which the launching thread was, where they were "
        "recorded.",
    .saves = "¼, ½, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::host_bound_rule
