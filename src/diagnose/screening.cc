// SPDX-License-Identifier: Apache-2.0
// Drops findings that another one explains, advice that does not fit the program, and all others beside a verdict on
// the recording.
#include "diagnose/screening.h"

#include <algorithm>
#include <initializer_list>

#include "base/strings.h"
#include "diagnose/run_traits.h"

namespace gapless::internal {
namespace {

constexpr double kMinExplained = 0.5;  // share of the waste that a finding must cover to explain it

// The kinds of waste that findings are about; compute is no waste.
enum class WasteKind : uint8_t { kNone, kData, kLaunch, kSync, kHost, kCommunication, kCopy, kUnknown };

WasteKind WasteOf(const Bottleneck& bottleneck) {
  if (bottleneck.part_of == "host_bound") return WasteKind::kHost;
  switch (bottleneck.type) {
    case BottleneckType::kDataLoading: return WasteKind::kData;
    case BottleneckType::kLaunchBound:
    case BottleneckType::kSmallBatch: return WasteKind::kLaunch;
    case BottleneckType::kCpuGpuSync:
    case BottleneckType::kMemoryAllocation: return WasteKind::kSync;
    case BottleneckType::kHostBound:
    case BottleneckType::kRecompilation: return WasteKind::kHost;
    case BottleneckType::kMultiGpuComm: return WasteKind::kCommunication;
    case BottleneckType::kIo: return WasteKind::kCopy;
    case BottleneckType::kStepVariation:
    case BottleneckType::kRecording: return WasteKind::kUnknown;
    case BottleneckType::kKernelEfficiency:
    case BottleneckType::kMemoryBandwidth: break;
  }
  return WasteKind::kNone;
}

// Takes out the finding of rule other_waste where another one is about the same kind of time.
void DropExplainedWaste(std::vector<Bottleneck>& found) {
  const auto waste = std::find_if(found.begin(), found.end(),
                                  [](const Bottleneck& bottleneck) { return bottleneck.id == kOtherWaste; });
  if (waste == found.end()) return;
  const WasteKind kind = WasteOf(*waste);
  const bool explained = std::any_of(found.begin(), found.end(), [&](const Bottleneck& bottleneck) {
    // Copies from pageable memory are a matter of synchronisation and of copying.
    const bool same =
        WasteOf(bottleneck) == kind ||
        (kind == WasteKind::kCopy && (bottleneck.id == "pageable_copies" || bottleneck.id == "needless_copies"));
    return bottleneck.id != kOtherWaste && same &&
           bottleneck.share_of_step.value_or(0) >= kMinExplained * *waste->share_of_step;
  });
  if (explained) found.erase(waste);
}

// Returns advice for a finding whose own advice does not fit the program.
Recommendation LookAt(const Bottleneck& bottleneck) {
  return {StrCat("look at the events named above; `gapless analyze --explain ", bottleneck.id,
                 "` with this recording prints all of them"),
          "", "", ""};
}

// Takes out the advice that is PyTorch's: code that names torch, and compiling a model. What remains is said of any
// program for GPUs; a finding without advice says what to look at.
void DropPyTorchAdvice(Bottleneck& bottleneck) {
  std::erase_if(bottleneck.recommendations, [](const Recommendation& advice) {
    const std::string all = advice.text + " " + advice.code;
    for (const std::string_view word : {"torch", "PYTORCH", "compile", "autocast", "DataLoader", "model", "batch"})
      if (all.find(word) != all.npos) return true;
    return false;
  });
  if (bottleneck.recommendations.empty()) bottleneck.recommendations.push_back(LookAt(bottleneck));
}

bool NamesAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

// Takes out what only CUDA and HIP have: their graphs, their tools, and calls of torch.cuda. The module of Intel's
// devices has the same functions under another name.
void DropCudaAdvice(Bottleneck& bottleneck, bool is_xpu) {
  std::erase_if(bottleneck.recommendations, [](const Recommendation& advice) {
    return NamesAny(advice.text, {"CUDA", "nvidia-smi", "rocm-smi"});
  });
  for (Recommendation& advice : bottleneck.recommendations) {
    for (size_t at = 0; is_xpu && (at = advice.code.find("torch.cuda.", at)) != std::string::npos;)
      advice.code.replace(at, 10, "torch.xpu");
    if (NamesAny(advice.code, {"cuda", "CUDA", "nvidia-smi", "rocm-smi", "NCCL_"})) advice.code.clear();
  }
  if (bottleneck.recommendations.empty()) bottleneck.recommendations.push_back(LookAt(bottleneck));
}

bool Is(const Bottleneck& bottleneck, std::string_view id) { return bottleneck.id == id; }

// A cold start says nothing of later steps, hardly any work nothing at all, and a file that was cut before the device's
// work nothing of what holds the program up: no other advice holds.
void KeepVerdictsOnRecording(const Run& run, std::vector<Bottleneck>& found) {
  const auto has = [&](std::string_view id) {
    return std::any_of(found.begin(), found.end(), [&](const Bottleneck& bottleneck) { return Is(bottleneck, id); });
  };
  const bool starts = has(kWarmUp);
  if (!starts && !has(kTooLittleWork) && !LacksDevicePart(run)) return;
  std::erase_if(found, [&](const Bottleneck& bottleneck) {
    return !JudgesRecording(bottleneck) || (starts && Is(bottleneck, kTooLittleWork));
  });
}

// Work that the recorder lost looks like idle time: where it is not known if a device idles, nothing is said of why.
void DropIdleBesideLostWork(std::vector<Bottleneck>& found) {
  if (std::ranges::none_of(found, [](const Bottleneck& bottleneck) { return Is(bottleneck, kLostWork); })) return;
  std::erase_if(found, [](const Bottleneck& bottleneck) {
    if (JudgesRecording(bottleneck)) return false;
    const WasteKind kind = WasteOf(bottleneck);
    return kind != WasteKind::kNone && kind != WasteKind::kCommunication && kind != WasteKind::kCopy;
  });
}

}  // namespace

bool JudgesRecording(const Bottleneck& bottleneck) {
  return Is(bottleneck, kWarmUp) || Is(bottleneck, kTooLittleWork) || Is(bottleneck, kCutRecording) ||
         Is(bottleneck, kLostWork);
}

void Screen(const Run& run, std::vector<Bottleneck>& found) {
  KeepVerdictsOnRecording(run, found);
  DropIdleBesideLostWork(found);
  DropExplainedWaste(found);
  if (!UsesPyTorch(run))
    for (Bottleneck& bottleneck : found) DropPyTorchAdvice(bottleneck);
  if (UsesOtherDevices(run))
    for (Bottleneck& bottleneck : found) DropCudaAdvice(bottleneck, UsesXpu(run));
}

}  // namespace gapless::internal
