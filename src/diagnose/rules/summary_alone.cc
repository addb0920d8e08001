// SPDX-License-Identifier: Apache-2.0
// A summary without a recording: what sums by operator and kernel show by themselves.
//
// They say where time went, not what waited for what, so there is no gain. Severity: the share that is named.
#include <algorithm>

#include "analyses/rows/summed_ops.h"
#include "base/strings.h"
#include "diagnose/rule.h"

namespace gapless::internal::summary_alone_rule {
namespace {

// Ours: below these a healthy training has them, too.
constexpr double kLargeShare = 0.20, kCopyShare = 0.10, kHostOverDevice = 3;
constexpr std::string_view kNeeds[] = {"summed_ops"};

// Sums over one side; of the host without the calls that wait for the device.
struct Side {
  int64_t total_ns = 0, copies_ns = 0, waits_ns = 0, calls = 0;
  size_t largest = SIZE_MAX;
};

bool Waits(std::string_view name) {
  return ContainsIgnoreCase(name, "synchronize") || name == "aten::item" || name == "aten::_local_scalar_dense";
}

Side SideOf(const SummedOpsRows& ops, std::string_view side) {
  Side sum;
  for (size_t row = 0; row < ops.rows(); ++row) {
    if (ops.Text(row, "side") != side) continue;
    const int64_t ns = ops.Int(row, "total_ns");
    if (sum.largest == SIZE_MAX) sum.largest = row;
    sum.total_ns += ns;
    sum.calls += ops.IsNull(row, "calls") ? 0 : ops.Int(row, "calls");
    if (side == "device" && ops.Text(row, "class") == "copy") sum.copies_ns += ns;
    if (side == "host" && Waits(ops.Text(row, "name"))) sum.waits_ns += ns;
  }
  return sum;
}

struct Said {
  BottleneckType type;
  double severity = 0;
  std::string title;
  Evidence evidence;
  Recommendation advice;
};

Evidence EvidenceOf(std::string text, double value) {
  return {.text = std::move(text), .value = value, .unit = "share", .table = "summed_ops"};
}

void SayHost(const Side& host, const Side& device, std::vector<Said>& said) {
  const int64_t works_ns = host.total_ns - host.waits_ns;
  if (device.total_ns <= 0 || static_cast<double>(works_ns) < kHostOverDevice * static_cast<double>(device.total_ns))
    return;
  const double share = 1 - static_cast<double>(device.total_ns) / static_cast<double>(works_ns);
  said.push_back(
      {BottleneckType::kHostBound,
       share,
       StrCat("the host works for ", FormatDuration(works_ns), ", the device for ", FormatDuration(device.total_ns),
              ": the host holds it up"),
       EvidenceOf(StrCat("own time on the host ", FormatDuration(works_ns), ", on the device ",
                         FormatDuration(device.total_ns)),
                  share),
       {"launch less often: a larger batch, compiled code, or graphs", "", "model = torch.compile(model)", "minutes"}});
}

void SayLargest(const SummedOpsRows& ops, const Side& device, std::vector<Said>& said) {
  if (device.largest == SIZE_MAX || ops.Real(device.largest, "share") < kLargeShare) return;
  const double share = ops.Real(device.largest, "share");
  const std::string name = Ellipsize(Printable(ops.Text(device.largest, "name")), 80);
  const std::string calls = ops.IsNull(device.largest, "calls") || ops.IsNull(device.largest, "mean_ns")
                                ? ""
                                : StrCat(" in ", FormatCounted(ops.Int(device.largest, "calls"), "call"), ", ",
                                         FormatDuration(ops.Int(device.largest, "mean_ns")), " each");
  said.push_back({BottleneckType::kKernelEfficiency,
                  share,
                  StrCat(name, " takes ", FormatPercent(share), " of the device's time"),
                  EvidenceOf(StrCat(name, ": ", FormatDuration(ops.Int(device.largest, "total_ns")), calls), share),
                  {"what this kernel does is where a faster one pays", "", "", "days"}});
}

void SayCopies(const Side& device, std::vector<Said>& said) {
  if (device.total_ns <= 0) return;
  const double share = static_cast<double>(device.copies_ns) / static_cast<double>(device.total_ns);
  if (share < kCopyShare) return;
  said.push_back(
      {BottleneckType::kMemoryBandwidth,
       share,
       StrCat("copies take ", FormatPercent(share), " of the device's time"),
       EvidenceOf(StrCat("copies take ", FormatDuration(device.copies_ns), " of ", FormatDuration(device.total_ns)),
                  share),
       {"copy smaller types, from pinned memory, and not in every step", "",
        "batch = batch.to(device, non_blocking=True)", "minutes"}});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto ops = tables.Get<SummedOpsRows>();
  const Side host = SideOf(ops, "host"), device = SideOf(ops, "device");
  std::vector<Said> said;
  SayHost(host, device, said), SayLargest(ops, device, said), SayCopies(device, said);
  if (said.empty()) return std::vector<Bottleneck>{};
  std::ranges::stable_sort(said, std::greater(), &Said::severity);
  Bottleneck found;
  found.type = said[0].type;
  found.severity = said[0].severity;
  found.title = said[0].title;
  found.description =
      "The recording is a summary: it has no timeline, so it does not show when the device waits, for what, or which "
      "work hides other work.";
  for (Said& one : said) {
    found.evidence.push_back(std::move(one.evidence));
    found.recommendations.push_back(std::move(one.advice));
  }
  found.recommendations.push_back({"record a timeline: it shows gaps, waits and what hides what", "",
                                   "prof.export_chrome_trace(\"trace.json\")", "minutes"});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(summary_alone) = {
    .id = "summary_alone",
    .type = BottleneckType::kKernelEfficiency,
    .title = "What a summary by operator and kernel shows without a timeline",
    .why =
        "Tables of sums, such as key_averages().table() or rocprof's statistics: own time of the host three times that "
        "of the device or more, waits left out; one kernel with 20 % of the device's time or more; copies with 10 % or "
        "more. Claims no time. Severity is the share.",
    .needs = kNeeds,
    .check = Check,
    .types_differ = true};

}  // namespace gapless::internal::summary_alone_rule
