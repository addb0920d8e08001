// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kOther = "other_waste";
constexpr double kLeastExplained = 0.5;  // of the waste, what a finding must be about to explain it

}  // namespace

Result<std::vector<Bottleneck>> CheckRule(const Rule& rule, Tables& tables) {
  Result<std::vector<Bottleneck>> found = rule.check(tables);
  if (!found) return found;
  for (Bottleneck& one : *found) {
    one.id = rule.id;
    if (rule.id != kOther) one.type = rule.type;
    if (!one.share_of_step) continue;
    // Sums of kernels that run at once can pass the time there is.
    one.share_of_step = std::min(*one.share_of_step, 1.0);
    if (one.severity == 0) one.severity = SeverityOfShare(*one.share_of_step);
  }
  return found;
}

namespace {

// The kinds of the ledger's waste that findings are about; compute is none of them.
enum class WasteKind : uint8_t { kNone, kData, kLaunch, kSync, kHost, kCommunication, kCopy, kUnknown };

WasteKind WasteOf(const Bottleneck& one) {
  if (one.part_of == "host_bound") return WasteKind::kHost;
  switch (one.type) {
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
  const auto waste = std::find_if(found.begin(), found.end(), [](const Bottleneck& one) { return one.id == kOther; });
  if (waste == found.end()) return;
  const WasteKind kind = WasteOf(*waste);
  const bool explained = std::any_of(found.begin(), found.end(), [&](const Bottleneck& one) {
    // Copies from pageable memory are a matter of synchronisation and of copying.
    const bool same = WasteOf(one) == kind ||
                      (kind == WasteKind::kCopy && (one.id == "pageable_copies" || one.id == "needless_copies"));
    return one.id != kOther && same && one.share_of_step.value_or(0) >= kLeastExplained * *waste->share_of_step;
  });
  if (explained) found.erase(waste);
}

const Recommendation kLook{"look at the events named above: `gapless analyze --explain` prints all", "", "", ""};

// Takes out the advice that is PyTorch's: code that names torch, and compiling a model. What remains is said of any
// program for GPUs; a finding without advice says what to look at.
void DropPyTorchAdvice(Bottleneck& one) {
  std::erase_if(one.recommendations, [](const Recommendation& advice) {
    const std::string all = advice.text + " " + advice.code;
    for (const std::string_view word : {"torch", "PYTORCH", "compile", "autocast", "DataLoader", "model", "batch"})
      if (all.find(word) != all.npos) return true;
    return false;
  });
  if (one.recommendations.empty()) one.recommendations.push_back(kLook);
}

// Takes out what only CUDA and HIP have: their graphs, and calls of torch.cuda.
void DropCudaAdvice(Bottleneck& one) {
  std::erase_if(one.recommendations,
                [](const Recommendation& advice) { return advice.text.find("CUDA") != std::string::npos; });
  for (Recommendation& advice : one.recommendations)
    if (advice.code.find("cuda") != std::string::npos || advice.code.find("CUDA") != std::string::npos)
      advice.code.clear();
  if (one.recommendations.empty()) one.recommendations.push_back(kLook);
}

}  // namespace

bool RanksBefore(const Bottleneck& a, const Bottleneck& b) {
  const auto judges_recording = [](const Bottleneck& one) {
    return one.id == "warm_up" || one.id == "too_little_work" || one.id == "cut_recording";
  };
  const bool a_first = judges_recording(a), b_first = judges_recording(b);
  if (a_first != b_first) return a_first;
  const double a_gain = a.gain ? a.gain->expected : 1, b_gain = b.gain ? b.gain->expected : 1;
  return a_gain != b_gain ? a_gain > b_gain : a.severity > b.severity;
}

Diagnosis Diagnose(Tables& tables) {
  Diagnosis diagnosis;
  std::vector<std::string_view> needs;
  for (const Rule* rule : AllRules()) needs.insert(needs.end(), rule->needs.begin(), rule->needs.end());
  tables.Prepare(std::move(needs));
  for (const Rule* rule : AllRules()) {
    Result<std::vector<Bottleneck>> found = CheckRule(*rule, tables);
    if (!found) {
      diagnosis.failures.push_back({rule->id, found.error()});
      continue;
    }
    for (Bottleneck& one : *found) diagnosis.bottlenecks.push_back(std::move(one));
  }
  // A cold start says nothing of later steps, and hardly any work nothing at all: no other advice holds.
  const auto is_cold = [](const Bottleneck& one) { return one.id == "warm_up" || one.id == "too_little_work"; };
  if (std::any_of(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(), is_cold))
    std::erase_if(diagnosis.bottlenecks,
                  [](const Bottleneck& one) { return one.type != BottleneckType::kRecording || one.id == kOther; });
  const auto is_warm_up = [](const Bottleneck& one) { return one.id == "warm_up"; };
  if (std::any_of(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(), is_warm_up))
    std::erase_if(diagnosis.bottlenecks, [](const Bottleneck& one) { return one.id == "too_little_work"; });
  DropExplainedWaste(diagnosis.bottlenecks);
  if (!UsesPyTorch(tables.run()))
    for (Bottleneck& one : diagnosis.bottlenecks) DropPyTorchAdvice(one);
  if (UsesOtherDevices(tables.run()))
    for (Bottleneck& one : diagnosis.bottlenecks) DropCudaAdvice(one);
  const auto is_found = [&](const std::string& id) {
    return std::any_of(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(),
                       [&](const Bottleneck& one) { return one.id == id; });
  };
  for (Bottleneck& one : diagnosis.bottlenecks)
    if (!is_found(one.part_of)) one.part_of.clear();
  std::stable_sort(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(), RanksBefore);
  return diagnosis;
}

}  // namespace gapless::internal
