// SPDX-License-Identifier: Apache-2.0
// Judges each distinct name of a recording once, by parts that only one kind of program has.
#include "trace/workload.h"

#include <algorithm>

#include "trace/formats.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr size_t kOperatorsOfAModel = 10;  // different ones; fewer are a loop of a few operators, whatever it is for

struct NamePart {
  std::string_view part;
  Workload shows;
};
// Parts of names of operators, annotations and kernels that only such a run has.
constexpr NamePart kNameParts[] = {
    {"reshape_and_cache", Workload::kServing}, {"store_kvcache", Workload::kServing},
    {"paged_attention", Workload::kServing},   {"autograd::engine", Workload::kTraining},
    {"Optimizer.step#", Workload::kTraining},  {"_bwd_kernel", Workload::kTraining},
    {"bwd_kernel", Workload::kTraining},       {"_wgrad", Workload::kTraining},
    {"_dgrad", Workload::kTraining},           {"multi_tensor_apply", Workload::kTraining}};
// Folders of serving engines, in Python frames.
constexpr std::string_view kEngines[] = {"vllm/v1/", "vllm/worker/", "vllm/engine/", "sglang/srt/",
                                         "tensorrt_llm/_torch/pyexecutor/"};

Workload WorkloadOfName(std::string_view name) {
  if (IsEngineIteration(name)) return Workload::kServing;
  for (const NamePart& item : kNameParts)
    if (name.find(item.part) != name.npos) return item.shows;
  if (IsBackward(name)) return Workload::kTraining;
  return name.starts_with("aten::") ? Workload::kInference : Workload::kUnknown;
}

bool IsEngineFrame(std::string_view frame) {
  return std::any_of(std::begin(kEngines), std::end(kEngines),
                     [&](std::string_view engine) { return frame.find(engine) != frame.npos; });
}

}  // namespace

std::string_view EnvironmentOf(const Trace& trace, std::string_view key) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == key) return trace.Text(trace.environment.value[row]);
  return {};
}

std::string_view TrainingLoaderOf(const Trace& trace) {
  std::string_view first;
  for (size_t row = 0; row < trace.environment.size(); ++row) {
    if (!trace.Text(trace.environment.key[row]).starts_with("loader.")) continue;
    const std::string_view settings = trace.Text(trace.environment.value[row]);
    if (settings.find("\"SequentialSampler\"") == settings.npos) return settings;
    if (first.empty()) first = settings;
  }
  return first;
}

bool LoadsData(const Trace& trace) { return EnvironmentOf(trace, kAgentRoleKey) == kRoleLoads; }

bool IsBackward(std::string_view name) {
  if (name.starts_with("aten::")) return name.find("_backward") != name.npos;
  const size_t at = name.find("Backward");
  if (at == name.npos) return false;
  const std::string_view rest = name.substr(at + 8);
  return rest.empty() || !((rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z') || rest[0] == '_');
}

void WorkloadSigns::Add(const Trace& trace) {
  AnyNameIn(trace, [&](std::string_view name, bool frame) {
    if (frame) return serves_ = serves_ || IsEngineFrame(name), false;
    const Workload shows = WorkloadOfName(name);
    serves_ = serves_ || shows == Workload::kServing, trains_ = trains_ || shows == Workload::kTraining;
    if (shows == Workload::kInference) operators_.insert(name);
    return false;
  });
}

Workload WorkloadSigns::workload() const {
  if (serves_) return Workload::kServing;
  if (trains_) return Workload::kTraining;
  return operators_.size() >= kOperatorsOfAModel ? Workload::kInference : Workload::kUnknown;
}

JobPart PartOf(const Trace& trace) {
  if (const std::string_view role = EnvironmentOf(trace, kAgentRoleKey); !role.empty())
    return role == kRoleTrains ? JobPart::kTrains : role == kRoleOnlyInfers ? JobPart::kOnlyCalls : JobPart::kOther;
  bool calls = false;
  const bool trains = AnyNameIn(trace, [&](std::string_view name, bool frame) {
    const Workload shows = frame ? Workload::kUnknown : WorkloadOfName(name);
    calls = calls || shows == Workload::kInference || shows == Workload::kServing;
    return shows == Workload::kTraining;
  });
  return trains ? JobPart::kTrains : calls ? JobPart::kOnlyCalls : JobPart::kUnknown;
}

std::string_view ToString(Workload workload) {
  switch (workload) {
    case Workload::kTraining: return "training";
    case Workload::kInference: return "inference";
    case Workload::kServing: return "serving";
    case Workload::kUnknown: break;
  }
  return {};
}

}  // namespace gapless::internal
