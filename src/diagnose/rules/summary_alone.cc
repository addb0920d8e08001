// SPDX-License-Identifier: Apache-2.0
// A summary without a recording: what sums by operator and kernel show by themselves.
//
// They say where time went, not what waited for what, so there is no gain. Severity: the share that is named.
#include <algorithm>

#include "analyses/rows/summed_ops.h"
#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal::summary_alone_rule {
namespace {

// Ours: below these a healthy training has them, too.
constexpr double kLargeShare = 0.20, kCopyShare = 0.10, kHostOverDevice = 3;
constexpr std::string_view kNeeds[] = {"summed_ops"};

// A wait for every second launch is a habit of the program; fewer than ten show nothing.
constexpr double kWaitsPerLaunch = 0.5;
constexpr int64_t kFewestWaits = 10;
constexpr double kManagedShare = 0.05;  // the same as for copies in a timeline
constexpr std::string_view kSetsUp[] = {"Malloc",     "MemAlloc",    "Free",         "HostAlloc",   "MemHostRegister",
                                        "ModuleLoad", "LibraryLoad", "StreamCreate", "HostRegister"};

// Sums over one side; of the host without the calls that wait for the device.
struct Side {
  int64_t total_ns = 0, copies_ns = 0, waits_ns = 0, calls = 0;
  int64_t managed_ns = 0, setup_ns = 0, waits = 0, launches = 0;
  size_t largest = SIZE_MAX;
};

bool Waits(std::string_view name) {
  return ContainsIgnoreCase(name, "synchronize") || name == "aten::item" || name == "aten::_local_scalar_dense";
}

void AddCall(std::string_view name, int64_t calls, int64_t ns, Side& sum) {
  if (Waits(name)) sum.waits_ns += ns, sum.waits += calls;
  if (name.find("Launch") != name.npos) sum.launches += calls;
  const auto is_in = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (name.starts_with("cu") && std::ranges::any_of(kSetsUp, is_in)) sum.setup_ns += ns;
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
    if (side == "device" && ops.Text(row, "name").find("(Managed)") != std::string_view::npos) sum.managed_ns += ns;
    if (side == "host") AddCall(ops.Text(row, "name"), ops.IsNull(row, "calls") ? 0 : ops.Int(row, "calls"), ns, sum);
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

// The calls of CUDA alone were summed up, so nothing is known of what else the host does.
void SayCalls(const Side& host, const Side& device, std::vector<Said>& said) {
  const int64_t both_ns = host.setup_ns + device.total_ns;
  const double setup = both_ns > 0 ? static_cast<double>(host.setup_ns) / static_cast<double>(both_ns) : 0;
  if (setup >= kLargeShare)
    said.push_back({BottleneckType::kMemoryAllocation,
                    setup,
                    StrCat("calls that allocate, free and load take ", FormatDuration(host.setup_ns),
                           ", the device works for ", FormatDuration(device.total_ns)),
                    EvidenceOf(StrCat("cudaMalloc, cudaFree and the like, and loading of kernels take ",
                                      FormatDuration(host.setup_ns)),
                               setup),
                    {"allocate once, before the loop, or from a pool; the first call also starts CUDA, once: call "
                     "cudaFree(0) before what is timed, and see what is left",
                     "", "cudaMallocAsync(&p, bytes, stream); … cudaFreeAsync(p, stream);", "hours"}});
  if (host.waits < kFewestWaits || host.launches <= 0 ||
      static_cast<double>(host.waits) < kWaitsPerLaunch * static_cast<double>(host.launches))
    return;
  const double waits = static_cast<double>(host.waits_ns) / static_cast<double>(host.total_ns);
  said.push_back({BottleneckType::kCpuGpuSync,
                  waits,
                  StrCat("the host waits for the device ", FormatCounted(host.waits, "time"), " for ",
                         FormatCounted(host.launches, "launch", "launches")),
                  EvidenceOf(StrCat("waits take ", FormatDuration(host.waits_ns), " of ", FormatDuration(host.total_ns),
                                    " in calls of CUDA"),
                             waits),
                  {"work of one stream runs in order without a wait: wait once, before the host reads results", "",
                   "cudaStreamSynchronize(stream);  // behind the loop", "minutes"}});
}

void SayManaged(const Side& device, std::vector<Said>& said) {
  if (device.total_ns <= 0) return;
  const double share = static_cast<double>(device.managed_ns) / static_cast<double>(device.total_ns);
  if (share < kManagedShare) return;
  said.push_back(
      {BottleneckType::kMemoryBandwidth,
       share,
       StrCat("pages of managed memory move for ", FormatPercent(share), " of the device's time"),
       EvidenceOf(StrCat("pages move for ", FormatDuration(device.managed_ns), ", and kernels that touch them wait"),
                  share),
       {"move them before they are touched, all at once", "", "cudaMemPrefetchAsync(p, bytes, device, stream);",
        "minutes"}});
}

Recommendation CopyAdvice(bool pytorch) {
  if (pytorch)
    return {"copy smaller types, from pinned memory, and not in every step", "",
            "batch = batch.to(device, non_blocking=True)", "minutes"};
  return {
      "keep data on the device between kernels; copy what is left from pinned memory, beside kernels of another "
      "stream",
      "", "cudaMallocHost(&p, bytes); cudaMemcpyAsync(d, p, bytes, cudaMemcpyHostToDevice, stream);", "hours"};
}

void SayCopies(const Side& device, bool pytorch, std::vector<Said>& said) {
  if (device.total_ns <= 0) return;
  const double share = static_cast<double>(device.copies_ns) / static_cast<double>(device.total_ns);
  if (share < kCopyShare) return;
  said.push_back(
      {BottleneckType::kMemoryBandwidth, share, StrCat("copies take ", FormatPercent(share), " of the device's time"),
       EvidenceOf(StrCat("copies take ", FormatDuration(device.copies_ns), " of ", FormatDuration(device.total_ns)),
                  share),
       CopyAdvice(pytorch)});
}

// Returns the tool that summed up: "nsys", "rocprof", "key_averages".
std::string_view ToolOf(const Run& run) {
  for (const RunTrace& of : run.traces())
    for (size_t row = 0; row < of.trace->environment.size(); ++row)
      if (of.trace->Text(of.trace->environment.key[row]) == "summary")
        return of.trace->Text(of.trace->environment.value[row]);
  return {};
}

std::string_view TimelineCode(std::string_view tool) {
  if (tool == "nsys") return "nsys profile --trace=cuda,nvtx -o report …; gapless analyze report.nsys-rep";
  if (tool == "rocprof") return "rocprofv3 --sys-trace --output-format csv -- …";
  return "prof.export_chrome_trace(\"trace.json\")";
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto ops = tables.Get<SummedOpsRows>();
  const Side host = SideOf(ops, "host"), device = SideOf(ops, "device");
  std::vector<Said> said;
  const std::string_view tool = ToolOf(tables.run());
  if (tool == "nsys")
    SayCalls(host, device, said), SayManaged(device, said);
  else
    SayHost(host, device, said);
  SayLargest(ops, device, said), SayCopies(device, UsesPyTorch(tables.run()), said);
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
  found.recommendations.push_back(
      {"record a timeline: it shows gaps, waits and what hides what", "", std::string(TimelineCode(tool)), "minutes"});
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
        "more. Of nsys stats, where calls of CUDA are summed up and nothing else of the host: calls that allocate, "
        "free "
        "and load with 20 % of theirs and the device's time together; ten waits or more, and one for every second "
        "launch; moves of managed memory with 5 % of the device's time. Claims no time. Severity is the share.",
    .needs = kNeeds,
    .check = Check,
    .types_differ = true};

}  // namespace gapless::internal::summary_alone_rule
