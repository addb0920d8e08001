// SPDX-License-Identifier: Apache-2.0
// Plans each chain whose texts are new, and adds the others to the plan of the same texts.
#include "forge/find.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/device_peaks.h"
#include "analyses/surroundings.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

// Puts the parts of chains to the candidates and refusals of the whole run.
class Finder : public ChainSink {
 public:
  Finder(const Trace& trace, const std::vector<uint8_t>& around, KernelSearch& into,
         std::map<std::string, size_t>& by_signature, std::map<std::pair<std::string, std::string>, size_t>& by_refusal)
      : trace_(trace),
        around_(around),
        planner_(trace, around),
        into_(into),
        by_signature_(by_signature),
        by_refusal_(by_refusal) {}

  void Chain(const OpChain& chain) override {
    for (const PlanPart& part : planner_.PartsOf(chain)) {
      const auto links = chain.links.subspan(part.first, part.count);
      if (part.plan)
        AddTo(CandidateOf(part), part, chain, links);
      else if (!part.why_not.empty())
        AddTo(into_.refused[RefusalOf(links[0], part.why_not)], links[0]);
    }
  }

 private:
  static void AddTo(RefusedOperator& refused, const ChainLink& link) {
    ++refused.calls, refused.device_ns += link.dur_ns;
  }

  void AddTo(size_t index, const PlanPart& part, const OpChain& chain, std::span<const ChainLink> links) {
    KernelCandidate& candidate = into_.candidates[index];
    int64_t ns = 0;
    for (const ChainLink& link : links) ns += link.dur_ns, candidate.kernels += link.kernels;
    const int64_t bytes = part.plan->bytes();
    ++candidate.calls, candidate.device_ns += ns, candidate.bytes += bytes;
    if (const double peak = PeakOf(chain.device); !std::isnan(peak))
      candidate.bound_ns = candidate.bound_ns.value_or(0) + std::llround(static_cast<double>(bytes) / peak);
    int64_t& longest = longest_[index];
    if (ns <= longest) return;
    longest = ns;
    candidate.plan = *part.plan;
    candidate.after = part.first == 0 ? ConvolutionAt(chain.before) : std::string();
    candidate.source_line = trace_.Text(trace_.slices.source_line[links[0].op.value]);
  }

  // Returns the operator of a kernel if it is a convolution.
  std::string ConvolutionAt(GpuOpId kernel) const {
    const SliceId op = kernel.valid() ? trace_.gpu_ops.op[kernel.value] : SliceId();
    if (!op.valid()) return "";
    const std::string_view name = trace_.Text(trace_.slices.name[op.value]);
    return std::string(name.find("conv") != name.npos && (around_[op.value] & kInAutograd) == 0 ? name : "");
  }

  double PeakOf(int32_t device) const {  // bytes a nanosecond
    const size_t row = FindDevice(trace_.devices, device);
    const DevicePeaks* peaks =
        row < trace_.devices.size() ? FindDevicePeaks(trace_.Text(trace_.devices.name[row])) : nullptr;
    return peaks != nullptr ? peaks->memory_gbps : DevicePeaks::kNone;
  }

  size_t CandidateOf(const PlanPart& part) {
    const auto [known, is_new_here] = of_part_.try_emplace(&part, 0);
    if (!is_new_here) return known->second;
    const auto [at, is_new] = by_signature_.try_emplace(part.plan->Signature(), into_.candidates.size());
    if (is_new) into_.candidates.emplace_back();
    return known->second = at->second;
  }

  size_t RefusalOf(const ChainLink& link, const std::string& why) {
    const bool in_backward = (around_[link.op.value] & kInAutograd) != 0;
    std::string name(in_backward ? "the backward pass" : trace_.Text(link.name));
    const auto [at, is_new] = by_refusal_.try_emplace({name, why}, into_.refused.size());
    if (is_new) into_.refused.push_back({.name = std::move(name), .why = why});
    return at->second;
  }

  const Trace& trace_;
  const std::vector<uint8_t>& around_;
  ChainPlanner planner_;
  KernelSearch& into_;
  std::map<std::string, size_t>& by_signature_;
  std::map<std::pair<std::string, std::string>, size_t>& by_refusal_;
  std::map<const PlanPart*, size_t> of_part_{};  // candidate of each
  std::map<size_t, int64_t> longest_{};          // by candidate, in this trace
};

template <class T>
void LongestFirst(std::vector<T>& all) {
  std::ranges::stable_sort(all, [](const T& a, const T& b) { return a.device_ns > b.device_ns; });
}

}  // namespace

const std::vector<PlanPart>& ChainPlanner::PartsOf(const OpChain& chain) {
  static const std::vector<PlanPart> kNone;
  if (attention_.PartOf(trace_, chain) != AttentionPart::kNone) return kNone;
  std::vector<uint32_t> key;
  const SliceTable& slices = trace_.slices;
  for (const ChainLink& link : chain.links) {
    const uint32_t op = link.op.value;
    for (const StringId text :
         {slices.name[op], slices.input_shapes[op], slices.input_types[op], slices.concrete_inputs[op]})
      key.push_back(static_cast<uint32_t>(text));
    key.push_back((around_[op] & kInAutograd) != 0 ? 1 : 0);
  }
  const auto [at, is_new] = known_.try_emplace(std::move(key));
  if (is_new) at->second = Plan(chain.links);
  return at->second;
}

std::vector<PlanPart> ChainPlanner::Plan(std::span<const ChainLink> links) const {
  std::vector<std::vector<Input>> inputs;
  const SliceTable& slices = trace_.slices;
  for (const ChainLink& link : links) {
    const uint32_t op = link.op.value;
    inputs.push_back(ReadInputs(trace_.Text(slices.input_shapes[op]), trace_.Text(slices.input_types[op]),
                                trace_.Text(slices.concrete_inputs[op])));
  }
  std::vector<RecordedOperator> chain;
  for (size_t i = 0; i < links.size(); ++i)
    chain.push_back({.name = trace_.Text(links[i].name),
                     .inputs = inputs[i],
                     .in_backward = (around_[links[i].op.value] & kInAutograd) != 0});
  return PlanChain(chain);
}

KernelSearch FindKernels(Tables& tables) {
  KernelSearch search;
  std::map<std::string, size_t> by_signature;
  std::map<std::pair<std::string, std::string>, size_t> by_refusal;
  bool has_operators = false, has_shapes = false;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const Trace& trace = timeline.trace();
    search.steps += static_cast<int64_t>(timeline.window.steps.size());
    for (uint32_t row = 0; row < trace.gpu_ops.size() && !has_shapes; ++row) {
      const SliceId op = trace.gpu_ops.op[row];
      has_operators = has_operators || op.valid();
      has_shapes = op.valid() && trace.slices.input_shapes[op.value] != StringId::kNone;
    }
    Finder finder(trace, tables.Once(trace, Surroundings), search, by_signature, by_refusal);
    FindChains(timeline, tables.Once(trace, Surroundings), finder, PoolLinks::kYes);
  }
  if (!has_operators)
    search.why_none = "the recording has no GPU kernel whose operator is known";
  else if (!has_shapes)
    search.why_none = "shapes of operators were not recorded: record with record_shapes=True";
  for (KernelCandidate& candidate : search.candidates)
    if (search.steps > 0)
      candidate.calls_per_step = static_cast<double>(candidate.calls) / static_cast<double>(search.steps);
  LongestFirst(search.candidates);
  LongestFirst(search.refused);
  return search;
}

}  // namespace gapless::internal
