// SPDX-License-Identifier: Apache-2.0
// Unfused attention: batched matrix products around a softmax, with all scores in memory.
//
// One fused kernel computes scores, softmax and the product with the values tile by tile; the scores are never written.
// The affected time is that of the products and of all kernels between them, forward and backward. The gain: what is
// between the products is memory traffic that goes, but for its arithmetic: we expect eight tenths of it and at least
// half. At most three quarters of all: FlashAttention reports 2 to 4 times over such an implementation (arXiv
// 2205.14135).
#include <algorithm>

#include "analyses/rows/attention.h"
#include "analyses/shapes.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::eager_attention_rule {
namespace {

// Above the 2 % from which TraceLens reports a candidate for fusion: unfused attention costs more than a chain where it
// matters at all.
constexpr double kEagerAttentionShare = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "attention"};
constexpr AttentionRows::TextColumn kKey[] = {"pass", "shapes", "types", "source_line"};

// " on scores 16 × 1024 × 1024, 33.6 MB written and read several times each", as far as it was recorded.
std::string ScoresText(const AttentionRows& attention, size_t row) {
  const std::vector<Input> inputs = ReadInputs(attention.Text(row, "shapes"), attention.Text(row, "types"), {});
  if (inputs.empty() || inputs[0].shape.empty()) return {};
  std::string text = " on scores ";
  for (size_t i = 0; i < inputs[0].shape.size(); ++i) text += StrCat(i > 0 ? " × " : "", inputs[0].shape[i]);
  const int64_t bytes = Elements(inputs[0].shape) * BytesOf(inputs[0].type);
  return bytes > 0 ? StrCat(text, ", ", FormatBytes(bytes), " written to memory and read again") : text;
}

Evidence EvidenceOf(const AttentionRows& attention, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  const std::string line = TextOr(attention, row, "source_line", "");
  return {.text = StrCat("the ", attention.Text(row, "pass"), " pass", InLine(line), ": ",
                         FormatTimes(static_cast<double>(SumOver(attention, place, "calls"))), " bmm, softmax, bmm",
                         ScoresText(attention, row), "; ", ledger.CostText(place.value), ", ",
                         FormatPercent(static_cast<double>(SumOver(attention, place, "between_ns")) /
                                       static_cast<double>(std::max<int64_t>(1, place.value))),
                         " of it between the two products"),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(attention, place.rows, "slice_id"),
          .source = line};
}

std::vector<Recommendation> Recommend(const AttentionRows& attention, size_t row) {
  const std::string line = TextOr(attention, row, "source_line", "");
  std::vector<Recommendation> all;
  if (attention.Text(row, "operator") == "aten::scaled_dot_product_attention") {
    all.push_back(
        {StrCat("scaled_dot_product_attention runs as separate operators: give it float16 or bfloat16 tensors "
                "and a mask that its fused kernels accept",
                InLine(line)),
         fixes::kSdpa.Item(),
         "with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION): ...  # says why it cannot", "hours"});
    return all;
  }
  if (line.find("transformers/models/") != line.npos)
    all.push_back({"load the model with fused attention, if it has it", fixes::kSdpa.Item(),
                   "AutoModel.from_pretrained(name, attn_implementation=\"sdpa\")", "minutes"});
  all.push_back({StrCat("replace bmm, softmax and bmm with the fused operator", InLine(line)), fixes::kSdpa.Item(),
                 "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)", "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto attention = tables.Get<AttentionRows>();
  const int64_t stake = SumOf(attention, "device_ns"), between = SumOf(attention, "between_ns");
  const double share = ledger.Share(stake);
  if (share < kEagerAttentionShare) return std::vector<Bottleneck>{};
  std::vector<RowGroup> places =
      GroupRows(attention, kKey, [&](size_t row) { return attention.Int(row, "device_ns"); });
  places.resize(std::min<size_t>(places.size(), 3));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("attention that is not fused takes ", ledger.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time attention runs as two matrix products and a softmax, which write all scores "
                             "to memory and read them "
                             "again; ",
                             FormatPercent(ledger.Share(between)), " of the time lies between the two products.");
  for (const RowGroup& place : places)
    if (20 * place.value >= stake) found.evidence.push_back(EvidenceOf(attention, place, ledger));
  found.recommendations = Recommend(attention, places[0].first());
  const auto all = static_cast<double>(stake), traffic = static_cast<double>(between);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = traffic * 0.5,
                             .expected_ns = traffic * 0.8,
                             .high_ns = std::max(all * 0.75, traffic),
                             .confidence = 0.6});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(eager_attention) = {
    .id = "eager_attention",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Attention is not fused: matmul, softmax and matmul are separate kernels",
    .why =
        "Products of batches of matrices (aten::bmm, aten::baddbmm) with a softmax between them "
        "and nothing that is not elementwise, one after the other on a stream, forward and "
        "backward. Reported if they take 5 % of the analysed time or more. Names the line, the "
        "shape and the size of the scores, which scaled dot product attention does not write.",
    .saves = "½, 8/10 of what lies between the products; ¾ of all, at least all between the products",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::eager_attention_rule
