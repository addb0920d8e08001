// SPDX-License-Identifier: Apache-2.0
// The same program on another GPU of the table of devices (data/devices.csv).
//
// Model. Each kernel by wave scaling (Habitat, Yu et al., ATC 2021), from the device s to the device d:
//
//   time × (bandwidth_s / bandwidth_d)^g × (speed_s / speed_d)^(1 − g)
//
// with the speed of the units it uses, tensor cores for its type or ordinary units, which is what Habitat's clocks and
// numbers of multiprocessors come to. g says how much of it is memory: with x FLOPs for a byte and a ridge of R on d, 1
// − x / 2R below the ridge and R / 2x above. Work that the inputs of an operator do not give is taken as bound by
// memory; matrix work as twice beyond the ridge. A kernel with fewer blocks than either device has multiprocessors
// gains from what one of them computes, not from more of them. The first 2 µs of a kernel stay. Copies to and from the
// host by the generations of PCIe, transfers between devices by their links. The host is expected to stay; but another
// GPU comes in another machine, whose host may take two thirds or one and a half times as long: 1.47 times was measured
// between the hosts of two A100 (vadd_gpu in bench/gpu_pairs.toml).
//
// Prior. Habitat predicts a step within 11.8 % in the mean over six GPUs, which makes 19 % either way of 80 % of the
// errors. It has learnt models for matrix work, since libraries choose other kernels there on each device, and we have
// none: 35 %.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/device_peaks.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/device.h"
#include "predict/fixes/common/op_inputs.h"

namespace gapless::internal::gpu_fix {
namespace {

constexpr double kError = 1.19, kMatrixError = 1.35;
constexpr double kFixedNs = 2'000;           // time of an empty kernel, which is about the same on any device
constexpr double kOtherHost = 1.5;           // a processor of another generation or clock
constexpr double kUnknownMatrixWork = 0.25;  // g at twice the ridge

// Finds a GPU by what recorders call it, or by our name or the only one that begins so.
Result<const DevicePeaks*> Wanted(const std::string& name) {
  if (const DevicePeaks* found = FindDevicePeaks(name); found != nullptr) return found;
  std::vector<const DevicePeaks*> begin;
  std::vector<std::string_view> names;
  for (const DevicePeaks& device_peaks : AllDevicePeaks()) {
    if (EqualsIgnoreCase(device_peaks.name, name)) return &device_peaks;
    if (!name.empty() && EqualsIgnoreCase(device_peaks.name.substr(0, name.size()), name))
      begin.push_back(&device_peaks);
    names.push_back(device_peaks.name);
    names.insert(names.end(), device_peaks.names.begin(), device_peaks.names.end());
  }
  if (begin.size() == 1) return begin[0];
  std::vector<std::string> several;
  for (const DevicePeaks* device_peaks : begin) several.emplace_back(device_peaks->name);
  const std::string_view nearest = Nearest(name, names);
  return Fail(ErrorCode::kUsage, StrCat("the table of devices has no GPU '", Printable(name), "'"), "",
              !several.empty()   ? StrCat("one of: ", Join(several, ", "))
              : !nearest.empty() ? StrCat("did you mean ", nearest, "?")
                                 : "");
}

// TFLOP/s of what a kernel uses; what has no such units computes on ordinary ones.
double SpeedOf(const DevicePeaks& peaks, bool matrix, ElementType type, MatrixUnit unit) {
  if (!matrix) return type == ElementType::kFp64 && peaks.fp64 > 0 ? peaks.fp64 : peaks.fp32;
  const bool half = type == ElementType::kFp16 || type == ElementType::kBf16 || type == ElementType::kFp8;
  if (unit == MatrixUnit::kUnknown) unit = half ? MatrixUnit::kYes : MatrixUnit::kNo;
  if (type == ElementType::kUnknown) type = unit == MatrixUnit::kYes ? ElementType::kFp16 : ElementType::kFp32;
  const double peak = PeakTflops(peaks, WorkKind::kGemm, type, unit);
  return peak > 0 ? peak : peaks.fp32;
}

double Ratio(double from, double to) { return from > 0 && to > 0 ? from / to : 1; }

class Swap {
 public:
  Swap(const Trace& trace, const DevicePeaks& from, const DevicePeaks& to)
      : ops_(trace.gpu_ops), inputs_(trace), from_(from), to_(to) {}

  // On the time of an operation; collectives stay.
  double Factor(uint32_t op, Estimate estimate) {
    if (ops_.op_class[op] == GpuOpClass::kCommunication) return 1;
    if (ops_.kind[op] != GpuOpKind::kKernel) return CopyFactor(ops_.copy_kind[op]);
    const double error = IsMatrixWork(ops_.op_class[op]) ? kMatrixError : kError;
    return OfWork(op, KernelFactor(op) * ValueFor(estimate, error, 1, 1 / error));
  }

 private:
  double CopyFactor(CopyKind kind) const {
    switch (kind) {
      case CopyKind::kNone:
      case CopyKind::kDtoD: return Ratio(from_.memory_gbps, to_.memory_gbps);
      case CopyKind::kPtoP: return Ratio(from_.link_gbps, to_.link_gbps);
      default: return from_.pcie > 0 && to_.pcie > 0 ? std::exp2(from_.pcie - to_.pcie) : 1;
    }
  }

  // A kernel takes some time to start and to end on any device, which is most of a short one.
  double OfWork(uint32_t op, double factor) const {
    const auto ns = static_cast<double>(ops_.dur_ns[op]);
    return ns > kFixedNs ? (kFixedNs + (ns - kFixedNs) * factor) / ns : 1;
  }

  double KernelFactor(uint32_t op) {
    const bool matrix = IsMatrixWork(ops_.op_class[op]);
    const Work work = inputs_.WorkOf(ops_.op[op]);
    const ElementType type = work.type != ElementType::kUnknown ? work.type : inputs_.TypeOf(ops_.op[op]);
    const double from = SpeedOf(from_, matrix, type, ops_.matrix_unit[op]),
                 to = SpeedOf(to_, matrix, type, ops_.matrix_unit[op]);
    const double intensity = work.flops / work.bytes, ridge = 1e3 * to / to_.memory_gbps;
    double memory = matrix ? kUnknownMatrixWork : 1;
    if (intensity >= 0) memory = intensity <= ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
    const auto blocks = static_cast<double>(ops_.blocks_per_sm[op]);
    const double multiprocessors = Ratio(from_.sm_count, to_.sm_count);
    if (blocks > 0 && blocks < 1 && blocks * multiprocessors < 1)
      return std::pow(Ratio(from, to) / multiprocessors, 1 - memory);
    return std::pow(Ratio(from_.memory_gbps, to_.memory_gbps), memory) * std::pow(Ratio(from, to), 1 - memory);
  }

  const GpuOpTable& ops_;
  OpInputs inputs_;
  const DevicePeaks &from_, &to_;
};

// The device that the recording ran on; a refusal: it is not known.
const DevicePeaks* Recorded(const Trace& trace, std::string& refusal) {
  const DevicePeaks* found = nullptr;
  const std::vector<int32_t> worked = WorkedDevices(trace);
  for (size_t row = 0; row < trace.devices.size(); ++row) {
    const std::string_view name = trace.Text(trace.devices.name[row]);
    const bool works = std::ranges::binary_search(worked, trace.devices.device[row]);
    if (name.empty() || !works) continue;
    found = FindDevicePeaks(name);
    if (found == nullptr) refusal = StrCat("the recorded GPU, ", Printable(name), ", is not in the table of devices");
    if (found != nullptr && !(found->memory_gbps > 0 && found->fp32 > 0))
      refusal = StrCat("the table of devices lacks figures of ", found->name);
    return found;
  }
  refusal = "the name of the recorded GPU was not recorded";
  return nullptr;
}

int64_t MostReservedBytes(const Trace& trace) {
  int64_t most = kAbsent;
  for (size_t row = 0; row < trace.memory_events.size(); ++row)
    if (trace.memory_events.device_type[row] != 0) most = std::max(most, trace.memory_events.total_reserved[row]);
  return most;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto wanted, Wanted(item.value));
  const DevicePeaks& to = *wanted;
  const Trace& trace = input.trace();
  WhatIfEffect effect;
  const DevicePeaks* from = Recorded(trace, effect.refusal);
  const int64_t reserved = MostReservedBytes(trace);
  if (effect.refusal.empty() && !(to.memory_gbps > 0 && to.fp32 > 0))
    effect.refusal = StrCat("the table of devices lacks figures of ", to.name);
  if (effect.refusal.empty() && to.memory_gb > 0 && static_cast<double>(reserved) > 1e9 * to.memory_gb)
    effect.refusal = StrCat("the training held ", FormatBytes(reserved), ", and ", to.name, " has less memory");
  if (effect.refusal.empty() && from == &to) effect.no_effect = StrCat("it ran on ", to.name, " already");
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  Swap swap(trace, *from, to);
  times.ScaleOps([&](uint32_t op) { return swap.Factor(op, estimate); });
  if (estimate != Estimate::kExpected)
    times.ScaleHost([&](uint32_t) { return ValueFor(estimate, kOtherHost, 1, 1 / kOtherHost); });
  const Collectives collectives = FindCollectives(input);
  ScaleTransfers(collectives, collectives.link.latency_ns, Ratio(from->link_gbps, to.link_gbps), times);
  effect.assumptions.push_back(StrCat("libraries have kernels as good for ", to.name, " as for ", from->name));
  if (!collectives.all.empty() && !(from->link_gbps > 0 && to.link_gbps > 0))
    effect.assumptions.emplace_back("collectives take as long: no link is known of both devices");
  effect.assumptions.emplace_back("the host of the other machine is as fast as this one, within a factor of 1.5");
  return effect;
}

}  // namespace

FIX(gpu) = {
    .name = "gpu",
    .help = "Move the program to another GPU: H100 SXM5, A100 PCIe 80GB",
    .safety = Safety::kHardware,
    .model = {.value = "NAME",
              .why = "Each kernel by wave scaling (Habitat, Yu et al., ATC 2021) with the table of devices: bandwidth, "
                     "speed of the units it uses, multiprocessors. Copies by the generation of PCIe, transfers by the "
                     "links; the host takes as long, within a factor of 1.5. Errors of 19 % either way for other work, "
                     "35 % for matrix work, of which libraries choose other kernels.",
              .apply = Apply}};

}  // namespace gapless::internal::gpu_fix
