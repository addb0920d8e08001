// SPDX-License-Identifier: Apache-2.0
// Kernels that move data and hardly compute: element by element, normalisation, reduction. Optimizers, copies and
// attention have rules of their own, the softmax of attention written out too; generated kernels are fused
// already, and launching decides what kernels under 10 µs cost.
//
// The gain: fused with its neighbours such a kernel reads and writes once where several did. Chains of two save a half,
// but much is kept for the backward pass and stands between matrix products alone: we expect three tenths, at least a
// tenth, at most six tenths. These are assumptions; what fusion saves in the chains that were seen is in
// `unfused_pointwise`.
#include <algorithm>
#include <map>
#include <optional>

#include "analyses/shapes.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "kernels", "matrix_work", "operators", "roofline"};

// Softmax over scores of attention, [batch, heads, queries, keys] or [batch·heads, queries, keys]; that of a loss has
// two dimensions.
bool IsAttentionSoftmax(const Table& roofline, size_t row) {
  if (roofline.Text(row, "kind") != "softmax" || roofline.IsNull(row, "shapes")) return false;
  if (roofline.Text(row, "operator").find("log") != std::string_view::npos) return false;
  const std::vector<Input> inputs = ReadInputs(roofline.Text(row, "shapes"), "", "");
  return !inputs.empty() && inputs[0].shape.size() >= 3;
}

int64_t AttentionSoftmaxTime(const Table& roofline) {
  int64_t ns = 0;
  for (size_t row = 0; row < roofline.rows(); ++row)
    if (IsAttentionSoftmax(roofline, row)) ns += roofline.Int(row, "device_ns");
  return ns;
}

struct Moving {
  int64_t ns = 0;
  std::map<std::string_view, int64_t> class_ns;
  std::map<std::string_view, std::vector<int64_t>> longest;  // by class: kernels table is sorted by time
};

// What optimizers launch, written as loops over parameters, is `unfused_optimizer`'s.
Moving MovingKernels(const Table& kernels, const Table& roofline) {
  Moving moving;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const std::string_view kind = kernels.Text(row, "class");
    if (kind != "pointwise" && kind != "norm" && kind != "reduce") continue;
    const int64_t ns = kernels.Int(row, "long_ns") - kernels.Int(row, "long_optimizer_ns");
    if (ns == 0 || kernels.Text(row, "library") == "triton") continue;
    moving.ns += ns, moving.class_ns[kind] += ns;
    if (auto& ids = moving.longest[kind]; ids.size() < kMostRows) ids.push_back(kernels.Int(row, "gpu_op_id"));
  }
  const int64_t softmax_ns = std::min(AttentionSoftmaxTime(roofline), moving.class_ns["reduce"]);
  moving.ns -= softmax_ns, moving.class_ns["reduce"] -= softmax_ns;
  return moving;
}

std::vector<Evidence> ClassEvidence(const Moving& moving, const LedgerView& ledger) {
  std::vector<std::pair<std::string_view, int64_t>> classes(moving.class_ns.begin(), moving.class_ns.end());
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [kind, ns] : classes)
    if (ns > 0) text += StrCat(text.empty() ? "" : ", ", kind, " ", FormatPercent(ledger.Share(ns)));
  return {{StrCat("share of the time: ", text), ledger.Share(moving.ns), "share", "gpu_op",
           moving.longest.at(classes[0].first), ""}};
}

bool MovesData(const Table& roofline, size_t row) {
  const std::string_view kind = roofline.Text(row, "kind");
  return (kind == "pointwise" || kind == "norm" || kind == "softmax") &&
         roofline.Text(row, "operator") != "aten::copy_" && !IsAttentionSoftmax(roofline, row);
}

// Of the memory's bandwidth, what such operators reach, as far as shapes and device are known.
std::optional<double> BandwidthShare(const Table& roofline) {
  double least_ns = 0, ns = 0;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    if (!MovesData(roofline, row) || roofline.IsNull(row, "roofline_share")) continue;
    least_ns += roofline.Real(row, "roofline_share") * roofline.Real(row, "device_ns");
    ns += roofline.Real(row, "device_ns");
  }
  return ns > 0 ? std::optional(least_ns / ns) : std::nullopt;
}

// The operators that take most of it, with the bandwidth they reach where shapes tell.
std::vector<Evidence> OperatorEvidence(const Table& roofline, const LedgerView& ledger) {
  std::vector<Evidence> all;
  constexpr size_t kNamed = 3;
  for (const size_t row : LargestRows(roofline, "device_ns", roofline.rows())) {
    if (all.size() == kNamed) break;
    if (!MovesData(roofline, row) || roofline.IsNull(row, "gbps")) continue;
    const bool known = !roofline.IsNull(row, "peak_gbps");
    all.push_back(
        {StrCat(roofline.Text(row, "operator"), " on ", Ellipsize(roofline.Text(row, "shapes"), 48), ": ",
                ledger.CostText(roofline.Int(row, "device_ns")), " at ", FormatNumber(roofline.Real(row, "gbps"), 0),
                known ? StrCat(" of ", FormatNumber(roofline.Real(row, "peak_gbps"), 0)) : "", " GB/s"),
         roofline.Real(row, "gbps"), "GB/s", "gpu_op", IdsOf(roofline, {row}, "gpu_op_id"),
         TextOr(roofline, row, "source_line", "")});
  }
  return all;
}

// Do most of these bytes belong to float32 tensors?
bool IsFloat32(const Table& roofline) {
  int64_t fp32 = 0, all = 0;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    if (roofline.IsNull(row, "dtype")) continue;
    all += roofline.Int(row, "device_ns");
    if (roofline.Text(row, "dtype") == "fp32") fp32 += roofline.Int(row, "device_ns");
  }
  return 2 * fp32 > all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  const Table& roofline = tables.Get("roofline");
  const Moving moving = MovingKernels(tables.Get("kernels"), roofline);
  const double share = ledger.Share(moving.ns);
  const std::optional<double> bandwidth = BandwidthShare(roofline);
  if (share < kMemoryBoundTime || bandwidth.value_or(1) < kBandwidthBoundShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("kernels that only move data take ", ledger.CostText(moving.ns));
  found.description = StrCat(
      "Element by element kernels, normalisations and reductions take ", FormatPercent(share), " of the time; ",
      bandwidth ? StrCat("those whose shapes are known reach ", FormatPercent(*bandwidth), " of the memory's bandwidth")
                : std::string("they do a few operations per element, so the memory limits them, not arithmetic"),
      ".");
  found.evidence = ClassEvidence(moving, ledger);
  for (Evidence& one : OperatorEvidence(roofline, ledger)) found.evidence.push_back(std::move(one));
  found.recommendations.push_back(
      {SeesCompiler(tables)
           ? "compile what is not compiled yet: neighbours become one kernel that reads and writes once"
           : "compile the model: neighbours become one kernel that reads and writes once",
       "compile", "model = torch.compile(model)", "minutes"});
  const bool multiplies = SumOf(tables.Get("matrix_work"), "matrix_ns") > 0;  // else there is no model to autocast
  if (multiplies && IsFloat32(roofline))
    found.recommendations.push_back(
        {"halve the bytes: activations in 16 bits under autocast", "amp", "with torch.autocast(\"cuda\"):", "minutes"});
  const auto time = static_cast<double>(moving.ns);
  found.gain = EstimateGain({.fix = "compile",
                             .wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.1 * time,
                             .expected_ns = 0.3 * time,
                             .high_ns = 0.6 * time,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(memory_bound) = {
    .id = "memory_bound",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Kernels that only move data take much of the time",
    .why =
        "Time of element by element kernels, normalisations and reductions of 10 µs and longer, those generated by a "
        "compiler aside: they do a few operations per element, so the memory's bandwidth decides. Speaks from 15 % of "
        "the "
        "time, unless shapes and device tell that they reach less than a quarter of the bandwidth: then something else "
        "holds them up. Copies, optimizers (written as loops, too) and attention, the softmax of attention written out "
        "included, have rules of their own and are not counted.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal
