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

class Finder : public ChainSink {
 public:
  Finder(const Trace& trace, const std::vector<uint8_t>& around, KernelSearch& into,
         std::map<std::string, size_t>& by_signature, std::map<std::pair<std::string, std::string>, size_t>& by_refusal)
      : trace_(trace),
        around_(around),
        attention_(trace),
        into_(into),
        by_signature_(by_signature),
        by_refusal_(by_refusal) {}

  void Chain(const OpChain& chain) override {
    if (attention_.PartOf(trace_, chain) != AttentionPart::kNone) return;
    const std::vector<Part>& parts = PartsOf(chain);
    for (const Part& part : parts) {
      int64_t ns = 0, kernels = 0;
      const auto links = chain.links.subspan(part.first, part.count);
      for (const ChainLink& link : links) ns += link.dur_ns, kernels += link.kernels;
      if (part.candidate != kNone) AddTo(into_.candidates[part.candidate], part, chain, links, ns, kernels);
      if (part.refusal != kNone) {
        RefusedOperator& refused = into_.refused[part.refusal];
        ++refused.calls, refused.device_ns += ns;
      }
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Part {
    size_t first = 0, count = 0, candidate = kNone, refusal = kNone;
    std::optional<KernelPlan> plan{};  // of these very shapes
  };

  void AddTo(KernelCandidate& candidate, const Part& part, const OpChain& chain, std::span<const ChainLink> links,
             int64_t ns, int64_t kernels) {
    ++candidate.calls, candidate.kernels += kernels, candidate.device_ns += ns;
    candidate.bytes += part.plan->bytes();
    candidate.begins = candidate.begins && part.first == 0;
    candidate.ends = candidate.ends && part.first + part.count == chain.links.size();
    if (const double peak = PeakOf(chain.device); !std::isnan(peak))
      candidate.bound_ns =
          candidate.bound_ns.value_or(0) + std::llround(static_cast<double>(part.plan->bytes()) / peak);
    if (ns <= longest_[&candidate - into_.candidates.data()]) return;
    longest_[&candidate - into_.candidates.data()] = ns;
    candidate.plan = *part.plan;
    candidate.source_line = trace_.Text(trace_.slices.source_line[links[0].op.value]);
  }

  double PeakOf(int32_t device) const {  // bytes a nanosecond
    const size_t row = FindDevice(trace_.devices, device);
    const DevicePeaks* peaks =
        row < trace_.devices.size() ? FindDevicePeaks(trace_.Text(trace_.devices.name[row])) : nullptr;
    return peaks != nullptr ? peaks->memory_gbps : DevicePeaks::kNone;
  }

  const std::vector<Part>& PartsOf(const OpChain& chain) {
    std::vector<uint32_t> key;
    for (const ChainLink& link : chain.links) {
      const uint32_t op = link.op.value;
      const SliceTable& slices = trace_.slices;
      for (const StringId text :
           {slices.name[op], slices.input_shapes[op], slices.input_types[op], slices.concrete_inputs[op]})
        key.push_back(static_cast<uint32_t>(text));
      key.push_back((around_[op] & kInAutograd) != 0 ? 1 : 0);
    }
    const auto [at, is_new] = known_.try_emplace(std::move(key));
    if (is_new) at->second = Plan(chain.links);
    return at->second;
  }

  std::vector<Part> Plan(std::span<const ChainLink> links) {
    std::vector<std::vector<Input>> inputs;
    for (const ChainLink& link : links) {
      const SliceTable& slices = trace_.slices;
      inputs.push_back(ReadInputs(trace_.Text(slices.input_shapes[link.op.value]),
                                  trace_.Text(slices.input_types[link.op.value]),
                                  trace_.Text(slices.concrete_inputs[link.op.value])));
    }
    std::vector<RecordedOperator> chain;
    for (size_t i = 0; i < links.size(); ++i)
      chain.push_back({.name = trace_.Text(links[i].name),
                       .inputs = inputs[i],
                       .in_backward = (around_[links[i].op.value] & kInAutograd) != 0});
    std::vector<Part> parts;
    for (PlanPart& planned : PlanChain(chain)) {
      Part part{.first = planned.first, .count = planned.count};
      if (planned.plan) {
        part.candidate = CandidateOf(*planned.plan);
        part.plan = std::move(planned.plan);
      } else if (!planned.why_not.empty()) {
        const RecordedOperator& refused = chain[planned.first];
        part.refusal =
            RefusalOf(refused.in_backward ? "the backward pass" : std::string(refused.name), planned.why_not);
      }
      parts.push_back(std::move(part));
    }
    return parts;
  }

  size_t CandidateOf(const KernelPlan& plan) {
    const auto [at, is_new] = by_signature_.try_emplace(plan.Signature(), into_.candidates.size());
    if (is_new) into_.candidates.emplace_back();
    return at->second;
  }
  size_t RefusalOf(std::string name, const std::string& why) {
    const auto [at, is_new] = by_refusal_.try_emplace({name, why}, into_.refused.size());
    if (is_new) into_.refused.push_back({.name = std::move(name), .why = why});
    return at->second;
  }

  const Trace& trace_;
  const std::vector<uint8_t>& around_;
  const AttentionNames attention_;
  KernelSearch& into_;
  std::map<std::string, size_t>& by_signature_;
  std::map<std::pair<std::string, std::string>, size_t>& by_refusal_;
  std::map<std::vector<uint32_t>, std::vector<Part>> known_{};  // by the texts of the chain
  std::map<ptrdiff_t, int64_t> longest_{};                      // by candidate, in this trace
};

template <class T>
void LongestFirst(std::vector<T>& all) {
  std::ranges::stable_sort(all, [](const T& a, const T& b) { return a.device_ns > b.device_ns; });
}

}  // namespace

std::string KernelCandidate::Selector() const { return StrCat(begins ? "^" : "", plan.Pattern(), ends ? "$" : ""); }

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
    FindChains(timeline, tables.Once(trace, Surroundings), finder);
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
