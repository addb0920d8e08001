// SPDX-License-Identifier: Apache-2.0
// Learns from the graphs of recorded ranks what a simulation of other numbers of ranks needs.
#include "predict/scale_originals.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyses/window.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kGrows = "ranks that a recorded job is simulated with must all exchange with each other";

// Finds the place of a step among the common ones.
class StepPlaces {
 public:
  StepPlaces(const Trace& trace, const std::vector<int64_t>& common) : trace_(trace), of_(trace.steps.size(), -1) {
    for (uint32_t row = 0; row < of_.size(); ++row) {
      const auto at = std::ranges::lower_bound(common, trace.steps.number[row]);
      if (at != common.end() && *at == trace.steps.number[row]) of_[row] = static_cast<int32_t>(at - common.begin());
      begins_.emplace(trace.steps.ts_ns[row], row);
    }
  }
  int32_t Of(StepId step) const { return step.valid() ? of_[step.value] : -1; }
  int32_t At(int64_t ns) const {
    const auto after = begins_.upper_bound(ns);
    if (after == begins_.begin()) return -1;
    const uint32_t row = std::prev(after)->second;
    return ns < trace_.steps.ts_ns[row] + trace_.steps.dur_ns[row] ? of_[row] : -1;
  }

 private:
  const Trace& trace_;
  std::vector<int32_t> of_;
  std::map<int64_t, uint32_t> begins_{};
};

EdgeWork WorkOf(const Trace& trace, const Edge& edge) {
  if (EdgeTimes::IsHostTime(edge.kind)) return EdgeWork::kHost;
  if (!IsDeviceTime(edge.kind) || edge.owner == kNoRowValue) return EdgeWork::kNone;
  const GpuOpClass of = trace.gpu_ops.op_class[edge.owner];
  if (of == GpuOpClass::kCommunication) return EdgeWork::kNone;
  return of == GpuOpClass::kOptimizer ? EdgeWork::kOptimizer : EdgeWork::kDevice;
}

// A step ends when its work on the device is over, and its calls are.
void FindEnds(const Trace& trace, const Graph& graph, const StepPlaces& places, int32_t last, Original& original) {
  const auto add = [&](int32_t step, Instant instant) {
    if (instant == kNoInstant) return;
    if (step == 0) original.opening.push_back(instant);
    if (step == last) original.ending.push_back(instant);
  };
  for (uint32_t op = 0; op < graph.op_end.size(); ++op) add(places.Of(trace.gpu_ops.step[op]), graph.op_end[op]);
  for (uint32_t row = 0; row < graph.slice_end.size(); ++row)
    if (trace.slices.api[row] != ApiKind::kNone) add(places.Of(trace.slices.step[row]), graph.slice_end[row]);
}

}  // namespace

std::vector<int64_t> CommonSteps(const Job& job) {
  std::map<int64_t, size_t> seen;
  for (const RankGraph& rank : job.ranks) {
    const Trace& trace = *rank.of->trace;
    std::set<int64_t> own;
    for (const StepWindow& step : AnalysedWindow(trace).steps) own.insert(trace.steps.number[step.step.value]);
    for (const int64_t number : own) ++seen[number];
  }
  std::vector<int64_t> common;
  for (const auto& [number, ranks] : seen)
    if (ranks == job.ranks.size()) common.push_back(number);
  return common;
}

Original OriginalOf(const RankGraph& rank, std::span<const int64_t> edge_ns, const std::vector<int64_t>& steps) {
  const Trace& trace = *rank.of->trace;
  const Graph& graph = rank.graph;
  const StepPlaces places(trace, steps);
  Original original;
  original.work.resize(graph.edges.size()), original.step.assign(graph.edges.size(), -1);
  original.device_ns.assign(steps.size() - 1, 0), original.host_ns.assign(steps.size() - 1, 0);
  for (Instant instant = 0; instant < graph.size(); ++instant)
    for (uint32_t at = graph.first_edge[instant]; at < graph.first_edge[instant + 1]; ++at) {
      const Edge& edge = graph.edges[at];
      const EdgeWork work = original.work[at] = WorkOf(trace, edge);
      if (work == EdgeWork::kNone || edge_ns[at] <= 0) continue;
      const bool on_host = work == EdgeWork::kHost;
      const int32_t step = !on_host                    ? places.Of(trace.gpu_ops.step[edge.owner])
                           : edge.owner != kNoRowValue ? places.Of(trace.slices.step[edge.owner])
                                                       : places.At(graph.recorded_ns[instant]);
      original.step[at] = step;
      if (step > 0)
        (on_host ? original.host_ns : original.device_ns)[static_cast<size_t>(step) - 1] +=
            static_cast<double>(edge_ns[at]);
    }
  FindEnds(trace, graph, places, static_cast<int32_t>(steps.size()) - 1, original);
  return original;
}

std::string WhyNotEven(const Trace& trace, const Collectives& found, int& ranks) {
  if (found.all.empty() && found.on_host > 0)
    return "the host carries the collectives: how long they hold up a step was not recorded";
  if (found.all.empty() && found.unnamed > 0) return "communication was recorded, but not what it carries";
  if (found.all.empty()) return "no collective was recorded: what an exchange between ranks takes is not known";
  for (const Collective& one : found.all) {
    const std::string_view kind = trace.Text(trace.collectives.kind[one.row]);
    if (kind == "send" || kind == "recv") return StrCat("the job sends between stages of a pipeline: ", kGrows);
    const int32_t size = trace.collectives.group_size[one.row];
    if (size == kAbsent32 || size < 1) return "how many ranks take part in the collectives was not recorded";
    if (size == 1) continue;
    if (ranks > 1 && size != ranks)
      return StrCat("the job communicates within groups of ", std::min(ranks, size), " and of ", std::max(ranks, size),
                    " ranks: ", kGrows);
    ranks = size;
    if (!(one.bus_bytes > 0) || one.wire_ns == kAbsent) return "the sizes of the collectives were not recorded";
  }
  return ranks > 1 ? "" : "the collectives are of one rank: what an exchange between ranks takes is not known";
}

}  // namespace gapless::internal
