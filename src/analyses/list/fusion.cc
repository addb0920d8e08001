// SPDX-License-Identifier: Apache-2.0
// Chains that a compiler could fuse into one kernel: elementwise operators, reductions and normalisations
// (op_chains.h), by the operators in them. A chain that begins with a batch normalisation right after a convolution is
// a kind of its own: for inference the normalisation can be folded into the convolution's weights. Unfused attention
// has its own table.
//
// `removable_ns` is what a perfect fusion would save: of n links that read and write the same tensors one remains, so
// (n−1)/n of the time. What is kept for the backward pass must still be written, so less goes in training.
#include "analyses/rows/fusion.h"

#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/op_chains.h"
#include "analyses/surroundings.h"

namespace gapless::internal::fusion_analysis {
namespace {

struct Group {
  std::vector<StringId> names;
  bool conv_norm = false;
  int64_t calls = 0, kernels = 0, device_ns = 0, longest_ns = -1, elements = 0, bytes = 0, first_ns = 0;
  SliceId op;
  GpuOpId kernel;
};

class Fusion : public ChainSink {
 public:
  explicit Fusion(const Trace& trace)
      : trace_(trace), attention_(trace), is_batch_norm_(trace.strings.size(), kUnseen) {}

  void Chain(const OpChain& chain) override {
    const bool conv_norm = AfterConvolution(chain) && IsBatchNorm(chain.links[0].name);
    if (!conv_norm && chain.links.size() < 2) return;
    if (attention_.PartOf(trace_, chain) != AttentionPart::kNone) return;
    int64_t device_ns = 0, kernels = 0, bytes = 0;
    for (const ChainLink& link : chain.links) device_ns += link.dur_ns, kernels += link.kernels, bytes += link.bytes;
    Group& group = GroupOf(chain, conv_norm);
    group.bytes += bytes, group.first_ns += chain.links[0].dur_ns;
    ++group.calls, group.kernels += kernels, group.device_ns += device_ns;
    if (device_ns <= group.longest_ns) return;
    group.longest_ns = device_ns, group.elements = chain.elements;
    group.op = chain.links[0].op, group.kernel = GpuOpId(chain.links[0].first);
  }

  std::vector<Group> groups;

 private:
  static constexpr uint8_t kUnseen = 2;

  bool AfterConvolution(const OpChain& chain) const {
    return chain.before.valid() && trace_.gpu_ops.op_class[chain.before.value] == GpuOpClass::kConv;
  }
  bool IsBatchNorm(StringId name) {
    uint8_t& is = is_batch_norm_[static_cast<uint32_t>(name)];
    if (is == kUnseen) {
      const std::string_view text = trace_.Text(name);
      is = text.ends_with("batch_norm") ? 1 : 0;
    }
    return is != 0;
  }

  static bool Same(const Group& group, const OpChain& chain, bool conv_norm) {
    return group.conv_norm == conv_norm &&
           std::equal(group.names.begin(), group.names.end(), chain.links.begin(), chain.links.end(),
                      [](StringId a, const ChainLink& b) { return a == b.name; });
  }

  Group& GroupOf(const OpChain& chain, bool conv_norm) {
    uint64_t hash = conv_norm ? 1 : 2;
    for (const ChainLink& link : chain.links)
      hash = (hash ^ static_cast<uint32_t>(link.name)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32;
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (Same(groups[at->second], chain, conv_norm)) return groups[at->second];
    by_hash_.emplace(hash, groups.size());
    Group& group = groups.emplace_back();
    group.conv_norm = conv_norm;
    for (const ChainLink& link : chain.links) group.names.push_back(link.name);
    return group;
  }

  const Trace& trace_;
  const AttentionNames attention_;
  std::vector<uint8_t> is_batch_norm_;  // by name
  std::unordered_multimap<uint64_t, size_t> by_hash_;
};

std::string PatternOf(const Trace& trace, const Group& group) {
  std::string pattern;
  for (const StringId name : group.names) {
    if (!pattern.empty()) pattern += " > ";
    pattern += trace.Text(name);
  }
  return pattern;
}

int64_t DeviceWork(const TraceTimeline& timeline) {
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  const RowRange rows = RowsWithin(ops.ts_ns, timeline.window.span);
  int64_t sum = 0;
  for (size_t row = rows.first; row < rows.last; ++row) sum += ops.dur_ns[row];
  return sum;
}

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<FusionRows>& table) {
  const Trace& trace = timeline.trace();
  Fusion fusion(trace);
  FindChains(timeline, tables.Once(trace, Surroundings), fusion);
  std::stable_sort(fusion.groups.begin(), fusion.groups.end(),
                   [](const Group& a, const Group& b) { return a.device_ns > b.device_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const int64_t device_work = DeviceWork(timeline);
  for (const Group& group : fusion.groups) {
    const auto links = static_cast<int64_t>(group.names.size());
    auto row = table.Row(*timeline.of);
    row.Set("kind", group.conv_norm ? "conv_norm" : "chain").Set("pattern", PatternOf(trace, group));
    row.Set("links", links).Set("calls", group.calls).Set("calls_per_step", ShareOf(group.calls, steps));
    row.Set("kernels", group.kernels).Set("device_ns", group.device_ns).Set("first_ns", group.first_ns);
    row.Set("removable_ns", group.device_ns * (links - 1) / links).Set("share", ShareOf(group.device_ns, device_work));
    row.Set("bytes", group.bytes > 0 ? group.bytes : kAbsent);
    row.Set("elements", group.elements > 0 ? group.elements : kAbsent);
    row.Set("source_line", trace.Text(trace.slices.source_line[group.op.value]));
    row.Set("slice_id", timeline.of->Id(group.op)).Set("gpu_op_id", timeline.of->Id(group.kernel));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<FusionRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(fusion) = AnalysisOf<FusionRows>({.run = Compute});

}  // namespace gapless::internal::fusion_analysis
