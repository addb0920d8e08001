// SPDX-License-Identifier: Apache-2.0
// Samples of GPUs without a recording of a program: what they show by themselves.
//
// They say that something is lost, and not what would win it back, so there is no gain. Severity: 1 for errors of the
// hardware, else the share of the samples without work, or 0.3 for what else is noted.
#include <algorithm>
#include <cmath>

#include "analyses/rows/gpu_state.h"
#include "base/strings.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::gpu_samples_alone_rule {
namespace {

// Ours: below these a log of a healthy training has them, too.
constexpr double kIdleShare = 0.20, kCappedShare = 0.50, kFullMemory = 0.95;
constexpr double kNoted = 0.3;
constexpr std::string_view kNeeds[] = {"gpu_state"};

// Sentences about one GPU: the most severe comes first.
struct Said {
  double severity = 0;
  std::string title;
  Evidence evidence;
  Recommendation advice;
};

bool Has(const GpuStateRows& gpus, size_t row, GpuStateRows::RealColumn column) { return !gpus.IsNull(row, column); }

std::string GpuName(const GpuStateRows& gpus, size_t row) { return StrCat("GPU ", gpus.Int(row, "device")); }

Evidence EvidenceOf(std::string text, double value, std::string_view unit) {
  return {.text = std::move(text), .value = value, .unit = std::string(unit), .table = "gpu_state"};
}

void SayErrors(const GpuStateRows& gpus, size_t row, std::vector<Said>& said) {
  const std::string gpu = GpuName(gpus, row);
  if (Has(gpus, row, "xid") && gpus.Real(row, "xid") > 0) {
    const auto number = std::llround(gpus.Real(row, "xid"));
    said.push_back({1,
                    StrCat("the driver reported error XID ", number, " on ", gpu),
                    EvidenceOf(StrCat("XID ", number, " on ", gpu), static_cast<double>(number), ""),
                    {"look the number up in NVIDIA's list of XID errors, and in the kernel's log", "",
                     "dmesg | grep -i xid", "hours"}});
  }
  if (!Has(gpus, row, "ecc_uncorrected") || gpus.Real(row, "ecc_uncorrected") < 1) return;
  const auto errors = std::llround(gpus.Real(row, "ecc_uncorrected"));
  said.push_back(
      {1,
       StrCat(gpu, " has memory errors that were not corrected"),
       EvidenceOf(StrCat(FormatCounted(errors, "memory error"), " not corrected on ", gpu), static_cast<double>(errors),
                  "errors"),
       {"have the GPU reset or replaced: results may be wrong", "", "nvidia-smi -q -d ECC,ROW_REMAPPER", "hours"}});
}

void SayIdle(const GpuStateRows& gpus, size_t row, std::vector<Said>& said) {
  if (!Has(gpus, row, "idle_share") || gpus.Real(row, "idle_share") < kIdleShare) return;
  const double share = gpus.Real(row, "idle_share");
  const int64_t stretches = gpus.Int(row, "idle_stretches"), longest = gpus.Int(row, "longest_idle_ns");
  const bool never = share >= 1;
  const std::string gpu = GpuName(gpus, row);
  said.push_back({share,
                  never ? StrCat(gpu, " does nothing in the samples")
                        : StrCat(gpu, " does nothing in ", FormatPercent(share), " of the samples"),
                  EvidenceOf(StrCat(gpu, ": ", FormatPercent(share), " of ", FormatCount(gpus.Int(row, "samples")),
                                    " samples have a utilisation of 5 % or less, in ",
                                    FormatCounted(stretches, "stretch", "stretches"), ", the longest of ",
                                    FormatDuration(longest)),
                             share, "share"),
                  {"record the program over such a stretch: the samples do not say what it waited for", "",
                   "gapless profile -- python train.py", "minutes"}});
}

void SayPower(const GpuStateRows& gpus, size_t row, std::vector<Said>& said) {
  if (!Has(gpus, row, "capped_share") || gpus.Real(row, "capped_share") < kCappedShare) return;
  const double share = gpus.Real(row, "capped_share");
  std::string watts;
  if (Has(gpus, row, "power_watts"))
    watts = StrCat(", ", FormatNumber(gpus.Real(row, "power_watts"), 0), " W on average");
  if (Has(gpus, row, "power_limit_watts"))
    watts += StrCat(" with a limit of ", FormatNumber(gpus.Real(row, "power_limit_watts"), 0), " W");
  said.push_back(
      {kNoted,
       StrCat(GpuName(gpus, row), " runs at its power limit in ", FormatPercent(share), " of the samples"),
       EvidenceOf(
           StrCat(GpuName(gpus, row), " is at its power limit in ", FormatPercent(share), " of the samples", watts),
           share, "share"),
       {"a higher limit gives a higher clock, if the board allows it", "", "nvidia-smi -q -d POWER", "minutes"}});
}

void SayMemory(const GpuStateRows& gpus, size_t row, std::vector<Said>& said) {
  if (!Has(gpus, row, "memory_peak_bytes") || gpus.IsNull(row, "memory_bytes") || gpus.Int(row, "memory_bytes") <= 0)
    return;
  const double peak = gpus.Real(row, "memory_peak_bytes"), all = static_cast<double>(gpus.Int(row, "memory_bytes"));
  if (peak < kFullMemory * all) return;
  said.push_back({kNoted,
                  StrCat("the memory of ", GpuName(gpus, row), " is nearly full"),
                  EvidenceOf(StrCat(GpuName(gpus, row), " uses ", FormatBytes(std::llround(peak)), " of ",
                                    FormatBytes(gpus.Int(row, "memory_bytes")), " at most"),
                             peak / all, "share"),
                  {"see what holds the memory before the batch grows", "",
                   "torch.cuda.memory._dump_snapshot(\"m.pickle\")", "minutes"}});
}

// A link may rest at a lower generation; a width below the most does not come back.
void SayLink(const GpuStateRows& gpus, size_t row, std::vector<Said>& said) {
  const bool works = Has(gpus, row, "utilization_share") && gpus.Real(row, "utilization_share") > 0.05;
  const auto below = [&](GpuStateRows::RealColumn now, GpuStateRows::RealColumn most) {
    return Has(gpus, row, now) && Has(gpus, row, most) && gpus.Real(row, now) < gpus.Real(row, most);
  };
  std::string text;
  if (below("pcie_width", "pcie_width_max"))
    text = StrCat(std::llround(gpus.Real(row, "pcie_width")), " of ", std::llround(gpus.Real(row, "pcie_width_max")),
                  " lanes");
  if (works && below("pcie_generation", "pcie_generation_max"))
    text += StrCat(text.empty() ? "" : ", ", "generation ", std::llround(gpus.Real(row, "pcie_generation")), " of ",
                   std::llround(gpus.Real(row, "pcie_generation_max")));
  if (text.empty()) return;
  said.push_back({kNoted,
                  StrCat("the PCIe link of ", GpuName(gpus, row), " is slower than it can be"),
                  EvidenceOf(StrCat("PCIe link of ", GpuName(gpus, row), " at best: ", text), kNoted, ""),
                  {"look at the slot, the riser and the settings of the firmware", "", "nvidia-smi topo -m", "hours"}});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (!HasSamplesOnly(tables.run())) return std::vector<Bottleneck>{};
  const auto gpus = tables.Get<GpuStateRows>();
  std::vector<Said> said;
  for (size_t row = 0; row < gpus.rows(); ++row)
    for (const auto say : {SayErrors, SayIdle, SayPower, SayMemory, SayLink}) say(gpus, row, said);
  if (said.empty()) return std::vector<Bottleneck>{};
  std::ranges::stable_sort(said, std::greater(), &Said::severity);
  Bottleneck found;
  found.severity = said[0].severity;
  found.title = said[0].title;
  found.description = "Samples show when a GPU works and what holds it back, not what the program did meanwhile.";
  for (Said& one : said) {
    found.evidence.push_back(std::move(one.evidence));
    const bool is_new = std::ranges::none_of(
        found.recommendations, [&](const Recommendation& known) { return known.text == one.advice.text; });
    if (is_new) found.recommendations.push_back(std::move(one.advice));
  }
  return std::vector{std::move(found)};
}

}  // namespace

RULE(gpu_samples_alone) = {
    .id = "gpu_samples_alone",
    .type = BottleneckType::kKernelEfficiency,
    .title = "What samples of GPUs show without a recording of a program",
    .why =
        "Samples alone, from any tool: GPUs with a utilisation of 5 % or less in 20 % of the samples or more, the "
        "power "
        "at its limit in half of them, memory filled to 95 %, a PCIe link below what it can do, memory errors that "
        "were "
        "not corrected, errors that the driver reported. Claims no time. Severity 1 for errors, the share of idle "
        "samples, else 0.3.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::gpu_samples_alone_rule
