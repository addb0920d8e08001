// SPDX-License-Identifier: Apache-2.0
// The fix `pipeline`: another schedule of torch.distributed.pipelining, so that stages wait less for the first and the
// last microbatch of a step.
//
// Model. With p even stages and m microbatches each rank waits for (p − 1) microbatches of a step (1F1B and GPipe,
// Narayanan et al., SC 2021): the fill, which analyses/parallel_groups.h measures. The busiest of uneven stages
// waits for a microbatch of each other one.
//
//   N            each microbatch is cut into N pieces. The fill is N times as short; on each rank receives wait so much
//                less, as far as they hold it up. A piece is launched as a whole microbatch was, so that the host works
//                N times as long in the passes; a kernel of N times as short a batch costs kPerKernelNs more for each
//                further piece, and a message the link's latency.
//   zero_bubble  gradients of weights wait until the stage would idle (ZB-H1 of Qi et al., ICLR 2024): with forward,
//                input and weight passes of equal length a third of the fill is left. Two thirds are in the cautious
//                case, since PyTorch computes a part of the backward pass twice.
//   1f1b         idles as long as GPipe: it takes less memory.
//
// Prior. The fill is measured; how much longer short kernels take is not known from one recording.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyses/intervals.h"
#include "analyses/parallel_groups.h"
#include "analyses/surroundings.h"
#include "analyses/work_type.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"
#include "predict/fixes/common/passes.h"
#include "predict/fixes/common/values.h"

namespace gapless::internal::pipeline_fix {
namespace {

constexpr double kPerKernelNs = 2'000, kMostPerKernelNs = 6'000;
constexpr std::string_view kZeroBubble = "zero_bubble", kOneForwardOneBackward = "1f1b";

bool IsPipelineValue(std::string_view value) {
  return value == kZeroBubble || value == kOneForwardOneBackward || IsWhole(value, 2, 64);
}

// A message between stages: the part of its time in which it waits, and what it takes.
struct Message {
  uint32_t op = 0;
  StepId step{};
  Interval waits{};
  int64_t wire_ns = 0;
};

std::vector<Message> MessagesOf(const WhatIfInput& input, const Collectives& collectives) {
  const Trace& trace = input.trace();
  std::vector<Message> messages;
  for (const Collective& one : collectives.all) {
    const std::string_view kind = trace.Text(trace.collectives.kind[one.row]);
    if ((kind != "recv" && kind != "send" && kind != "send_recv") || one.wire_ns == kAbsent || !one.step.valid())
      continue;
    const int64_t start = trace.gpu_ops.ts_ns[one.op], end = start + trace.gpu_ops.dur_ns[one.op];
    messages.push_back(
        {.op = one.op, .step = one.step, .waits = {start, std::max(start, end - one.wire_ns)}, .wire_ns = one.wire_ns});
  }
  return messages;
}

// Returns for how long a step waits in messages while nothing computes, in the median step: the first one of a
// recording also waits for late recorders.
double WaitsOfStep(const Trace& trace, const std::vector<Message>& messages) {
  Intervals computing;
  for (uint32_t op = 0; op < trace.gpu_ops.size(); ++op)
    if (trace.gpu_ops.op_class[op] != GpuOpClass::kCommunication)
      computing.push_back({trace.gpu_ops.ts_ns[op], trace.gpu_ops.ts_ns[op] + trace.gpu_ops.dur_ns[op]});
  computing = Merge(std::move(computing));
  std::map<StepId, Intervals> steps;
  for (const Message& message : messages) steps[message.step].push_back(message.waits);
  std::vector<int64_t> waits;
  for (auto& [step, intervals] : steps) waits.push_back(Total(Subtract(Merge(std::move(intervals)), computing)));
  if (waits.empty()) return 0;
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  std::ranges::nth_element(waits, middle);
  return static_cast<double>(*middle);
}

// A change of the schedule, for one case of the estimate.
struct Schedule {
  int64_t pieces = 1;        // of a microbatch
  double fill_left = 1;      // share of the fill that is left
  double backward_host = 1;  // the host's work in the backward pass, as a multiple
  double kernel_ns = 0;      // for each further piece of a kernel
};

Schedule ScheduleOf(std::string_view value, Estimate estimate) {
  if (value == kZeroBubble)
    return {.fill_left = ValueFor(estimate, 2.0 / 3, 0.5, 1.0 / 3), .backward_host = ValueFor(estimate, 2, 1.5, 1)};
  const int64_t pieces = std::stoll(std::string(value));
  return {.pieces = pieces,
          .fill_left = ValueFor(estimate, 1 - 0.8 * (1 - 1.0 / static_cast<double>(pieces)),
                                1.0 / static_cast<double>(pieces), 1.0 / static_cast<double>(pieces)),
          .backward_host = static_cast<double>(pieces),
          .kernel_ns = ValueFor(estimate, kMostPerKernelNs, kPerKernelNs, 0)};
}

void ShortenWaits(const std::vector<Message>& messages, double left, double latency_ns, const Schedule& schedule,
                  std::vector<int64_t>& ns, const EdgeTimes& times) {
  const auto further = static_cast<double>(schedule.pieces - 1);
  for (const Message& message : messages) {
    const int64_t now = OpNs(times, message.op);
    if (now == kAbsent) continue;
    const int64_t wire = std::min(now, message.wire_ns);
    const double each = std::min(latency_ns, static_cast<double>(wire));  // what was recorded has the latency in it
    ns[message.op] = wire + std::llround(left * static_cast<double>(now - wire) + further * each);
  }
}

// The pass of each slice. Passes of microbatches alternate, so that all that a step does before its last backward slice
// ends, and is no loading and no optimiser, belongs to one of them.
std::vector<Pass> PassesOf(const Trace& trace) {
  const std::vector<uint8_t>& around = Surroundings(trace);
  const SliceTable& slices = trace.slices;
  std::map<StepId, int64_t> ends;
  for (size_t row = 0; row < slices.size(); ++row)
    if ((around[row] & kInAutograd) != 0) {
      int64_t& end = ends[slices.step[row]];
      end = std::max(end, slices.ts_ns[row] + slices.dur_ns[row]);
    }
  std::vector<Pass> passes(slices.size(), Pass::kNone);
  for (size_t row = 0; row < slices.size(); ++row) {
    const auto end = ends.find(slices.step[row]);
    if (end == ends.end() || slices.ts_ns[row] >= end->second || (around[row] & (kInLoader | kInOptimizer)) != 0)
      continue;
    passes[row] = (around[row] & kInAutograd) != 0 ? Pass::kBackward : Pass::kForward;
  }
  return passes;
}

void CutPasses(const WhatIfInput& input, const Schedule& schedule, std::vector<int64_t>& ns, EdgeTimes& times) {
  const std::vector<Pass>& passes = input.Once(PassesOf);
  const auto is_pass = [](Pass pass) { return pass == Pass::kForward || pass == Pass::kBackward; };
  const GpuOpTable& ops = input.trace().gpu_ops;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const int64_t now = OpNs(times, op);
    const SliceId by = LaunchedBy(ops, op);
    if (now == kAbsent || ops.op_class[op] == GpuOpClass::kCommunication || !by.valid() || !is_pass(passes[by.value]))
      continue;
    const double each = std::min(static_cast<double>(now), schedule.kernel_ns);
    ns[op] = now + std::llround(static_cast<double>(schedule.pieces - 1) * each);
  }
  times.ScaleHost([&](uint32_t slice) {
    if (slice == kNoRowValue || !is_pass(passes[slice])) return 1.0;
    return passes[slice] == Pass::kBackward ? schedule.backward_host : static_cast<double>(schedule.pieces);
  });
}

// Sets why nothing can be said of this recording, or why nothing changes.
void Judge(const PipelineFill& fill, const Collectives& collectives, const std::vector<Message>& messages,
           double waits_ns, WhatIfEffect& effect) {
  if (fill.stages < 2 && collectives.all.empty() && collectives.on_host > 0)
    effect.refusal = "the host carries the messages: how long they hold up a step was not recorded";
  else if (fill.stages < 2)
    effect.no_effect = "no stages of a pipeline send to each other";
  else if (!collectives.trains)
    effect.no_effect = "no backward pass was recorded";
  else if (fill.fill_ns <= 0 || messages.empty())
    effect.refusal = "messages and steps of a stage were not recorded: how many microbatches a step has is not known";
  else if (waits_ns <= 0)
    effect.no_effect = "no stage waits for a message";
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  if (!IsPipelineValue(item.value))
    return Fail(ErrorCode::kUsage, "pipeline takes a number of pieces, zero_bubble or 1f1b", Printable(item.value),
                "pipeline=2");
  const PipelineFill& fill = input.tables.OnceForRun(PipelineFillOf);
  const Collectives collectives = FindCollectives(input);
  const std::vector<Message> messages = MessagesOf(input, collectives);
  const double waits_ns = WaitsOfStep(input.trace(), messages);
  WhatIfEffect effect;
  Judge(fill, collectives, messages, waits_ns, effect);
  if (effect.refusal.empty() && effect.no_effect.empty() && item.value == kOneForwardOneBackward)
    effect.no_effect = "1F1B idles as long as GPipe does; it takes less memory";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const Schedule schedule = ScheduleOf(item.value, estimate);
  // A rank waits for the fill at least: one that waits for less shows that work which is not of microbatches counted.
  const double left = 1 - (1 - schedule.fill_left) * std::min(1.0, fill.fill_ns / waits_ns);
  std::vector<int64_t> ns(input.trace().gpu_ops.size(), kAbsent);
  ShortenWaits(messages, left, collectives.link.latency_ns, schedule, ns, times);
  CutPasses(input, schedule, ns, times);
  SetOps(times, ns);
  effect.assumptions.push_back(
      StrCat("the pipeline of ", fill.stages, " stages and ", FormatDigits(std::round(10 * fill.microbatches) / 10, 6),
             " microbatches fills and drains for ", FormatDuration(std::llround(fill.fill_ns)), " of a step"));
  if (schedule.pieces > 1) effect.assumptions.emplace_back("the batch can be divided into as many microbatches");
  return effect;
}

FixValues Values(const FixContext& context) {
  if (context.ranks < 2) return NoneBecause("one rank trains on this machine");
  FixValues found{.values = {"2", "4"}, .alone = {std::string(kZeroBubble)}};
  if (context.all_values) found.values.insert(found.values.end(), {"8", std::string(kOneForwardOneBackward)});
  return found;
}

constexpr std::string_view kCures[] = {"pipeline_bubble"};
constexpr std::string_view kMessages[] = {"c10d::send"};

}  // namespace

FIX(pipeline) = {
    .name = "pipeline",
    .help = "Cut microbatches of a pipeline, or change its schedule",
    .safety = Safety::kStochastic,
    .model = {.value = "HOW",
              .why =
                  "The busiest stage of a pipeline waits in each step for a microbatch of every other stage, by what "
                  "these take. Microbatches cut into N pieces make that N times as short; a fifth less of it goes "
                  "in the cautious case. The host launches N times as much; kernels take 2 µs (0 to 6) longer and "
                  "messages the link's latency for each further piece. With zero_bubble half of it is left (a third "
                  "to two thirds).",
              .apply = Apply},
    .trial = {.value = "HOW",
              .grammar = {"a whole number of pieces from 2 to 64, zero_bubble or 1f1b", IsPipelineValue},
              .why = "Where stages of torch.distributed.pipelining wait at the begin and the end of each step: (p − 1) "
                     "÷ (m + p − 1) of it with p stages and m microbatches. A number cuts each microbatch into as many "
                     "pieces, zero_bubble moves gradients of weights to where the stage would idle, 1f1b takes less "
                     "memory than GPipe. Sums round differently, dropout draws other numbers, and small pieces use a "
                     "GPU less well. Left alone: batches that cannot be divided, batch normalisation. Prior: the share "
                     "above.",
              .effort = Effort::kQuick,
              .choice = {.order = 79, .cures = kCures, .blind = true},
              .needs = {.operators = kMessages, .operators_are = "message from a stage to the next"},
              .values = Values}};

}  // namespace gapless::internal::pipeline_fix
