// SPDX-License-Identifier: Apache-2.0
// N worker processes load batches while the device computes.
//
// Model. Loading a batch takes as long as it took in the training process; N workers make N at once, so that a step
// waits for what is left of a batch's time over N after the rest of the step. Some things stand against that:
//
//   - A batch comes through shared memory and a queue, which takes the training process some time for each.
//   - The machine has a limited number of processors. Their work for a step is the same as before; a step cannot take
//     less than that over their number, plus a margin as nothing fills them perfectly. Only telemetry shows the number.
//   - A training whose operators use several processors loses some of them to workers where none is free: of one
//     pair (two processors, two threads, two workers) the step took 10 % longer.
//   - Without telemetry, workers may take processor time from the thread that launches: of two recorded pairs
//     (ResNet-50, 0 to 4 workers) the training kept 85 % of the saving.
//
// Trial. Loading that computes gets no more workers than a rank has processors; loading that waits, for a disk or a
// network, gets as many as the processors can serve (LoadersPerRank()). Each value has its own expected gain, from
// optimize/machine_hints.h.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/values.h"
#include "predict/host_use.h"
#include "predict/program.h"
#include "trace/marks.h"

namespace gapless::internal::workers_fix {
namespace {

constexpr int64_t kUsualWorkers = 4;
constexpr size_t kFirstRung = 8;
constexpr double kPacking = 1.08, kSeveral = 1.3;

// Waiting for batches and everything else, over the complete steps or, without any, the recording.
struct Loading {
  double load_ns = 0, rest_ns = 0, batches = 0;
  bool by_workers = false;
};

Loading FindLoading(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  int64_t first_ns = 0, last_ns = trace.info.dur_ns, load_ns = 0;
  if (trace.steps.size() > 0) {
    first_ns = trace.steps.ts_ns[0], last_ns = 0;
    for (size_t row = 0; row < trace.steps.size(); ++row)
      last_ns = std::max(last_ns, trace.steps.ts_ns[row] + trace.steps.dur_ns[row]);
  }
  Loading found;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const std::string_view name = trace.Text(slices.name[row]);
    if (!IsDataLoadingMark(name) || slices.ts_ns[row] < first_ns || slices.ts_ns[row] >= last_ns) continue;
    load_ns += slices.dur_ns[row];
    ++found.batches;
    found.by_workers = found.by_workers || name.find("MultiProcessing") != name.npos;
  }
  found.load_ns = static_cast<double>(load_ns);
  found.rest_ns = static_cast<double>(std::max<int64_t>(0, last_ns - first_ns - load_ns));
  return found;
}

// Would PyTorch have marked the waits of a DataLoader in this recording?
bool SeesLoading(const Trace& trace) {
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (IsOwnWork(trace, row)) return true;
  return false;
}

// Returns the remaining share of the loading time.
double LeftOf(const Loading& found, const HostUse& use, double workers, Estimate estimate) {
  const double hand_over_ns = ValueFor(estimate, 2'000'000, 1'000'000, 300'000);
  double left_ns = std::max(found.load_ns / workers - found.rest_ns, 0.0), kept = ValueFor(estimate, 0.6, 0.85, 1);
  if (use.busy && use.processors) {
    const double least_ns = kPacking * *use.busy / *use.processors * (found.load_ns + found.rest_ns);
    left_ns = std::max(left_ns, least_ns - found.rest_ns);
    kept = ValueFor(estimate, 0.85, 0.95, 1);
    // A training that uses several processors itself gives them up to workers, and its threads wait for each other.
    const double own_busy =
        (*use.busy * (found.load_ns + found.rest_ns) - found.load_ns) / std::max(found.rest_ns, 1.0);
    if (own_busy > kSeveral && *use.processors < own_busy + workers) kept = ValueFor(estimate, -0.3, -0.1, 0.4);
  }
  return std::max(1 - kept * (1 - std::min(left_ns / found.load_ns, 1.0)),
                  hand_over_ns * found.batches / found.load_ns);
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto asked, item.Count());
  const auto workers = static_cast<double>(asked.value_or(kUsualWorkers));
  const Loading& found = input.Once(FindLoading);
  WhatIfEffect effect;
  if (found.load_ns <= 0 && !SeesLoading(input.trace()))
    effect.refusal = "the recording has no operators of the host, among which waits for batches would be marked";
  else if (found.load_ns <= 0)
    effect.no_effect = "no wait for a batch was recorded";
  if (found.by_workers) effect.refusal = "batches are loaded by workers already, and how many was not recorded";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const HostUse use = FindHostUse(input.tables, input.of);
  const double factor = LeftOf(found, use, workers, estimate);
  const std::vector<uint8_t>& loading = input.Once(LoadingSlices);
  times.ScaleHost([&](uint32_t slice) { return slice != kNoRowValue && loading[slice] != 0 ? factor : 1.0; });
  if (!use.busy)
    effect.assumptions.push_back(
        StrCat("the machine has ", workers, " processor cores to spare, and loading is as fast in each"));
  return effect;
}

// Workers take processors from the training, and from each other: as many as there are processors, or more, are tried
// with fewer.
FixValues Fewer(size_t workers, size_t most) {
  FixValues values;
  for (const size_t count : {size_t{0}, most / 2, most - 1, size_t{1}})
    if (const std::string value = std::to_string(count);
        count < workers && std::ranges::find(values.alone, value) == values.alone.end())
      values.alone.push_back(value);
  values.values = {values.alone.front()};
  values.alone.erase(values.alone.begin());
  return values;
}

// The rungs of a ladder for loading that waits rather than computes: the first has as many workers as it takes to load
// a batch in the rest of the step, kFirstRung at most; the next ones are climbed while they bring something.
FixValues Ladder(const FixContext& context, size_t most) {
  constexpr size_t kRungs[] = {2, 4, 8, 16};
  const double wait = *context.shares.loader_wait,
               before = static_cast<double>(std::max<size_t>(1, context.loader_workers));
  const double wanted = before * std::ceil(wait / std::max(1 - wait, 1e-3));
  size_t first = kRungs[0];
  for (const size_t rung : kRungs)
    if (rung <= kFirstRung && rung <= most && static_cast<double>(first) < wanted) first = rung;
  std::vector<size_t> order = {first};
  for (const size_t rung : kRungs)
    if (rung > first) order.push_back(rung);
  for (const size_t rung : kRungs)
    if (rung < first) order.push_back(rung);
  std::erase_if(order, [&](size_t rung) { return rung == context.loader_workers; });
  return AtMost(most, order);
}

FixValues Values(const FixContext& context) {
  const size_t cpus = CpusPerRank(context), most = LoadersPerRank(context);
  if (context.loader_workers >= most) return Fewer(context.loader_workers, cpus);
  FixValues values;
  if (most > cpus && !context.all_values) {
    values = Ladder(context, most);
  } else {
    const auto grid = context.all_values ? std::vector<size_t>{0, 2, 4, 8, 16} : std::vector<size_t>{4, 2, 8, 16};
    values = AtMost(most, grid);
    // Few processors: as many workers as there are.
    if (most < 4 && most != 2) values.values.push_back(std::to_string(most));
  }
  if (context.loader_workers > 0) values.alone.push_back("0");
  return values;
}

// Both sides of a pair settle like the side with more workers.
BlockShape LoaderBlocks(std::string_view value, size_t loader_workers, double step_ms) {
  size_t workers = 0;
  std::from_chars(value.data(), value.data() + value.size(), workers);
  return WorkerBlocks(std::max(workers, loader_workers), step_ms);
}

constexpr std::string_view kCures[] = {"data_loading", "host_data_loading", "run_data_loading", "step_variation"};

}  // namespace

FIX(workers) = {
    .name = "workers",
    .help = "Load batches in N processes beside the training",
    .safety = Safety::kStochastic,
    .model =
        {.value = "[N]",
         .why =
             "Loading a batch takes as long as it took; N workers (4 if no number is given) make N at once while the "
             "rest of the step runs, and hand each over in 1 ms (0.3 to 2). With telemetry of the host, a step takes "
             "at least the processor time it took, over the machine's processors, and 8 % more; 95 % (85 to 100 %) of "
             "the saving is kept. Without, 85 % (60 to 100 %), as in two recorded pairs (ResNet-50, 0 to 4 workers).",
         .apply = Apply},
    .trial = {
        .value = "N",
        .grammar = {"a whole number from 0 to 1024", IsCount<0, 1024>},
        .why =
            "Where steps wait for their next batch. DataLoader gets num_workers=N, persistent_workers=True and "
            "prefetch_factor=4, where the program left num_workers at 0; the order of the samples stays. A dataset "
            "that draws from the global random numbers gets others in each worker, and so does what the training "
            "draws after it: the losses then follow the same distribution, but are other numbers. Without random "
            "numbers in the dataset they stay bit-equal. More memory of the host, a copy of the dataset object for "
            "each worker. Where loading mostly waits, as the processor time of the job shows, more workers than "
            "processors are tried: up to 16, while they bring something. Where loading computes and the program has as "
            "many workers as there are processors, or more, fewer are tried, and none: they take time from what "
            "computes. Prior: 152 to 126 ms and 176 to 126 ms a step, 1.2 to 1.4 "
            "times (0 to 4 workers, ResNet-50 on a V100, recorded pairs).",
        .effort = Effort::kQuick,
        .choice = {.order = 40, .cures = kCures, .prior = 1.3, .blind = true},
        .needs = {.loader = true},
        .live = {.between_steps = true, .block_shape = LoaderBlocks},
        .values = Values}};

}  // namespace gapless::internal::workers_fix
