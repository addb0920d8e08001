// SPDX-License-Identifier: Apache-2.0
// Work of the device is missing from the recording: the file ends in the middle, or the recorder lost it.
//
// Recorders write operators and launches before the device's work, so a file that was cut has launches without kernels;
// and a recorder that was not ready (CUPTI on its first steps, a full buffer, missing rights) writes none at all. Such
// a recording must not look like that of a program that does not use its GPU.
#include "analyses/rows/recorded.h"
#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal::cut_recording_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "recorded"};

constexpr uint8_t kCudaMemory = 1;  // c10::DeviceType::CUDA, HIP's too

struct Missing {
  int64_t launches = 0, done = 0;  // launches of kernels and graphs, copies; of them, with work recorded
  bool cut = false;                // some file ends in the middle
  bool device_part = false;        // before the device's work begins
  std::string device_use;          // "aten::cudnn_convolution ran": what needs a device
};

void Count(const RecordedRows& recorded, Missing& missing) {
  for (size_t row = 0; row < recorded.rows(); ++row) {
    missing.launches += recorded.Int(row, "launches"), missing.done += recorded.Int(row, "launches_done");
    if (missing.device_use.empty() && !recorded.IsNull(row, "device_operator"))
      missing.device_use = StrCat(Ellipsize(recorded.Text(row, "device_operator"), 28), " ran");
  }
}

// "Of 40 launches and copies in the file, 3 have no recorded GPU work."
std::string LostText(const Missing& missing) {
  const int64_t lost = missing.launches - missing.done;
  if (missing.launches == 0)
    return missing.device_use.empty() ? "It holds no launch." : "It holds no launch of a kernel.";
  if (missing.launches == 1)
    return lost > 0 ? "The only launch or copy in the file has no recorded GPU work."
                    : "The GPU work of the only launch or copy in the file is recorded.";
  const std::string all = StrCat(FormatCount(missing.launches), " launches and copies in the file");
  if (lost == 0) return StrCat("The GPU work of all ", all, " is recorded.");
  if (lost == missing.launches) return StrCat("None of the ", all, " has recorded GPU work.");
  return StrCat("Of the ", all, ", ", FormatCount(lost), lost == 1 ? " has" : " have", " no recorded GPU work.");
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  Missing missing;
  bool device_work = false;
  for (const RunTrace* run_trace : tables.run().primary()) {
    missing.cut = missing.cut || EndsInTheMiddle(*run_trace->trace);
    device_work = device_work || run_trace->trace->gpu_ops.size() > 0;
  }
  if (device_work && !missing.cut) return std::vector<Bottleneck>{};
  Count(tables.Get<RecordedRows>(), missing);
  // The allocator's events show that tensors were in a device's memory. A snapshot of the allocator, or a timeline of
  // what its memory holds, has nothing else.
  for (const RunTrace* run_trace : tables.run().primary())
    if (run_trace->trace->memory_blocks.size() > 0 || run_trace->trace->info.format == "memory_timeline")
      return std::vector<Bottleneck>{};
  for (const RunTrace* run_trace : tables.run().primary())
    for (const uint8_t type : run_trace->trace->memory_events.device_type)
      if (type == kCudaMemory && missing.device_use.empty()) missing.device_use = "GPU memory was allocated";
  missing.device_part = LacksDevicePart(tables.run());
  const int64_t lost = missing.launches - missing.done;
  const bool nothing = !device_work && (missing.launches > 0 || !missing.device_use.empty());
  if (!nothing && !missing.cut) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.severity = 1;
  const std::string launches = FormatCounted(missing.launches, "launch or copy", "launches and copies");
  found.title = missing.device_part    ? "this recording was cut before the GPU's work: nothing is known of the GPU"
                : missing.cut          ? "this recording was cut: the file ends in the middle"
                : missing.launches > 0 ? StrCat("GPU work is missing: ", launches, ", but no kernel")
                                       : StrCat("GPU work is missing: ", missing.device_use, ", no kernel is recorded");
  found.description = missing.cut ? StrCat("The file ends before the recording does. ", LostText(missing),
                                           missing.device_part ? " Recorders write the host's events first and the "
                                                                 "GPU's last, so how the GPU spent its time is not "
                                                                 "known, nor whether the host held it up."
                                                               : " The report covers the part that is there.")
                                  : StrCat(
                                        "The program used a GPU, but the recording holds none of the GPU's work. How "
                                        "the GPU spent its time is not known.");
  found.evidence.push_back(
      {.text = missing.launches > 0 || missing.device_use.empty() ? LostText(missing) : missing.device_use,
       .value = static_cast<double>(lost),
       .unit = "launches",
       .table = "slice"});
  found.recommendations.push_back(
      missing.cut ? Recommendation{"copy the file again, or record fewer steps", "", "", "minutes"}
                  : Recommendation{StrCat("record again with the GPU: ", RecordDeviceCode(tables.run()),
                                          ", no other profiler attached and at least one warm-up step; `gapless "
                                          "doctor` says whether GPU activity can be recorded here"),
                                   "", "gapless doctor", "minutes"});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(cut_recording) = {
    .id = "cut_recording",
    .type = BottleneckType::kRecording,
    .title = "Work of the GPU is missing from the recording",
    .why =
        "Files that end in the middle, and recordings without work of a GPU that hold launches or copies, or "
        "operators that need a GPU (nccl, cuDNN, MIOpen), or allocations in a GPU's memory. Has no gain: the recording "
        "is to be made or copied again.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::cut_recording_rule
