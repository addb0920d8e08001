// SPDX-License-Identifier: Apache-2.0
// Matrix work that could run on matrix units and does not.
//
// The gain: where the device is known, r is the peak of its matrix units for the new precision over that of the
// ordinary units. Kernels do not follow peaks: memory and layout changes take their part, and what was measured in
// public for training spreads widely around the square root of r (V100: r = 8, about 3 times). So we expect √r, at
// least its square root and at most r^¾; for a device that is not in the table, fixed factors of the same kind. Where
// the device waits for the host, faster kernels only wait longer: the least counts the saving for the busy share of the
// time only.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/device_peaks.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "matrix_work", "kernels"};

// How many times faster matrix kernels become: at least, probably, at most.
struct Factors {
  double low, expected, high;
};
constexpr Factors kHalfPrecision = {1.5, 2.5, 4.0};  // fp32 units to fp16 or bf16 on matrix units
constexpr Factors kTf32 = {1.3, 2.0, 3.0};           // fp32 units to TF32: half the peak of bf16, same memory traffic

struct Work {
  int64_t off_ns = 0, matrix_ns = 0;  // over devices with matrix units
  int64_t on_ns = 0;
  std::string device, dtype;
  std::string_view vendor;
  int64_t major = 0, minor = 0;
  std::vector<int64_t> longest;
};

// Matrix units: NVIDIA from compute capability 7.0, except the GTX 16 series (7.5 without); AMD's Instinct MI line.
bool HasMatrixUnits(const Table& work, size_t row) {
  const std::string_view name = work.Text(row, "device_name");
  if (work.Text(row, "vendor") == "amd" || name.starts_with("AMD")) return name.find("Instinct MI") != name.npos;
  return !work.IsNull(row, "compute_major") && work.Int(row, "compute_major") >= 7 && name.find("GTX 16") == name.npos;
}

Work WorkOf(const Table& table) {
  Work work;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!HasMatrixUnits(table, row)) continue;
    work.off_ns += table.Int(row, "off_units_ns");
    work.on_ns += table.Int(row, "on_units_ns");
    work.matrix_ns += table.Int(row, "matrix_ns");
    if (!table.IsNull(row, "gpu_op_id") && work.longest.size() < kMostRows)
      work.longest.push_back(table.Int(row, "gpu_op_id"));
    if (!work.device.empty()) continue;
    work.device = table.Text(row, "device_name");
    work.dtype = table.Text(row, "dtype");
    work.vendor = table.Text(row, "vendor");
    work.major = table.Int(row, "compute_major"), work.minor = table.Int(row, "compute_minor");
  }
  return work;
}

// Peak of matrix units over that of the ordinary ones for float32; NaN: device not known.
double PeakRatio(const Work& work, bool tf32) {
  const DevicePeaks* peaks = FindDevicePeaks(work.device);
  if (peaks == nullptr) return DevicePeaks::kNone;
  if (tf32) return peaks->tf32 / peaks->fp32;
  return (peaks->bf16 > 0 ? peaks->bf16 : peaks->fp16) / peaks->fp32;
}

Factors FactorsOf(const Work& work, bool tf32) {
  const double ratio = work.dtype == "double" ? DevicePeaks::kNone : PeakRatio(work, tf32);
  if (!(ratio >= 1)) return tf32 ? kTf32 : kHalfPrecision;
  return {std::pow(ratio, 0.25), std::sqrt(ratio), std::pow(ratio, 0.75)};
}

bool IsFloat32(const Work& work) { return work.dtype.empty() || work.dtype == "float"; }
// GeForce cards have TF32 that is no faster than float32.
bool HasTf32(const Work& work) {
  constexpr double kWorthIt = 1.2;
  const double ratio = PeakRatio(work, true);
  return work.vendor == "nvidia" && work.major >= 8 && (std::isnan(ratio) || ratio >= kWorthIt);
}
bool HasBf16(const Work& work) { return work.vendor == "amd" || work.major >= 8; }

std::vector<Recommendation> Recommend(const Work& work) {
  std::vector<Recommendation> all;
  if (work.dtype == "double")
    return {
        {"tensors are double: nothing in training needs more than float32, and matrix units want less; convert model "
         "and data, then train in mixed precision",
         "", "model = model.float(); batch = batch.float()", "minutes"}};
  if (!IsFloat32(work))
    all.push_back({StrCat("tensors are ", work.dtype,
                          " already: make the sizes of channels and features multiples of 8, and use channels_last"),
                   "channels_last", "model = model.to(memory_format=torch.channels_last)", "hours"});
  const std::string type = HasBf16(work) ? "bfloat16" : "float16";
  const std::string why =
      work.vendor == "nvidia" && !HasBf16(work)
          ? StrCat("; compute capability ", work.major, ".", work.minor, " has matrix units for float16 only")
          : std::string();
  if (IsFloat32(work))
    all.push_back(
        {StrCat("train in mixed precision: autocast to ", type, HasBf16(work) ? "" : " with a gradient scaler", why),
         HasBf16(work) ? "amp=bf16" : "amp=fp16", StrCat("with torch.autocast(\"cuda\", dtype=torch.", type, "):"),
         "minutes"});
  if (IsFloat32(work) && HasTf32(work))
    all.push_back({"or allow TF32: float32 tensors, products on matrix units with 10 bits of mantissa", "tf32",
                   "torch.set_float32_matmul_precision(\"high\"); torch.backends.cudnn.allow_tf32 = True", "minutes"});
  return all;
}

std::vector<Evidence> EvidenceOf(const Work& work, const Table& kernels, const LedgerView& ledger) {
  std::vector<Evidence> all;
  const double off_share = static_cast<double>(work.off_ns) / static_cast<double>(work.matrix_ns);
  all.push_back({StrCat(FormatPercent(off_share), " of matrix time runs outside the matrix units of ",
                        work.device.empty() ? "the GPU" : work.device,
                        work.dtype.empty() ? "" : StrCat(", on tensors of ", work.dtype)),
                 off_share, "share", "gpu_op", work.longest, ""});
  std::map<std::string_view, std::pair<int64_t, std::vector<int64_t>>> by_name;  // over ranks: time, longest runs
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const std::string_view kind = kernels.Text(row, "class");
    if (kernels.Text(row, "matrix_unit") != "no" || (kind != "gemm" && kind != "conv" && kind != "attention")) continue;
    auto& [ns, longest] = by_name[kernels.Text(row, "name")];
    ns += kernels.Int(row, "total_ns");
    if (longest.size() < kMostRows) longest.push_back(kernels.Int(row, "gpu_op_id"));
  }
  std::vector<std::pair<std::string_view, std::pair<int64_t, std::vector<int64_t>>>> sorted(by_name.begin(),
                                                                                            by_name.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& x, const auto& y) { return x.second.first > y.second.first; });
  constexpr size_t kNamed = 3;
  for (size_t i = 0; i < sorted.size() && i < kNamed; ++i)
    all.push_back({StrCat(Ellipsize(sorted[i].first, 80), ": ", ledger.CostText(sorted[i].second.first)),
                   static_cast<double>(sorted[i].second.first), "ns", "gpu_op", sorted[i].second.second, ""});
  return all;
}

Gain GainOf(const Work& work, const LedgerView& ledger, std::string_view fix) {
  const Factors factors = FactorsOf(work, fix == "tf32");
  const auto saved = [&](double factor) { return static_cast<double>(work.off_ns) * (1 - 1 / factor); };
  const double busy = 1 - ledger.Share(ledger.total.idle_ns);
  return EstimateGain({.fix = fix,
                       .wall_ns = ledger.total.wall_ns,
                       .low_ns = saved(factors.low) * busy,
                       .expected_ns = saved(factors.expected),
                       .high_ns = saved(factors.high),
                       .confidence = IsFloat32(work) ? 0.6 : 0.3});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  const Work work = WorkOf(tables.Get("matrix_work"));
  const double share = ledger.Share(work.off_ns);
  if (share < kNoTensorCoresShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.id = "no_tensor_cores";
  found.type = BottleneckType::kKernelEfficiency;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("matrix kernels take ", ledger.CostText(work.off_ns), " and do not use the matrix units");
  found.description = StrCat(
      "Products, convolutions and attention that run outside the matrix units take ", FormatPercent(share),
      " of the time; ",
      work.on_ns == 0 ? "no kernel uses them"
                      : StrCat(FormatPercent(static_cast<double>(work.on_ns) / static_cast<double>(work.matrix_ns)),
                               " of matrix time does"),
      ".");
  found.evidence = EvidenceOf(work, tables.Get("kernels"), ledger);
  found.recommendations = Recommend(work);
  found.gain = GainOf(work, ledger, found.recommendations[0].fix);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(no_tensor_cores) = {
    .id = "no_tensor_cores",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Matrix work does not use the matrix units",
    .why =
        "Time of matrix products, convolutions and attention in kernels whose names say that they do not use matrix "
        "units, on devices that have them (NVIDIA from compute capability 7.0, AMD Instinct). Speaks from 10 % of "
        "the time; the TensorBoard plugin speaks only when no kernel uses them. Kernels whose names do not tell "
        "are not counted.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless
