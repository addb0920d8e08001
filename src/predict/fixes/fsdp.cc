// SPDX-License-Identifier: Apache-2.0
// The fix `fsdp`: when sharded parameters are gathered. `keep` comes last, because it takes memory.
//
// Model. Gathers are the all-gathers of a step that are large enough for parameters; those that the thread of the
// backward pass launched are of that pass.
//
//   keep       the gathers of the backward pass take nothing, and nobody waits for them: the forward pass left the
//              parameters whole.
//   prefetch   modules are computed one after the other, each once its own parameters are there. With its gather asked
//              for when the module kAhead before it begins, and the exchanges of a stream in their order, a gather is
//              over earlier by what the device no longer idles for it:
//
//                recorded   gather 1 ▓▓▓▓        gather 2 ▓▓▓▓          compute          ···· 1111 ···· 2222
//                ahead      gather 1 ▓▓▓▓ gather 2 ▓▓▓▓                 compute          ···· 1111 2222
//
// An operation keeps its place in the graph. One that the device still idles for is as much shorter as it idles less;
// for one that is hidden nobody waits, also not for what its stream carried before it.
//
// Prior. None: what the program does besides may hold a gather up. The cautious case saves half.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/surroundings.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::fsdp_fix {
namespace {

constexpr int64_t kParameterBytes = 64 * 1024;  // of a gather; smaller ones carry none
constexpr size_t kAhead = 2;
constexpr int64_t kJustAfterNs = 20'000;  // a kernel that begins so soon after a gather waited for it

struct Gather {
  uint32_t op = 0;
  int64_t start_ns = 0, end_ns = 0, launched_ns = 0;
  int64_t wire_ns = 0;
  int64_t stream = 0;
  bool in_backward = false;
  bool is_sum = false;  // a reduce-scatter, which takes its turn on the stream
};

// The gathers and scatters of each step, in the order of their launches.
using Steps = std::map<StepId, std::vector<Gather>>;

// Threads that run a backward pass, by row.
std::vector<uint8_t> BackwardThreads(const WhatIfInput& input) {
  const std::vector<uint8_t>& around = input.Once(Surroundings);
  std::vector<uint8_t> runs(input.trace().threads.size());
  for (size_t row = 0; row < around.size(); ++row)
    if ((around[row] & kInAutograd) != 0) runs[input.trace().slices.thread[row].value] = 1;
  return runs;
}

Steps StepsOf(const WhatIfInput& input, const EdgeTimes& times) {
  const Trace& trace = input.trace();
  const std::vector<uint8_t> backward = BackwardThreads(input);
  const std::vector<uint8_t>& around = input.Once(Surroundings);
  Steps steps;
  for (const Collective& one : FindCollectives(input).all) {
    const std::string_view kind = trace.Text(trace.collectives.kind[one.row]);
    const SliceId launch = trace.gpu_ops.launch[one.op];
    const int64_t ns = OpNs(times, one.op);
    if ((kind != "all_gather" && kind != "reduce_scatter") || one.bytes == kAbsent || one.bytes < kParameterBytes ||
        !launch.valid() || !one.step.valid() || ns == kAbsent)
      continue;
    const int64_t start_ns = trace.gpu_ops.ts_ns[one.op];
    const uint32_t thread = trace.slices.thread[launch.value].value;
    steps[one.step].push_back({.op = one.op,
                               .start_ns = start_ns,
                               .end_ns = start_ns + trace.gpu_ops.dur_ns[one.op],
                               .launched_ns = trace.slices.ts_ns[launch.value],
                               .wire_ns = std::min(ns, one.wire_ns == kAbsent ? ns : one.wire_ns),
                               .stream = trace.gpu_ops.stream[one.op],
                               .in_backward = backward[thread] != 0 || (around[launch.value] & kInAutograd) != 0,
                               .is_sum = kind == "reduce_scatter"});
  }
  for (auto& [step, gathers] : steps) std::ranges::stable_sort(gathers, {}, &Gather::launched_ns);
  return steps;
}

// Kernels that compute, in the order of their starts, and when the device was last done before each.
class Computing {
 public:
  explicit Computing(const Trace& trace) {
    const GpuOpTable& ops = trace.gpu_ops;
    int64_t done_ns = 0;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.op_class[op] == GpuOpClass::kCommunication) continue;
      if (ops.ts_ns[op] > done_ns) begins_.push_back({ops.ts_ns[op], done_ns});
      done_ns = std::max(done_ns, ops.ts_ns[op] + ops.dur_ns[op]);
    }
  }
  struct Begin {
    int64_t ns = 0, idle_since_ns = 0;
  };
  // Returns what began after the device had idled, and not before `ns`; null: nothing did just then.
  const Begin* After(int64_t ns) const {
    const auto at = std::ranges::lower_bound(begins_, ns, {}, &Begin::ns);
    return at == begins_.end() || at->ns - ns > kJustAfterNs ? nullptr : &*at;
  }

 private:
  std::vector<Begin> begins_{};
};

// A module of a pass, as recorded: when the device was done with the one before, and when it began.
struct Module {
  const Gather* gather = nullptr;
  int64_t begins_ns = 0, idle_since_ns = 0;
};

// For each op, by how much it gets shorter, and if it is hidden.
struct Changes {
  std::vector<int64_t> saved_ns{};
  std::vector<uint8_t> hidden{};
};

// Replays one pass with gathers ahead; says by op how much shorter each gets.
class Ahead {
 public:
  explicit Ahead(const std::vector<Gather>& pass) : pass_(pass) {}

  void Shorten(const Computing& computing, Changes& changes) {
    for (const Gather& gather : pass_) {
      if (gather.is_sum) continue;
      const Computing::Begin* begin = computing.After(gather.end_ns);
      const int64_t begins_ns = begin == nullptr ? gather.end_ns : begin->ns;
      modules_.push_back({&gather, begins_ns, begin == nullptr ? begins_ns : begin->idle_since_ns});
    }
    int64_t ahead_ns = 0;  // by how much all is earlier so far
    for (size_t at = 0; at < modules_.size(); ++at) {
      const Module& module = modules_[at];
      const int64_t recorded_ns = module.gather->start_ns - ahead_ns;
      done_.push_back(module.idle_since_ns - ahead_ns);
      if (at > kAhead) SendSums(at - kAhead - 1);
      const int64_t asked_ns = at < kAhead ? recorded_ns : std::min(recorded_ns, begun_[at - kAhead]);
      free_ns_ = std::max(asked_ns, at == 0 ? asked_ns : free_ns_) + module.gather->wire_ns;
      const int64_t idles_ns = std::max<int64_t>(0, free_ns_ - done_.back());
      const int64_t idled_ns = module.begins_ns - module.idle_since_ns;
      const bool hides = idled_ns > 0 && idles_ns == 0;
      const int64_t less_ns = hides ? idled_ns : std::clamp<int64_t>(idled_ns - idles_ns, 0, module.gather->wire_ns);
      if (hides)
        changes.hidden[module.gather->op] = 1;
      else
        changes.saved_ns[module.gather->op] = less_ns;
      ahead_ns += less_ns;
      begun_.push_back(module.begins_ns - ahead_ns);
    }
  }

 private:
  // The sums that follow a module take their turn on the stream once the module is done.
  void SendSums(size_t module) {
    const Gather& gather = *modules_[module].gather;
    const Gather& next = *modules_[module + 1].gather;
    for (const Gather& sum : pass_)
      if (sum.is_sum && sum.stream == gather.stream && sum.launched_ns > gather.launched_ns &&
          sum.launched_ns < next.launched_ns)
        free_ns_ = std::max(free_ns_, done_[module + 1]) + sum.wire_ns;
  }

  const std::vector<Gather>& pass_;
  std::vector<Module> modules_{};
  std::vector<int64_t> done_{}, begun_{};  // when the device is done with the module before, and begins one
  int64_t free_ns_ = 0;                    // of the stream
};

void Prefetch(const WhatIfInput& input, const Steps& steps, Estimate estimate, EdgeTimes& times) {
  const Computing computing(input.trace());
  std::vector<int64_t> ns(input.trace().gpu_ops.size(), kAbsent);
  Changes changes{.saved_ns = std::vector<int64_t>(ns.size()), .hidden = std::vector<uint8_t>(ns.size())};
  for (const auto& [step, gathers] : steps)
    for (const bool backward : {false, true}) {
      std::vector<Gather> pass;
      for (const Gather& gather : gathers)
        if (gather.in_backward == backward) pass.push_back(gather);
      Ahead(pass).Shorten(computing, changes);
    }
  const double share = ValueFor(estimate, 0.5, 1, 1);
  for (size_t op = 0; op < ns.size(); ++op) {
    const int64_t op_ns = OpNs(times, static_cast<uint32_t>(op));
    if (changes.saved_ns[op] > 0)
      ns[op] = op_ns - std::llround(share * static_cast<double>(changes.saved_ns[op]));
    else if (changes.hidden[op] != 0 && estimate == Estimate::kPessimistic)
      ns[op] = op_ns / 2;
  }
  SetOps(times, ns);
  if (estimate != Estimate::kPessimistic) times.DropStreamWaits(changes.hidden);
}

void Keep(const WhatIfInput& input, const Steps& steps, Estimate estimate, EdgeTimes& times) {
  std::vector<int64_t> ns(input.trace().gpu_ops.size(), kAbsent);
  std::vector<uint8_t> gone(ns.size());
  for (const auto& [step, gathers] : steps)
    for (const Gather& gather : gathers) {
      if (!gather.in_backward || gather.is_sum) continue;
      ns[gather.op] = estimate == Estimate::kPessimistic ? OpNs(times, gather.op) / 2 : 0;
      gone[gather.op] = 1;
    }
  SetOps(times, ns);
  if (estimate != Estimate::kPessimistic) times.DropStreamWaits(gone);
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  const bool keeps = item.value == "keep";
  if (!keeps && item.value != "prefetch")
    return Fail(ErrorCode::kUsage, "fsdp takes prefetch or keep", item.value, "fsdp=prefetch");
  const Steps steps = StepsOf(input, times);
  size_t forward = 0, backward = 0;
  for (const auto& [step, gathers] : steps)
    for (const Gather& gather : gathers)
      if (!gather.is_sum) ++(gather.in_backward ? backward : forward);
  WhatIfEffect effect;
  if (forward + backward == 0)
    effect.no_effect = "no parameters are gathered";
  else if (forward == 0)
    effect.refusal = "the gathers of the forward pass cannot be told from those of the backward pass";
  else if (keeps && backward == 0)
    effect.no_effect = "the backward pass gathers no parameters";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  if (keeps)
    Keep(input, steps, estimate, times);
  else
    Prefetch(input, steps, estimate, times);
  effect.assumptions.emplace_back(keeps ? "the memory holds all parameters at once"
                                        : "modules are computed one after the other, each with its own parameters");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  if (!context.torch_version.empty() && !TorchIsAtLeast(context, 2, 6))
    return NoneBecause("fully_shard is stable from PyTorch 2.6 on");
  return {.values = {"prefetch", "keep"}};
}

constexpr std::string_view kHows[] = {"prefetch", "keep"};
constexpr std::string_view kCures[] = {"exposed_communication"};

}  // namespace

FIX(fsdp) = {
    .name = "fsdp",
    .help = "Gather the parameters of FSDP2 ahead, or once a step",
    .safety = Safety::kExact,
    .model = {.value = "HOW",
              .why = "`keep` takes the gathers of the backward pass out of the step. `prefetch` asks for each gather "
                     "when the second module before begins, with the exchanges of a stream in their order, and makes "
                     "it shorter by what the device then idles less; the cautious case saves half of that.",
              .apply = Apply},
    .trial = {.value = "HOW",
              .grammar = {"prefetch or keep", IsOneOf<kHows>},
              .why = "Where a model of fully_shard waits for its parameters. `prefetch` gathers those of the next two "
                     "modules while one computes; `keep` leaves them whole between the forward and the backward pass, "
                     "so that they are gathered once a step, and takes the memory for it. The numbers stay. Prior: "
                     "none; of the exchanges `keep` saves a third at most.",
              .effort = Effort::kQuick,
              .choice = {.order = 73, .cures = kCures, .prior = 1.05},
              .values = Values}};

}  // namespace gapless::internal::fsdp_fix
