// SPDX-License-Identifier: Apache-2.0
// A memory snapshot: what lives at the peak, how the held memory is cut up, and what was asked for when memory ran out.
//
// It costs no time by itself, so there is no gain. Severity: 1 where an allocation failed, 0.6 where more than a fifth
// of the held memory is stuck between tensors, 0.3 otherwise. The advice answers what takes most of the peak.
#include <algorithm>
#include <map>

#include "analyses/memory_peak.h"
#include "analyses/rows/memory_at_peak.h"
#include "analyses/rows/memory_segments.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/memory_savings.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::memory_snapshot_rule {
namespace {

constexpr double kFragmented = 0.2;  // share of the held memory; assumed
constexpr double kMainShare = 0.25;  // share of the peak, from which a category gets advice
constexpr size_t kMaxLines = 3;      // lines of the program as evidence
constexpr std::string_view kNeeds[] = {"memory_at_peak", "memory_segments", "memory_savings"};

struct Holding {
  int64_t peak = 0;
  std::map<std::string, int64_t, std::less<>> categories;
  std::vector<size_t> rows;  // rows of the device, largest first
};

Holding HoldingOf(const MemoryAtPeakRows& at_peak, int64_t trace, int64_t device) {
  Holding holding;
  for (size_t row = 0; row < at_peak.rows(); ++row) {
    if (at_peak.Int(row, "trace") != trace || at_peak.Int(row, "device") != device) continue;
    holding.peak += at_peak.Int(row, "bytes");
    holding.categories[std::string(at_peak.Text(row, "category"))] += at_peak.Int(row, "bytes");
    holding.rows.push_back(row);
  }
  return holding;
}

double ShareIn(const Holding& holding, std::string_view category) {
  const auto found = holding.categories.find(category);
  return found == holding.categories.end() || holding.peak == 0
             ? 0
             : static_cast<double>(found->second) / static_cast<double>(holding.peak);
}

std::string_view Words(std::string_view category) {
  if (category == "optimizer_state") return "state of the optimiser";
  if (category == "activation") return "activations";
  if (category == "gradient") return "gradients";
  if (category == "parameter") return "parameters";
  return category == "temporary" ? "temporary tensors" : "of unknown use, such as what was there before the recording";
}

// "1.5 GB (40 %) state of the optimiser, 0.9 GB (24 %) activations"
std::string CategoriesText(const Holding& holding) {
  std::vector<std::pair<std::string, int64_t>> ordered(holding.categories.begin(), holding.categories.end());
  std::ranges::stable_sort(ordered, std::greater(), [](const auto& entry) { return entry.second; });
  std::string text;
  for (const auto& [category, bytes] : ordered)
    text += StrCat(text.empty() ? "" : ", ", FormatBytes(bytes), " (", FormatPercent(ShareIn(holding, category)), ") ",
                   Words(category));
  return text;
}

std::vector<Evidence> EvidenceOf(const MemoryAtPeakRows& at_peak, const MemorySegmentsRows& segments, size_t row,
                                 const Holding& holding) {
  std::vector<Evidence> all;
  if (holding.peak > 0)
    all.push_back({.text = StrCat("at the peak ", FormatBytes(holding.peak), " are in use: ", CategoriesText(holding)),
                   .value = static_cast<double>(holding.peak),
                   .unit = "bytes",
                   .table = "memory_at_peak"});
  size_t lines = 0;
  for (const size_t at : holding.rows) {
    if (at_peak.IsNull(at, "source_line") || lines == kMaxLines) continue;
    ++lines;
    all.push_back(
        {.text = StrCat(FormatBytes(at_peak.Int(at, "bytes")), " of it, ",
                        at_peak.IsNull(at, "category") ? "of unknown use" : Words(at_peak.Text(at, "category")),
                        ", by ", Printable(at_peak.Text(at, "function"))),
         .value = static_cast<double>(at_peak.Int(at, "bytes")),
         .unit = "bytes",
         .table = "memory_at_peak",
         .source = std::string(at_peak.Text(at, "source_line"))});
  }
  if (segments.Int(row, "reserved_bytes") > 0)
    all.push_back({.text = StrCat("when the snapshot was taken the allocator held ",
                                  FormatBytes(segments.Int(row, "reserved_bytes")), " and ",
                                  FormatBytes(segments.Int(row, "active_bytes")), " were in use; of the rest ",
                                  FormatBytes(segments.Int(row, "stuck_bytes")), " are stuck between tensors"),
                   .value = segments.Real(row, "stuck_share"),
                   .unit = "share",
                   .table = "memory_segments"});
  return all;
}

// Savings is what changes would free on one device.
struct Savings {
  const MemorySavingsRows& rows;
  int64_t trace, device;
  std::optional<size_t> Of(std::string_view change) const { return FindSaving(rows, trace, device, change); }
  std::string Remark(std::string_view change) const { return SavingRemark(rows, Of(change)); }
};

void AddForActivations(const Savings& savings, std::vector<Recommendation>& all) {
  all.push_back({StrCat("recompute activations in the backward pass instead of keeping them",
                        savings.Remark(fixes::kCheckpoint.name)),
                 fixes::kCheckpoint.Item(), "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
                 "hours"});
  all.push_back({StrCat("where they are float32: halve them with mixed precision", savings.Remark(fixes::kAmp.name)),
                 fixes::kAmp.Item(), "with torch.autocast(\"cuda\", torch.bfloat16): loss = model(batch)", "minutes"});
}

std::vector<Recommendation> Recommend(const Holding& holding, bool fragmented, const Savings& savings) {
  std::vector<Recommendation> all;
  if (fragmented)
    all.push_back({StrCat("let the allocator extend its segments instead of asking for new ones",
                          savings.Remark(fixes::kAllocator.name)),
                   "", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python script.py", "minutes"});
  if (ShareIn(holding, "activation") >= kMainShare) AddForActivations(savings, all);
  if (ShareIn(holding, "optimizer_state") >= kMainShare)
    all.push_back(
        {StrCat("keep less state of the optimiser: shard it over the ranks (ZeroRedundancyOptimizer, FSDP), keep it "
                "in 8 bits (bitsandbytes, torchao) or on the host",
                savings.Of("offload_optimizer") ? ", which " : "",
                savings.Of("offload_optimizer") ? SavingText(savings.rows, *savings.Of("offload_optimizer")) : ""),
         "", "optimizer = torchao.optim.AdamW8bit(model.parameters())", "hours"});
  if (ShareIn(holding, "gradient") >= kMainShare)
    all.push_back({"free gradients as soon as they are used: set_to_none, or an optimiser step in the backward pass",
                   "", "optimizer.zero_grad(set_to_none=True)", "minutes"});
  if (ShareIn(holding, "temporary") >= kMainShare)
    all.push_back({"compile the model, so that temporary tensors are not written, or split the batch",
                   fixes::kCompile.Item(), "model = torch.compile(model)", "minutes"});
  if (all.empty())
    all.push_back({"record from the first allocation on, so that what is held then is known, too", "",
                   "torch.cuda.memory._record_memory_history()  # before the model is made", "minutes"});
  return all;
}

Bottleneck FindingOf(const MemoryAtPeakRows& at_peak, const MemorySegmentsRows& segments, size_t row,
                     const MemorySavingsRows& saved, const Run& run) {
  const int64_t device = segments.Int(row, "device");
  const Savings savings{saved, segments.Int(row, "trace"), device};
  const Holding holding = HoldingOf(at_peak, segments.Int(row, "trace"), device);
  const bool failed = segments.Int(row, "oom_events") > 0;
  const double stuck = segments.IsNull(row, "stuck_share") ? 0 : segments.Real(row, "stuck_share");
  const std::string gpu =
      segments.IsNull(row, "rank") ? StrCat("GPU ", device) : StrCat("rank ", segments.Int(row, "rank"));
  Bottleneck found;
  found.severity = failed ? 1 : stuck > kFragmented ? 0.6 : 0.3;
  found.title =
      failed
          ? StrCat("memory ran out on ", gpu, ": ", FormatBytes(segments.Int(row, "oom_bytes")), " more were asked for")
          : StrCat(FormatBytes(std::max(holding.peak, segments.Int(row, "active_bytes"))), " of memory at the peak",
                   stuck > kFragmented ? StrCat(", ", FormatPercent(stuck), " of what is held is stuck") : "");
  found.description =
      failed ? StrCat("An allocation of ", FormatBytes(segments.Int(row, "oom_bytes")), " failed on ", gpu,
                      ". What was in use is below, with who made it.")
             : StrCat("The snapshot of ", gpu, "'s allocator says what the memory holds when most of it is in use.");
  found.evidence = EvidenceOf(at_peak, segments, row, holding);
  if (const auto checkpoint = savings.Of(fixes::kCheckpoint.name))
    found.evidence.push_back(CheckpointEvidence(saved, *checkpoint));
  const bool extends = ExtendsSegments(*run.traces()[static_cast<size_t>(savings.trace)].trace);
  found.recommendations = Recommend(holding, stuck > kFragmented && !extends, savings);
  return found;
}

// A timeline of categories has no allocator behind it: what it holds and what is stuck is not known.
Bottleneck OfTimeline(const MemoryAtPeakRows& at_peak, const MemorySavingsRows& saved) {
  const Holding holding = HoldingOf(at_peak, at_peak.Int(0, "trace"), at_peak.Int(0, "device"));
  Bottleneck found;
  found.severity = 0.3;
  found.title = StrCat(FormatBytes(holding.peak), " of memory at the peak");
  found.description =
      "The timeline says what kinds of tensors take the memory when most of it is in use, and not which lines make "
      "them.";
  found.evidence.push_back({.text = StrCat("at the peak: ", CategoriesText(holding)),
                            .value = static_cast<double>(holding.peak),
                            .unit = "bytes",
                            .table = "memory_at_peak"});
  found.recommendations = Recommend(holding, false, {saved, at_peak.Int(0, "trace"), at_peak.Int(0, "device")});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto at_peak = tables.Get<MemoryAtPeakRows>();
  const auto segments = tables.Get<MemorySegmentsRows>();
  const auto savings = tables.Get<MemorySavingsRows>();
  std::vector<Bottleneck> found;
  const bool is_timeline = std::ranges::any_of(
      tables.run().traces(), [](const RunTrace& of) { return of.trace->info.format == "memory_timeline"; });
  if (segments.rows() == 0 && at_peak.rows() > 0 && is_timeline) return std::vector{OfTimeline(at_peak, savings)};
  for (size_t row = 0; row < segments.rows(); ++row)
    found.push_back(FindingOf(at_peak, segments, row, savings, tables.run()));
  std::ranges::stable_sort(found, std::greater(), &Bottleneck::severity);
  if (found.size() > 1) found.resize(1);  // the ranks of one job look alike; the tables have all
  return found;
}

}  // namespace

RULE(memory_snapshot) = {
    .id = "memory_snapshot",
    .type = BottleneckType::kMemoryAllocation,
    .title = "Device memory by what it holds",
    .why =
        "Snapshots of PyTorch's allocator alone: what is in use at the peak by category and line, what is held and not "
        "in "
        "use, and allocations that failed. Claims no time. Severity 1 where memory ran out, 0.6 where more than 20 % "
        "of "
        "what is held lies unused between tensors, else 0.3. Advice goes to a category from 25 % of the peak on.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::memory_snapshot_rule
