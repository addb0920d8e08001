// SPDX-License-Identifier: Apache-2.0
// Gradients are all-reduced in buckets of MiB mebibytes (DDP's bucket_cap_mb).
//
// Model. A bucket leaves when its last gradient is there, and takes latency + bytes on the bus × time per byte
// (common/collectives.h). Larger buckets save latency and leave later; the last one, which nothing hides, grows.
// Smaller ones leave earlier and cost latency. DDP orders gradients by when they are ready, so a step's buckets are cut
// anew from one row of bytes, of which recorded buckets say when each part was ready:
//
//   ready     ·····|··········|··········|······|     recorded ends of the kernels before each exchange
//   bytes     0    1          26         51     64    the first bucket stays: DDP makes it small
//   MiB=50    |----|---------------------------|----|
//
// An operation keeps its place in the graph. It takes as long as the new buckets that end in its stretch of bytes still
// need when it begins, and nothing when none ends there. What a rank waits for others stays with it.
//
// Prior. Latency and speed are fitted to the recording. The latency is the less certain one: half to twice what was
// fitted, with the time of the recorded exchanges kept.
//
// Trial. Both directions are tried: smaller buckets start earlier, larger ones need fewer exchanges.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::ddp_bucket_fix {
namespace {

constexpr double kMiB = 1024.0 * 1024, kMaxBuckets = 10'000;

// When the device was done with what a thread had launched before an instant.
class Readiness {
 public:
  explicit Readiness(const Trace& trace) : trace_(trace) {
    const GpuOpTable& ops = trace.gpu_ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      const SliceId launch = ops.launch[op];
      if (!launch.valid() || ops.op_class[op] == GpuOpClass::kCommunication) continue;
      ends_[trace.slices.thread[launch.value].value][trace.slices.ts_ns[launch.value]] = ops.ts_ns[op] + ops.dur_ns[op];
    }
  }
  // Returns when an exchange could begin if its stream were free.
  double Of(uint32_t op) const {
    const SliceId launch = trace_.gpu_ops.launch[op];
    if (!launch.valid()) return static_cast<double>(trace_.gpu_ops.ts_ns[op]);
    const int64_t launched = trace_.slices.ts_ns[launch.value];
    int64_t ready = launched;
    if (const auto thread = ends_.find(trace_.slices.thread[launch.value].value); thread != ends_.end())
      if (const auto after = thread->second.upper_bound(launched); after != thread->second.begin())
        ready = std::max(ready, std::prev(after)->second);
    return static_cast<double>(std::min(ready, trace_.gpu_ops.ts_ns[op]));
  }

 private:
  const Trace& trace_;
  std::map<uint32_t, std::map<int64_t, int64_t>> ends_{};  // by thread, by launch
};

struct Exchange {
  uint32_t op = 0;
  double ready_ns = 0, until_bytes = 0;  // when the exchange is ready; bytes of the step up to its end
  double bus_per_byte = 1, waiting_ns = 0;
};

// Returns when the first `bytes` bytes of a step's gradients are ready.
double ReadyAt(const std::vector<Exchange>& step, double bytes) {
  double before_bytes = 0, before_ns = step[0].ready_ns;
  for (const Exchange& exchange : step) {
    if (bytes <= exchange.until_bytes) {
      const double part = (bytes - before_bytes) / std::max(1.0, exchange.until_bytes - before_bytes);
      return before_ns + part * std::max(0.0, exchange.ready_ns - before_ns);
    }
    before_bytes = exchange.until_bytes, before_ns = std::max(before_ns, exchange.ready_ns);
  }
  return before_ns;
}

// Returns where buckets end: the first as recorded where it is smaller, then every `bucket_bytes`; no step has more
// than kMaxBuckets of them.
std::vector<double> Cut(const std::vector<Exchange>& step, double bucket_bytes) {
  const double all = step.back().until_bytes, first = std::min(step[0].until_bytes, bucket_bytes);
  const double each = std::max(bucket_bytes, (all - first) / kMaxBuckets);
  const auto more = static_cast<size_t>(std::ceil((all - first) / each));
  std::vector<double> ends{first};
  for (size_t i = 1; i < more; ++i) ends.push_back(first + static_cast<double>(i) * each);
  if (more > 0) ends.push_back(all);
  return ends;
}

void Regroup(const std::vector<Exchange>& step, const std::vector<double>& ends, const LinkSpeed& link,
             std::vector<int64_t>& ns) {
  double done_ns = 0, sent_bytes = 0, stream_ns = 0;
  size_t next = 0;
  for (const Exchange& exchange : step) {
    bool any = false;
    for (; next < ends.size() && (ends[next] <= exchange.until_bytes || &exchange == &step.back());
         ++next, any = true) {
      done_ns = std::max(done_ns, ReadyAt(step, ends[next])) + link.latency_ns +
                (ends[next] - sent_bytes) * exchange.bus_per_byte * link.ns_per_byte;
      sent_bytes = ends[next];
    }
    const double begin_ns = std::max(exchange.ready_ns, stream_ns);
    const double takes_ns = any ? std::max(0.0, done_ns - begin_ns) + exchange.waiting_ns : 0;
    ns[exchange.op] = std::llround(takes_ns);
    stream_ns = begin_ns + takes_ns;
  }
}

using Steps = std::map<StepId, std::vector<Exchange>>;

Steps StepsOf(const WhatIfInput& input, const EdgeTimes& times, const std::vector<Collective>& gradients) {
  const Readiness readiness(input.trace());
  Steps steps;
  for (const Collective& collective : gradients) {
    if (!collective.step.valid()) continue;
    std::vector<Exchange>& step = steps[collective.step];
    const double before = step.empty() ? 0 : step.back().until_bytes, bytes = static_cast<double>(collective.bytes);
    step.push_back(
        {.op = collective.op,
         .ready_ns = readiness.Of(collective.op),
         .until_bytes = before + bytes,
         .bus_per_byte = collective.bus_bytes / bytes,
         .waiting_ns = static_cast<double>(std::max<int64_t>(0, OpNs(times, collective.op) - collective.wire_ns))});
  }
  return steps;
}

// Another latency, with which the recorded exchanges take as long in all as they did.
LinkSpeed WithLatency(const std::vector<Collective>& gradients, double latency_ns) {
  double wire_ns = 0, bus_bytes = 0;
  for (const Collective& collective : gradients)
    wire_ns += static_cast<double>(collective.wire_ns), bus_bytes += collective.bus_bytes;
  const auto count = static_cast<double>(gradients.size());
  const double most = std::min(latency_ns, wire_ns / count);
  return {most, (wire_ns - count * most) / bus_bytes, true};
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto mib, item.Count());
  const Collectives collectives = FindCollectives(input);
  const std::vector<Collective> gradients = collectives.Gradients();
  ExchangeText text = CheckGradients(collectives, gradients, true);
  WhatIfEffect effect{.refusal = std::move(text.refusal), .no_effect = std::move(text.no_effect)};
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const Steps steps = StepsOf(input, times, gradients);
  const double bucket_bytes = kMiB * static_cast<double>(mib.value_or(1));
  size_t before = 0, after = 0;
  for (const auto& [step, exchanges] : steps) before += exchanges.size(), after += Cut(exchanges, bucket_bytes).size();
  if (steps.empty()) effect.refusal = "no steps were recorded: where one exchange of gradients ends is not known";
  if (!steps.empty() && before == after) effect.no_effect = "gradients are exchanged in as many buckets already";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const double latency = collectives.link.latency_ns;
  const LinkSpeed link = WithLatency(gradients, after < before ? ValueFor(estimate, latency / 2, latency, 2 * latency)
                                                               : ValueFor(estimate, 2 * latency, latency, latency / 2));
  std::vector<int64_t> ns(input.trace().gpu_ops.size(), kAbsent);
  for (const auto& [step, exchanges] : steps) Regroup(exchanges, Cut(exchanges, bucket_bytes), link, ns);
  SetOps(times, ns);
  if (std::string of = AssumptionOfGradients(collectives); !of.empty()) effect.assumptions.push_back(std::move(of));
  effect.assumptions.push_back(StrCat("an exchange takes ", FormatDuration(std::llround(latency)), " besides its bytes",
                                      collectives.link.is_fitted ? "" : ", which a single message size does not show"));
  effect.assumptions.emplace_back("gradients are ready in the order of the recorded buckets, at an even rate");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  return context.all_values ? FixValues{.values = {"5", "10", "50", "100", "200"}}
                            : FixValues{.values = {"50", "10", "100"}};
}

constexpr std::string_view kCures[] = {"exposed_communication", "small_collectives"};

}  // namespace

FIX(ddp_bucket) = {
    .name = "ddp_bucket",
    .help = "Exchange gradients in buckets of MB MiB",
    .safety = Safety::kRounding,
    .model = {.value = "MB",
              .why = "A step's exchange of gradients is cut anew into buckets of that size, each leaving when its last "
                     "gradient is there; latency and speed are fitted to the recording's own collectives, the latency "
                     "uncertain by a factor of two.",
              .apply = Apply},
    .trial = {
        .value = "MB",
        .grammar = {"a whole number of megabytes from 1 to 1048576", IsCount<1, 1 << 20>},
        .why = "Where the last exchange of a step is not hidden (smaller buckets start earlier), or many small "
               "exchanges are bound by latency (larger ones). DistributedDataParallel gets bucket_cap_mb, 25 by "
               "default. Sums may be rounded in another order. The gain is at most the exchange that is not hidden.",
        .effort = Effort::kQuick,
        .choice = {.order = 74, .cures = kCures},
        .values = Values}};

}  // namespace gapless::internal::ddp_bucket_fix
