// SPDX-License-Identifier: Apache-2.0
// Matches the collectives of a trace with GPU operations, fits latency and bandwidth of the link, and marks gradient
// collectives.
#include "predict/fixes/common/collectives.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/bandwidth.h"
#include "analyses/collective_match.h"
#include "analyses/surroundings.h"
#include "predict/fixes/common/edits.h"

namespace gapless::internal {
namespace {

constexpr int64_t kLargeBytes = int64_t{256} * 1024;  // sums below are losses and statistics, not gradients

std::vector<CollectiveMatch> MatchesOf(const WhatIfInput& input) {
  const CollectiveMatches& matches = input.tables.OnceForRun(MatchPrimary);
  const std::vector<const RunTrace*> traces = input.tables.run().primary();
  for (size_t position = 0; position < traces.size(); ++position)
    if (traces[position]->index == input.of.index) return matches[position];
  return std::vector<CollectiveMatch>(input.trace().collectives.size());
}

// How surely a sum is one of gradients: 3 from a hook, 2 from the backward pass's thread, 1 large, 0 not.
class GradientSigns {
 public:
  GradientSigns(const Trace& trace, const std::vector<uint8_t>& around)
      : trace_(trace), around_(around), runs_backward_(trace.threads.size()) {
    for (size_t row = 0; row < around_.size(); ++row)
      if ((around_[row] & kInAutograd) != 0) runs_backward_[trace.slices.thread[row].value] = 1;
  }

  int Of(const Collective& collective) const {
    if (trace_.Text(trace_.collectives.kind[collective.row]) != "all_reduce") return 0;
    const SliceId launch = trace_.gpu_ops.launch[collective.op];
    if (launch.valid() && (around_[launch.value] & kInAccumulateGrad) != 0) return 3;
    if (launch.valid() && runs_backward_[trace_.slices.thread[launch.value].value] != 0) return 2;
    return collective.bytes >= kLargeBytes ? 1 : 0;
  }

 private:
  const Trace& trace_;
  const std::vector<uint8_t>& around_;  // by slice
  std::vector<uint8_t> runs_backward_;  // by thread
};

void MarkGradients(const WhatIfInput& input, std::vector<Collective>& all) {
  if (all.empty()) return;
  const GradientSigns signs(input.trace(), input.Once(Surroundings));
  int surest = 1;
  for (const Collective& collective : all) surest = std::max(surest, signs.Of(collective));
  for (Collective& collective : all) collective.is_gradient = signs.Of(collective) == surest;
}

}  // namespace

LinkSpeed FitLink(std::span<const LinkSample> samples) {
  std::map<double, double> least;  // ns by bytes
  for (const LinkSample& link_sample : samples) {
    const auto [at, is_new] = least.try_emplace(link_sample.bytes, link_sample.ns);
    at->second = std::min(at->second, link_sample.ns);
  }
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [bytes, ns] : least) n += 1, x += bytes, y += ns, xx += bytes * bytes, xy += bytes * ns;
  LinkSpeed link;
  const double spread = n * xx - x * x, slope = spread > 0 ? (n * xy - x * y) / spread : 0;
  if (least.size() > 1 && slope > 0) {
    const double latency_ns = (y - slope * x) / n;
    return {std::clamp(latency_ns, 0.0, kMaxLatencyNs), latency_ns >= 0 ? slope : xy / xx, true};
  }
  if (x > 0) link.ns_per_byte = std::max(0.0, (y - n * link.latency_ns) / x);
  return link;
}

std::vector<Collective> Collectives::Gradients() const {
  std::vector<Collective> gradients;
  for (const Collective& collective : all)
    if (collective.is_gradient) gradients.push_back(collective);
  return gradients;
}

Collectives FindCollectives(const WhatIfInput& input) {
  const Trace& trace = input.trace();
  const CollectiveTable& table = trace.collectives;
  const std::vector<CollectiveMatch> matches = MatchesOf(input);
  Collectives found;
  std::vector<LinkSample> samples;
  for (uint32_t row = 0; row < table.size(); ++row) {
    const GpuOpId op = table.gpu_op[row];
    found.on_host += op.valid() ? 0 : 1;
    if (!op.valid()) continue;
    Collective one{.row = row, .op = op.value, .step = trace.gpu_ops.step[op.value], .bytes = table.bytes[row]};
    const double factor = BusFactor(trace.Text(table.kind[row]), table.group_size[row]);
    if (one.bytes != kAbsent) one.bus_bytes = (factor > 0 ? factor : 1) * static_cast<double>(one.bytes);
    if (matches[row].transfer_ns != kAbsent) one.wire_ns = std::min(matches[row].transfer_ns, table.dur_ns[row]);
    const int64_t ns = one.wire_ns != kAbsent ? one.wire_ns : table.dur_ns[row];
    if (one.bus_bytes > 0) samples.push_back({one.bus_bytes, static_cast<double>(ns)});
    found.all.push_back(one);
  }
  found.link = FitLink(samples);
  for (Collective& collective : found.all)
    if (collective.wire_ns == kAbsent && collective.bus_bytes > 0)
      collective.wire_ns =
          std::min<int64_t>(table.dur_ns[collective.row],
                            std::llround(found.link.latency_ns + collective.bus_bytes * found.link.ns_per_byte));
  MarkGradients(input, found.all);
  return found;
}

void ScaleTransfers(const Collectives& collectives, double latency_ns, double factor, EdgeTimes& times) {
  std::vector<int64_t> ns(times.graph().op_end.size(), kAbsent);
  for (const Collective& collective : collectives.all) {
    if (collective.wire_ns == kAbsent) continue;
    const double on_link = std::max(0.0, static_cast<double>(collective.wire_ns) - latency_ns);
    ns[collective.op] = std::llround(static_cast<double>(OpNs(times, collective.op)) + (factor - 1) * on_link);
  }
  SetOps(times, ns);
}

ExchangeText CheckGradients(const Collectives& collectives, std::span<const Collective> gradients, bool needs_sizes) {
  if (gradients.empty() && collectives.on_host > 0)
    return {.refusal = "the host carries the collectives: how long they hold up a step was not recorded"};
  if (gradients.empty()) return {.nothing = "no exchange of gradients was recorded"};
  const auto has_size = [](const Collective& collective) { return collective.bus_bytes > 0; };
  if (needs_sizes && !std::all_of(gradients.begin(), gradients.end(), has_size))
    return {.refusal = "the sizes of the exchanges were not recorded"};
  return {};
}

}  // namespace gapless::internal
