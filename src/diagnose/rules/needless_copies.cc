// SPDX-License-Identifier: Apache-2.0
// Copies that compute nothing: casts, changes of layout, copies on the device, round trips over the host, tensors made
// on the host and moved one by one. The affected time is that of kernels that only copy (analysis copy_places: cast,
// layout), of copies within the device that an operator asked for, of the second half of round trips, and of small
// copies to the device where a step makes many. The gain is an assumption: some copies are needed, and of those that
// are not a compiler fuses most into the kernels around them. A tenth at least, a third probably, eight tenths at most.
// Chains of unfused_pointwise contain casts too, so the time is part of that rule's time if both fire.
#include <algorithm>

#include "analyses/rows/copy_places.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "fixes/names.h"

namespace gapless::internal::needless_copies_rule {
namespace {

// TraceLens flags copies between host and device above 5 % of the time. No published analyser judges casts and copies
// on the device, so we draw the same line for them.
constexpr double kNeedlessCopiesShare = 0.05;
// Ours: this number of small copies to the device per step is a habit of the program, not its batch.
constexpr double kManySmallCopies = 8;

constexpr std::string_view kNeeds[] = {"ledger", "copy_places", "kernels", "operators"};
constexpr CopyPlacesRows::TextColumn kKey[] = {"kind", "operator", "inside", "source_line", "types"};

enum class Kind : uint8_t { kNone, kCast, kLayout, kOnDevice, kRoundTrip, kSmall };
// Places with the same advice.
enum class Advice : uint8_t { kStaticInputs, kOneType, kOneLayout, kStay, kOnDevice };

// Copies within the device count when an operator of the framework's core made them: libraries of communication move
// their buffers with them.
Kind KindOf(const CopyPlacesRows& places, size_t row) {
  const std::string_view kind = places.Text(row, "kind");
  if (kind == "cast") return Kind::kCast;
  if (kind == "layout") return Kind::kLayout;
  if (kind == "d2d") {
    const std::string_view op = places.Text(row, "operator");
    return op.starts_with("aten::") && op != "aten::cat" ? Kind::kOnDevice : Kind::kNone;
  }
  if (!kind.starts_with("h2d") || kind == "h2d_managed") return Kind::kNone;  // pages that move by themselves
  if (places.Int(row, "round_trips") > 0) return Kind::kRoundTrip;
  const bool steps = !places.IsNull(row, "calls_per_step") && places.Int(row, "calls") > 0;
  const double small_share =
      steps ? static_cast<double>(places.Int(row, "small_calls")) / static_cast<double>(places.Int(row, "calls")) : 0;
  return steps && places.Real(row, "calls_per_step") * small_share >= kManySmallCopies ? Kind::kSmall : Kind::kNone;
}

std::vector<RowGroup> Collect(const CopyPlacesRows& places) {
  return GroupRows(places, kKey, [&](size_t row) {
    if (KindOf(places, row) == Kind::kNone) return int64_t{0};
    const bool engine = !places.IsNull(row, "exposed_ns");
    return (engine ? places.Int(row, "exposed_ns") : places.Int(row, "device_ns")) + places.Int(row, "idle_ns");
  });
}

// ["float","c10::Half","Scalar"] → "float16 to float32": a copy writes the first and reads the second.
std::string CastText(std::string_view types) {
  const std::vector<std::string_view> parts = Split(types, '"');
  return parts.size() < 4 ? "change of type"
                          : StrCat("change of type, ", TypeText(parts[3]), " to ", TypeText(parts[1]));
}

std::string What(const CopyPlacesRows& places, size_t row) {
  switch (KindOf(places, row)) {
    case Kind::kCast: return CastText(places.Text(row, "types"));
    case Kind::kLayout: return "copy into another layout or into memory of its own";
    case Kind::kOnDevice: return "copy within GPU memory";
    case Kind::kRoundTrip: return "copy to the GPU of data that had just been copied to the host";
    case Kind::kSmall: return "small copy to the GPU";
    case Kind::kNone: break;
  }
  return "";
}

Evidence EvidenceOf(const CopyPlacesRows& places, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  const std::string line = TextOr(places, row, "source_line", "");
  const bool wrapper = places.Text(row, "inside") == "compiled";
  return {.text = StrCat(TextOr(places, row, "operator", "copies outside of operators"),
                         wrapper ? " directly inside a compiled function" : "", InLine(line), ": ", What(places, row),
                         ", ", HowOften(places, place, "calls_per_step", "calls"), ", ", ledger.CostText(place.value)),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "gpu_op",
          .rows = IdsOf(places, place.rows, "gpu_op_id"),
          .source = line};
}

Advice AdviceFor(const CopyPlacesRows& places, size_t row) {
  if (places.Text(row, "inside") == "compiled") return Advice::kStaticInputs;
  switch (KindOf(places, row)) {
    case Kind::kCast: return Advice::kOneType;
    case Kind::kRoundTrip: return Advice::kStay;
    case Kind::kSmall: return Advice::kOnDevice;
    default: return Advice::kOneLayout;
  }
}

Recommendation Recommend(Advice advice, const std::string& line, bool compiled) {
  switch (advice) {
    case Advice::kStaticInputs:
      return {
          "mark parameters and buffers as static inputs of the compiled program, so that its wrapper need not copy "
          "them; newer versions of PyTorch do so for those of modules: update PyTorch",
          "", "for p in model.parameters(): torch._dynamo.mark_static_address(p)", "hours"};
    case Advice::kOneType:
      return {StrCat("keep tensors in the type in which they are used: convert once, outside of the loop",
                     compiled ? "" : ", or let the compiler fuse the conversion", line),
              compiled ? "" : fixes::kCompile.Item(), compiled ? "" : "model = torch.compile(model)", "minutes"};
    case Advice::kStay: return {StrCat("keep the tensor on the GPU", line), "", "", "hours"};
    case Advice::kOnDevice:
      return {StrCat("make tensors on the GPU, or copy them all at once", line), "",
              "torch.arange(n, device=device)  # instead of torch.arange(n).to(device)", "minutes"};
    case Advice::kOneLayout: break;
  }
  return {
      StrCat("avoid the copy: write the tensor in the layout that its reader wants, drop clone() and contiguous() that "
             "are not needed",
             compiled ? "" : ", or let the compiler fuse the copy", line),
      compiled ? "" : fixes::kCompile.Item(), compiled ? "" : "model = torch.compile(model)", "hours"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto places = tables.Get<CopyPlacesRows>();
  std::vector<RowGroup> copies = Collect(places);
  int64_t stake = 0, casts = 0;
  for (const RowGroup& row_group : copies)
    stake += row_group.value, casts += KindOf(places, row_group.first()) == Kind::kCast ? row_group.value : 0;
  const double share = ledger.Share(stake);
  if (share < kNeedlessCopiesShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("copies that compute nothing take ", ledger.CostText(stake));
  const std::string casts_text = casts > 0 ? StrCat("their type (", FormatPercent(ledger.Share(casts)), "), ") : "";
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time data is copied and nothing computed from it: "
                             "tensors change ",
                             casts_text, "their layout or their place.");
  copies.resize(std::min<size_t>(copies.size(), 4));
  const bool compiled = SeesCompiler(tables);
  std::vector<Advice> advised;
  for (const RowGroup& row_group : copies) {
    if (20 * row_group.value < stake) continue;
    found.evidence.push_back(EvidenceOf(places, row_group, ledger));
    const Advice advice = AdviceFor(places, row_group.first());
    if (std::find(advised.begin(), advised.end(), advice) != advised.end()) continue;
    advised.push_back(advice);
    found.recommendations.push_back(
        Recommend(advice, InLine(TextOr(places, row_group.first(), "source_line", "")), compiled));
  }
  const auto time = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = time * 0.1,
                             .expected_ns = time / 3,
                             .high_ns = time * 0.8,
                             .confidence = 0.3});
  found.part_of = "unfused_pointwise";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(needless_copies) = {
    .id = "needless_copies",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "The GPU copies tensors it already has",
    .why =
        "Kernels that only change a tensor's type or layout (aten::copy_ under to, contiguous, clone, reshape), copies "
        "within the GPU by operators, large tensors copied to the host and back within a step, and small copies to the "
        "GPU where one place makes at least 8 a step. What optimiser, gradient accumulation and data loading copy is "
        "left out. Reported at 5 % of the analysed time or more, TraceLens' line for copies.",
    .saves = "1/10, ⅓, 8/10 of it. Part of unfused_pointwise",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::needless_copies_rule
