// SPDX-License-Identifier: Apache-2.0
// Matrix work that could run on tensor cores (AMD: matrix cores) and does not.
//
// The gain: where the device is known, r is the peak of its matrix units for the new precision over that of the
// ordinary units. Kernels do not follow peaks: memory and layout changes take their part, and what was measured in
// public for training spreads widely around the square root of r (V100: r = 8, about 3 times). So we expect √r, at
// least its square root and at most r^¾; for a device that is not in the table, or is known only by the generation in
// its kernels' names, fixed factors of the same kind. Where the device waits for the host, faster kernels only wait
// longer: the least counts the saving for the busy share of the time only.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyses/device_peaks.h"
#include "analyses/kernel_names.h"
#include "analyses/rows/kernels.h"
#include "analyses/rows/matrix_work.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::no_tensor_cores_rule {
namespace {

// The TensorBoard plugin warns if no kernel uses tensor cores. Many runs use them for some kernels only, so we look at
// the time of matrix kernels known not to use them: the same share at which the plugin warns about exposed
// communication.
constexpr double kNoTensorCoresShare = 0.10;

constexpr std::string_view kNeeds[] = {"ledger", "matrix_work", "kernels"};

// Factors by which matrix kernels become faster: the lowest, the expected and the highest.
struct Factors {
  double low, expected, high;
};
constexpr Factors kHalfPrecision = {1.5, 2.5, 4.0};  // fp32 units to fp16 or bf16 on matrix units
constexpr Factors kTf32 = {1.3, 2.0, 3.0};           // fp32 units to TF32: half the peak of bf16, same memory traffic

constexpr Factors kGuessed = {1.1, 1.5, 4.0};  // device not described: what would be the least is expected

// Returns the type of the products off tensor cores that the rule reports: the type with the most time.
enum class OffType : uint8_t { kFloat32, kFloat64, kOther };

struct Work {
  int64_t off_ns = 0, matrix_ns = 0;  // over devices with matrix units; off_ns of `type` alone
  int64_t on_ns = 0;
  OffType type = OffType::kFloat32;
  std::string device, dtype;
  std::string_view vendor;
  int64_t major = 0,
          minor = 0;  // compute capability; without a description, the lowest major version that kernel names imply
  bool described = true;
  std::vector<int64_t> longest;
};

constexpr int64_t kFirstWithUnits = 7;

// As recorded, else what names of kernels ask for at least; 0: not known.
int64_t ComputeMajor(const MatrixWorkRows& work, size_t row) {
  constexpr MatrixWorkRows::IntColumn kColumns[] = {"compute_major", "least_compute_major"};
  for (const auto column : kColumns)
    if (!work.IsNull(row, column)) return work.Int(row, column);
  return 0;
}

// Matrix units: NVIDIA from compute capability 7.0, except the GTX 16 series (7.5 without); AMD's Instinct MI line.
bool HasMatrixUnits(const MatrixWorkRows& work, size_t row) {
  const std::string_view name = work.Text(row, "device_name");
  if (work.Text(row, "vendor") == "amd" || name.starts_with("AMD")) return name.find("Instinct MI") != name.npos;
  return ComputeMajor(work, row) >= kFirstWithUnits && name.find("GTX 16") == name.npos;
}

// Sets off_ns to the time of the type that takes most. Mixed precision and TF32 are for float32 alone.
void ChooseType(int64_t all_ns, int64_t float32_ns, int64_t float64_ns, Work& work) {
  const int64_t other_ns = all_ns - float32_ns - float64_ns;
  work.off_ns = float32_ns;
  if (float64_ns > work.off_ns) work.off_ns = float64_ns, work.type = OffType::kFloat64;
  if (other_ns > work.off_ns) work.off_ns = other_ns, work.type = OffType::kOther;
}

Work WorkOf(const MatrixWorkRows& table) {
  Work work;
  int64_t off_ns = 0, float32_ns = 0, float64_ns = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!HasMatrixUnits(table, row)) continue;
    off_ns += table.Int(row, "off_units_ns");
    float32_ns += table.Int(row, "off_float32_ns"), float64_ns += table.Int(row, "off_float64_ns");
    work.on_ns += table.Int(row, "on_units_ns");
    work.matrix_ns += table.Int(row, "matrix_ns");
    if (!table.IsNull(row, "gpu_op_id") && work.longest.size() < kMaxRows)
      work.longest.push_back(table.Int(row, "gpu_op_id"));
    const bool described = !table.IsNull(row, "compute_major") || table.Text(row, "vendor") == "amd";
    if (!work.vendor.empty() && (work.described || !described)) continue;  // the first described, else the first
    work.described = described;
    work.device = table.Text(row, "device_name");
    work.dtype = table.Text(row, "dtype");
    work.vendor = described ? table.Text(row, "vendor") : "nvidia";
    work.major = ComputeMajor(table, row), work.minor = described ? table.Int(row, "compute_minor") : 0;
  }
  ChooseType(off_ns, float32_ns, float64_ns, work);
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
  if (!work.described) return kGuessed;
  const double ratio = work.type == OffType::kFloat64 ? DevicePeaks::kNone : PeakRatio(work, tf32);
  if (!(ratio >= 1)) return tf32 ? kTf32 : kHalfPrecision;
  return {std::pow(ratio, 0.25), std::sqrt(ratio), std::pow(ratio, 0.75)};
}

bool IsFloat32(const Work& work) { return work.type == OffType::kFloat32; }
// GeForce cards have TF32 that is no faster than float32.
bool HasTf32(const Work& work) {
  constexpr double kWorthIt = 1.2;
  const double ratio = PeakRatio(work, true);
  return work.vendor == "nvidia" && work.major >= 8 && (std::isnan(ratio) || ratio >= kWorthIt);
}
bool HasBf16(const Work& work) { return work.vendor == "amd" || work.major >= 8; }
// Names of kernels do not distinguish GTX 16 cards from others of compute capability 7.
bool MayLackUnits(const Work& work) { return !work.described && work.device.empty() && work.major == kFirstWithUnits; }

// Returns how the generation is known; "": it was recorded.
std::string GenerationText(const Work& work, const KernelsRows& kernels) {
  if (work.described) return {};
  std::string_view name;
  for (size_t row = 0; row < kernels.rows() && name.empty(); ++row)
    if (LeastComputeMajor(kernels.Text(row, "name")) == work.major) name = kernels.Text(row, "name");
  return StrCat(
      " The recording does not describe the GPU; its generation is read from names of kernels: ", Ellipsize(name, 60),
      " is made for compute capability ", work.major,
      MayLackUnits(work) ? ", which has matrix units on all but GTX 16 cards." : " and newer, which has matrix units.");
}

std::vector<Recommendation> Recommend(const Work& work) {
  std::vector<Recommendation> all;
  if (work.type == OffType::kFloat64)
    return {{"tensors are float64: hardly any model needs more than float32; convert model and data", "",
             "model = model.float(); batch = batch.float()", "minutes"}};
  if (!IsFloat32(work))
    all.push_back({StrCat("tensors are ",
                          work.dtype.empty() || work.dtype == "float" ? "in 16 bits or fewer" : TypeText(work.dtype),
                          " already: make the sizes of channels and features multiples of 8, and use channels_last"),
                   fixes::kChannelsLast.Item(), "model = model.to(memory_format=torch.channels_last)", "hours"});
  const std::string type = HasBf16(work) ? "bfloat16" : "float16";
  const std::string why =
      work.vendor == "nvidia" && !HasBf16(work)
          ? StrCat("; compute capability ", work.major, work.described ? StrCat(".", work.minor) : std::string(),
                   " has matrix units for float16 only")
          : std::string();
  if (IsFloat32(work))
    all.push_back(
        {StrCat(MayLackUnits(work) ? "if the GPU has matrix units, " : "", "use mixed precision: autocast to ", type,
                HasBf16(work) ? "" : " with a gradient scaler", why),
         fixes::kAmp.Item(HasBf16(work) ? "bf16" : "fp16"),
         StrCat("with torch.autocast(\"cuda\", dtype=torch.", type, "):"), "minutes"});
  if (IsFloat32(work) && HasTf32(work))
    all.push_back({"or allow TF32: float32 tensors are multiplied on matrix units, with 10 bits of mantissa",
                   fixes::kTf32.Item(),
                   "torch.set_float32_matmul_precision(\"high\"); torch.backends.cudnn.allow_tf32 = True", "minutes"});
  return all;
}

// Returns nullopt if the name of the kernel does not say what it multiplies.
std::optional<OffType> TypeByName(std::string_view precision) {
  if (precision == "unknown") return std::nullopt;
  if (precision == "fp32" || precision == "tf32") return OffType::kFloat32;
  return precision == "fp64" ? OffType::kFloat64 : OffType::kOther;
}

std::vector<Evidence> EvidenceOf(const Work& work, const KernelsRows& kernels, const LedgerView& ledger) {
  std::vector<Evidence> all;
  const double off_share = static_cast<double>(work.off_ns) / static_cast<double>(work.matrix_ns);
  all.push_back({.text = StrCat(FormatPercent(off_share), " of matrix time runs ",
                                MayLackUnits(work) ? "outside of matrix units"
                                                   : StrCat("outside the matrix units of ",
                                                            work.device.empty() ? "the GPU" : work.device),
                                work.dtype.empty() ? "" : StrCat(", on ", TypeText(work.dtype), " tensors")),
                 .value = off_share,
                 .unit = "share",
                 .table = "gpu_op",
                 .rows = work.longest});
  std::map<std::string_view, std::pair<int64_t, std::vector<int64_t>>> by_name;  // over ranks: time, longest runs
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const std::string_view kind = kernels.Text(row, "class");
    if (kernels.Text(row, "matrix_unit") != "no" || (kind != "gemm" && kind != "conv" && kind != "attention")) continue;
    if (const auto type = TypeByName(kernels.Text(row, "precision")); type && *type != work.type) continue;
    auto& [ns, longest] = by_name[kernels.Text(row, "name")];
    ns += kernels.Int(row, "total_ns");
    if (longest.size() < kMaxRows) longest.push_back(kernels.Int(row, "gpu_op_id"));
  }
  std::vector<std::pair<std::string_view, std::pair<int64_t, std::vector<int64_t>>>> sorted(by_name.begin(),
                                                                                            by_name.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& x, const auto& y) { return x.second.first > y.second.first; });
  constexpr size_t kNamed = 3;
  for (size_t i = 0; i < sorted.size() && i < kNamed; ++i)
    all.push_back({.text = StrCat(Ellipsize(sorted[i].first, 80), ": ", ledger.CostText(sorted[i].second.first)),
                   .value = static_cast<double>(sorted[i].second.first),
                   .unit = "ns",
                   .table = "gpu_op",
                   .rows = sorted[i].second.second});
  return all;
}

Gain GainOf(const Work& work, const LedgerView& ledger, std::string_view fix) {
  const Factors factors = FactorsOf(work, fix == fixes::kTf32.name);
  const auto saved = [&](double factor) { return static_cast<double>(work.off_ns) * (1 - 1 / factor); };
  const double confidence = MayLackUnits(work) ? 0.4 : work.described ? 0.6 : 0.5;
  const double busy = 1 - ledger.Share(ledger.total.idle_ns);
  return EstimateGain({.wall_ns = ledger.total.wall_ns,
                       .low_ns = saved(factors.low) * busy,
                       .expected_ns = saved(factors.expected),
                       .high_ns = saved(factors.high),
                       .confidence = IsFloat32(work) ? confidence : 0.3});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto kernels = tables.Get<KernelsRows>();
  const Work work = WorkOf(tables.Get<MatrixWorkRows>());
  const double share = ledger.Share(work.off_ns);
  if (share < kNoTensorCoresShare) return std::vector<Bottleneck>{};
  // Kernels in float64 that no tensors in double explain are no training: nobody can say that they need less.
  if (work.type == OffType::kFloat64 && work.dtype != "double") return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("matrix kernels take ", ledger.CostText(work.off_ns), " and do not use ",
                       work.described ? "the " : "", "matrix units");
  found.description = StrCat(
      "Products, convolutions and attention that run outside the matrix units take ", FormatPercent(share),
      " of the time; ",
      work.on_ns == 0 ? "no kernel uses them"
                      : StrCat(FormatPercent(static_cast<double>(work.on_ns) / static_cast<double>(work.matrix_ns)),
                               " of matrix time does"),
      ".", GenerationText(work, kernels));
  found.evidence = EvidenceOf(work, kernels, ledger);
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
        "units, on GPUs that have them (NVIDIA from compute capability 7.0, AMD Instinct), of the type that takes most "
        "of it: mixed precision and TF32 are advice for float32 alone. Products of a matrix and a vector are bound by "
        "memory and not counted. Reported at 10 % of the analysed time or more; the TensorBoard plugin reports only "
        "when no kernel uses them. Kernels whose names do not say so are not counted. Where the recording does not "
        "describe the GPU, its generation is read from names of kernels that carry it (volta_…, ampere_…, "
        "cutlass_80_…), and the rule says so.",
    .saves =
        "1 - 1/f of it, with f = r^¼, √r, r^¾ and r the peak of the matrix units over that of the ordinary ones; f = "
        "1.5, 2.5, 4 where the GPU is not in the table (TF32: 1.3, 2, 3), and 1.1, 1.5, 4 where the recording does not "
        "describe it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::no_tensor_cores_rule
