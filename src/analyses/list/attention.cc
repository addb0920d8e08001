// SPDX-License-Identifier: Apache-2.0
// Unfused attention: bmm, scaling and masking, softmax, dropout and bmm as separate kernels on a stream, and the same
// backwards. It writes and reads the matrix of scores several times; scaled dot product attention never does. Grouped
// by the shapes of the softmax and where it is called from.
#include "analyses/rows/attention.h"

#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/op_chains.h"
#include "analyses/open_slice.h"
#include "analyses/surroundings.h"

namespace gapless::internal::attention_analysis {
namespace {

struct Group {
  AttentionPart part = AttentionPart::kForward;
  int64_t calls = 0, device_ns = 0, between_ns = 0, elements = 0, longest_ns = -1;
  SliceId softmax;
  GpuOpId kernel;
  std::string pattern;
};
using Key = std::tuple<AttentionPart, StringId, StringId, StringId>;  // shapes, types, source line of the softmax

class Attention : public ChainSink {
 public:
  explicit Attention(const Trace& trace) : trace_(trace), names_(trace) {}

  void Chain(const OpChain& chain) override {
    const AttentionPart part = names_.PartOf(trace_, chain);
    if (part == AttentionPart::kNone) return;
    const GpuOpTable& ops = trace_.gpu_ops;
    int64_t between = 0;
    for (const ChainLink& link : chain.links) between += link.dur_ns;
    int64_t all = between + ops.dur_ns[chain.before.value] + ops.dur_ns[chain.after.value];
    if (part == AttentionPart::kBackward && names_.IsProduct(trace_, chain.before2))
      all += ops.dur_ns[chain.before2.value];
    const SliceId softmax = SoftmaxOf(chain);
    const SliceTable& slices = trace_.slices;
    Group& group = groups[{part, slices.input_shapes[softmax.value], slices.input_types[softmax.value],
                           slices.source_line[softmax.value]}];
    group.part = part;
    ++group.calls, group.device_ns += all, group.between_ns += between;
    if (all <= group.longest_ns) return;
    group.longest_ns = all, group.softmax = softmax, group.kernel = GpuOpId(chain.links[0].first);
    group.elements = chain.elements;
    group.pattern = PatternOf(chain);
  }

  std::map<Key, Group> groups;

 private:
  SliceId SoftmaxOf(const OpChain& chain) const {
    for (const ChainLink& link : chain.links)
      if (link.name == names_.softmax || link.name == names_.softmax_backward) return link.op;
    return chain.links[0].op;
  }
  std::string PatternOf(const OpChain& chain) const {
    std::string pattern;
    for (const ChainLink& link : chain.links) {
      if (!pattern.empty()) pattern += " > ";
      pattern += trace_.Text(link.name);
    }
    return pattern;
  }

  const Trace& trace_;
  const AttentionNames names_;
};

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<AttentionRows>& table) {
  const Trace& trace = timeline.trace();
  Attention attention(trace);
  FindChains(timeline, tables.Once(trace, Surroundings), attention);
  std::vector<const Group*> ordered;
  for (const auto& [key, group] : attention.groups) ordered.push_back(&group);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Group* a, const Group* b) { return a->device_ns > b->device_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const int64_t wall = timeline.window.span.length() * static_cast<int64_t>(timeline.devices.size());
  for (const Group* group : ordered) {
    const SliceTable& slices = trace.slices;
    const uint32_t softmax = group->softmax.value;
    auto row = table.Row(*timeline.of);
    row.Set("pass", group->part == AttentionPart::kForward ? "forward" : "backward").Set("pattern", group->pattern);
    row.Set("operator", ContextOf(trace, group->softmax).operator_name);
    row.Set("shapes", trace.Text(slices.input_shapes[softmax])).Set("types", trace.Text(slices.input_types[softmax]));
    row.Set("elements", group->elements > 0 ? group->elements : kAbsent).Set("calls", group->calls);
    row.Set("calls_per_step", ShareOf(group->calls, steps)).Set("device_ns", group->device_ns);
    row.Set("between_ns", group->between_ns).Set("share", ShareOf(group->device_ns, wall));
    row.Set("source_line", trace.Text(slices.source_line[softmax])).Set("slice_id", timeline.of->Id(group->softmax));
    row.Set("gpu_op_id", timeline.of->Id(group->kernel));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<AttentionRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(attention) = AnalysisOf<AttentionRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::attention_analysis
