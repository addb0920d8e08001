// SPDX-License-Identifier: Apache-2.0
// Kernels that move data and hardly compute: elementwise, normalisation, reduction, matrix times vector. Optimizers,
// copies and attention have rules of their own, including the softmax of unfused attention; generated kernels are fused
// already, and launching decides what kernels under 10 µs cost.
//
// The gain: fused with its neighbours such a kernel reads and writes once where several did. Chains of two save a half,
// but much is kept for the backward pass and stands between matrix products alone: we expect three tenths, at least a
// tenth, at most six tenths. These are assumptions; what fusion saves in the chains that were seen is in
// `unfused_pointwise`. Products of a matrix and a vector read every weight for one row: fusing saves nothing, and a
// batch of two reads the weights once for both, so we expect a quarter of their time, at least a tenth, at most a half.
#include <algorithm>
#include <map>
#include <optional>

#include "analyses/rows/kernels.h"
#include "analyses/rows/matrix_work.h"
#include "analyses/rows/roofline.h"
#include "analyses/shapes.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "fixes/names.h"

namespace gapless::internal::memory_bound_rule {
namespace {

// Ours: every model has kernels that move data; above the share of the time at which TraceLens reports idle time they
// are worth fusing.
constexpr double kMemoryBoundTime = 0.15;
// Ours: kernels that reach less of the memory's bandwidth are held up by something else.
constexpr double kBandwidthBoundShare = 0.25;

constexpr std::string_view kNeeds[] = {"ledger", "kernels", "matrix_work", "operators", "roofline"};

// Softmax over scores of attention, [batch, heads, queries, keys] or [batch·heads, queries, keys]; that of a loss has
// two dimensions.
bool IsAttentionSoftmax(const RooflineRows& roofline, size_t row) {
  if (roofline.Text(row, "kind") != "softmax" || roofline.IsNull(row, "shapes")) return false;
  if (roofline.Text(row, "operator").find("log") != std::string_view::npos) return false;
  const std::vector<Input> inputs = ReadInputs(roofline.Text(row, "shapes"), "", "");
  return !inputs.empty() && inputs[0].shape.size() >= 3;
}

int64_t AttentionSoftmaxTime(const RooflineRows& roofline) {
  int64_t ns = 0;
  for (size_t row = 0; row < roofline.rows(); ++row)
    if (IsAttentionSoftmax(roofline, row)) ns += roofline.Int(row, "device_ns");
  return ns;
}

struct Moving {
  int64_t ns = 0;
  std::map<std::string_view, int64_t> class_ns;
  std::map<std::string_view, std::vector<int64_t>> longest;  // by class: kernels table is sorted by time

  int64_t VectorNs() const {
    const auto at = class_ns.find("gemv");
    return at == class_ns.end() ? 0 : at->second;
  }
};

// Kernels of for-loop optimizers belong to `unfused_optimizer`.
Moving MovingKernels(const KernelsRows& kernels, const RooflineRows& roofline) {
  Moving moving;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const std::string_view kind = kernels.Text(row, "class");
    if (kind != "pointwise" && kind != "norm" && kind != "reduce" && kind != "gemv") continue;
    const int64_t ns = kernels.Int(row, "long_ns") - kernels.Int(row, "long_optimizer_ns");
    if (ns == 0 || kernels.Text(row, "library") == "triton") continue;
    moving.ns += ns, moving.class_ns[kind] += ns;
    if (auto& ids = moving.longest[kind]; ids.size() < kMaxRows) ids.push_back(kernels.Int(row, "gpu_op_id"));
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

bool MovesData(const RooflineRows& roofline, size_t row) {
  const std::string_view kind = roofline.Text(row, "kind");
  const bool by_vector = kind == "gemm" && roofline.Int(row, "matrix_ns") == 0;  // its kernels are of class gemv
  return (kind == "pointwise" || kind == "norm" || kind == "softmax" || by_vector) &&
         roofline.Text(row, "operator") != "aten::copy_" && !IsAttentionSoftmax(roofline, row);
}

// Returns the fraction of the memory bandwidth that such operators reach, if shapes and device are known.
std::optional<double> BandwidthShare(const RooflineRows& roofline) {
  double least_ns = 0, ns = 0;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    if (!MovesData(roofline, row) || roofline.IsNull(row, "roofline_share")) continue;
    least_ns += roofline.Real(row, "roofline_share") * roofline.Real(row, "device_ns");
    ns += roofline.Real(row, "device_ns");
  }
  return ns > 0 ? std::optional(least_ns / ns) : std::nullopt;
}

// Adds the operators that take most of the time, with the bandwidth they reach if shapes are known.
std::vector<Evidence> OperatorEvidence(const RooflineRows& roofline, const LedgerView& ledger) {
  std::vector<Evidence> all;
  constexpr size_t kNamed = 3;
  for (const size_t row : LargestRows(roofline, "device_ns", roofline.rows())) {
    if (all.size() == kNamed) break;
    if (!MovesData(roofline, row) || roofline.IsNull(row, "gbps")) continue;
    const bool known = !roofline.IsNull(row, "peak_gbps");
    all.push_back(
        {.text = StrCat(roofline.Text(row, "operator"), " on ", Ellipsize(roofline.Text(row, "shapes"), 48), ": ",
                        ledger.CostText(roofline.Int(row, "device_ns")), " at ",
                        FormatNumber(roofline.Real(row, "gbps"), 0),
                        known ? StrCat(" of ", FormatNumber(roofline.Real(row, "peak_gbps"), 0)) : "", " GB/s"),
         .value = roofline.Real(row, "gbps"),
         .unit = "GB/s",
         .table = "gpu_op",
         .rows = IdsOf(roofline, {row}, "gpu_op_id"),
         .source = TextOr(roofline, row, "source_line", "")});
  }
  return all;
}

// Returns true if operators that move data work on float32 tensors most of their time.
bool IsFloat32(const RooflineRows& roofline) {
  int64_t fp32 = 0, all = 0;
  for (size_t row = 0; row < roofline.rows(); ++row) {
    if (!MovesData(roofline, row) || roofline.IsNull(row, "dtype")) continue;
    all += roofline.Int(row, "device_ns");
    if (roofline.Text(row, "dtype") == "fp32") fp32 += roofline.Int(row, "device_ns");
  }
  return 2 * fp32 > all;
}

// Returns advice for the larger part first. Products with vectors get no advice to cast to 16 bits: autocast would cast
// their weights in every step.
std::vector<Recommendation> Recommend(const Moving& moving, const RooflineRows& roofline, Tables& tables) {
  std::vector<Recommendation> all;
  const int64_t vector_ns = moving.VectorNs(), fusable_ns = moving.ns - vector_ns;
  if (fusable_ns > 0)
    all.push_back({SeesCompiler(tables)
                       ? "compile the code that is not compiled yet: neighbouring operators become one kernel, which "
                         "reads and writes once"
                       : "compile the model: neighbouring operators become one kernel, which reads and writes once",
                   fixes::kCompile.Item(), "model = torch.compile(model)", "minutes"});
  const bool multiplies = SumOf(tables.Get<MatrixWorkRows>(), "matrix_ns") > 0;  // else there is no model to autocast
  if (fusable_ns >= vector_ns && multiplies && IsFloat32(roofline))
    all.push_back({"halve the bytes: activations in 16 bits under autocast", fixes::kAmp.Item(),
                   "with torch.autocast(\"cuda\"):", "minutes"});
  if (vector_ns == 0) return all;
  all.push_back(
      {"give products of a matrix and a vector more rows: a larger batch reads each weight once for all of them", "",
       "", "hours"});
  if (vector_ns > fusable_ns) std::rotate(all.begin(), all.end() - 1, all.end());
  const Workload workload = WorkloadOf(tables.run());
  if (workload == Workload::kInference || workload == Workload::kServing)
    all.push_back({"read fewer bytes for each weight: quantise the weights to 8 or 4 bits, and compare the accuracy",
                   "", "torchao.quantization.quantize_(model, Int8WeightOnlyConfig())", "hours"});
  return all;
}

Gain GainOf(const Moving& moving, const LedgerView& ledger) {
  const auto vectors = static_cast<double>(moving.VectorNs()), rest = static_cast<double>(moving.ns) - vectors;
  return EstimateGain({.wall_ns = ledger.total.wall_ns,
                       .low_ns = 0.1 * rest + 0.1 * vectors,
                       .expected_ns = 0.3 * rest + 0.25 * vectors,
                       .high_ns = 0.6 * rest + 0.5 * vectors,
                       .confidence = 0.4});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto roofline = tables.Get<RooflineRows>();
  const Moving moving = MovingKernels(tables.Get<KernelsRows>(), roofline);
  const double share = ledger.Share(moving.ns);
  const std::optional<double> bandwidth = BandwidthShare(roofline);
  if (share < kMemoryBoundTime || bandwidth.value_or(1) < kBandwidthBoundShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("kernels that only move data take ", ledger.CostText(moving.ns));
  found.description = StrCat(
      moving.VectorNs() > 0
          ? "Elementwise kernels, normalisations, reductions and products of a matrix and a vector take "
          : "Elementwise kernels, normalisations and reductions take ",
      FormatPercent(share), " of the time; ",
      bandwidth ? StrCat("those whose shapes are known reach ", FormatPercent(*bandwidth), " of the memory's bandwidth")
                : std::string("they do a few operations per element, so the memory limits them, not arithmetic"),
      ".");
  found.evidence = ClassEvidence(moving, ledger);
  for (Evidence& item : OperatorEvidence(roofline, ledger)) found.evidence.push_back(std::move(item));
  found.recommendations = Recommend(moving, roofline, tables);
  found.gain = GainOf(moving, ledger);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(memory_bound) = {
    .id = "memory_bound",
    .type = BottleneckType::kMemoryBandwidth,
    .title = "Kernels that only move data take much of the time",
    .why =
        "Time of elementwise kernels, normalisations, reductions and products of a matrix and a vector (gemv) of 10 µs "
        "and longer, those generated by a compiler left out: they do a few operations per element, so the memory's "
        "bandwidth decides. Reported at 15 % of the analysed time or more, unless shapes and GPU show that they reach "
        "less than a quarter of the bandwidth: then something else slows them down. Copies, optimizers (written as "
        "loops, too) and attention, the softmax of attention that is not fused included, have rules of their own and "
        "are not counted.",
    .saves = "1/10, 3/10, 6/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::memory_bound_rule
