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
#include "analyses/window.h"
#include "base/strings.h"
#include "predict/fixes/common/edits.h"

namespace gapless::internal {
namespace {

constexpr int64_t kLargeBytes = int64_t{256} * 1024;  // sums below are losses and statistics, not gradients

std::vector<CollectiveMatch> MatchesIn(Tables& tables, const WhatIfInput& input) {
  const CollectiveMatches& matches = tables.OnceForRun(MatchPrimary);
  const std::vector<const RunTrace*> traces = tables.run().primary();
  for (size_t position = 0; position < traces.size(); ++position)
    if (traces[position]->index == input.of.index) return matches[position];
  return std::vector<CollectiveMatch>(input.trace().collectives.size());
}

// Matched over all ranks of the job where the trace has all of its collectives, else over those that are replayed.
std::vector<CollectiveMatch> MatchesOf(const WhatIfInput& input) {
  std::vector<CollectiveMatch> matches = MatchesIn(input.tables.job(), input);
  return matches.size() == input.trace().collectives.size() ? matches : MatchesIn(input.tables, input);
}

bool IsSum(std::string_view kind) { return kind == "all_reduce" || kind == "reduce_scatter"; }

// GradientSigns rates how surely a sum is one of gradients: 3 from a hook, 2 from the backward pass's thread, 1 by its
// size, 0 not.
class GradientSigns {
 public:
  GradientSigns(const Trace& trace, const std::vector<uint8_t>& around)
      : trace_(trace), around_(around), runs_backward_(trace.threads.size()) {
    for (size_t row = 0; row < around_.size(); ++row)
      if ((around_[row] & kInAutograd) != 0) runs_backward_[trace.slices.thread[row].value] = 1, has_backward_ = true;
  }

  bool has_backward() const { return has_backward_; }

  // `many`: a step has so many sums that they are of gradients, whatever their size.
  int Of(const Collective& collective, bool many) const {
    if (!IsSum(trace_.Text(trace_.collectives.kind[collective.row]))) return 0;
    const SliceId launch = trace_.gpu_ops.launch[collective.op];
    if (launch.valid() && (around_[launch.value] & kInAccumulateGrad) != 0) return 3;
    if (launch.valid() && runs_backward_[trace_.slices.thread[launch.value].value] != 0) return 2;
    return many || collective.bytes == kAbsent || collective.bytes >= kLargeBytes ? 1 : 0;
  }

 private:
  const Trace& trace_;
  const std::vector<uint8_t>& around_;  // by slice
  std::vector<uint8_t> runs_backward_;  // by thread
  bool has_backward_ = false;
};

void MarkGradients(const WhatIfInput& input, Collectives& found) {
  if (found.all.empty()) return;
  const Trace& trace = input.trace();
  const GradientSigns signs(trace, input.Once(Surroundings));
  for (const Collective& collective : found.all)
    found.sums += IsSum(trace.Text(trace.collectives.kind[collective.row])) ? 1 : 0;
  const bool many = found.sums >= kManySums * std::max<size_t>(1, AnalysedWindow(trace).steps.size());
  int surest = 1;
  for (const Collective& collective : found.all) surest = std::max(surest, signs.Of(collective, many));
  found.trains = signs.has_backward() || !HasOperators(trace);
  found.is_by_size_alone = surest == 1;
  if (surest == 1 && !found.trains) return;
  for (Collective& collective : found.all) collective.is_gradient = signs.Of(collective, many) == surest;
}

// Communication kernels without a row of their own.
size_t CountUnnamed(const Trace& trace) {
  std::vector<uint8_t> is_named(trace.gpu_ops.size());
  for (const GpuOpId op : trace.collectives.gpu_op)
    if (op.valid()) is_named[op.value] = 1;
  size_t unnamed = 0;
  for (size_t op = 0; op < is_named.size(); ++op)
    unnamed += trace.gpu_ops.op_class[op] == GpuOpClass::kCommunication && is_named[op] == 0 ? 1 : 0;
  return unnamed;
}

// No exchange of gradients is known: is there none?
ExchangeText WhyNone(const Collectives& collectives) {
  if (!collectives.trains) return {.no_effect = "no backward pass was recorded, and so no exchange of its gradients"};
  if (collectives.sums > 0)
    return {.refusal =
                "the recorded sums over the ranks are few and small: whether they are of gradients is not known"};
  if (!collectives.all.empty() || collectives.unnamed > 0)
    return {.refusal = "communication was recorded, but not which of it exchanges gradients"};
  if (collectives.ranks != kAbsent && collectives.ranks > 1)
    return {.refusal = StrCat("this is one of ", collectives.ranks, " ranks, and no communication of it was recorded")};
  return {.no_effect = "no exchange of gradients was recorded"};
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
  MarkGradients(input, found);
  found.unnamed = CountUnnamed(trace);
  found.ranks = trace.info.world_size;
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
  if (gradients.empty()) return WhyNone(collectives);
  const auto has_size = [](const Collective& collective) { return collective.bus_bytes > 0; };
  if (needs_sizes && !std::all_of(gradients.begin(), gradients.end(), has_size))
    return {.refusal = "the sizes of the exchanges were not recorded"};
  return {};
}

std::string AssumptionOfGradients(const Collectives& collectives) {
  return collectives.is_by_size_alone ? "the sums over the ranks are of gradients, which the recording does not show"
                                      : "";
}

}  // namespace gapless::internal
