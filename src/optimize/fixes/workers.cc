// SPDX-License-Identifier: Apache-2.0
// The fix `workers`: the number of worker processes of each DataLoader. Values never exceed the processors of a
// rank. Each value has its own expected gain, from machine_hints.h.
#include <algorithm>
#include <charconv>

#include "optimize/fix.h"
#include "optimize/fixes/common/values.h"

namespace gapless::internal {
namespace {

// Workers take processors from the training, and from each other: as many as there are processors, or more, are tried
// with fewer.
FixValues Fewer(size_t workers, size_t most) {
  FixValues values;
  for (const size_t count : {size_t{0}, most / 2, most - 1, size_t{1}})
    if (const std::string value = std::to_string(count);
        count < workers && std::ranges::find(values.apart, value) == values.apart.end())
      values.apart.push_back(value);
  values.values = {values.apart.front()};
  values.apart.erase(values.apart.begin());
  return values;
}

FixValues Values(const FixContext& context) {
  const size_t most = CpusPerRank(context);
  if (context.loader_workers >= most) return Fewer(context.loader_workers, most);
  const auto grid = context.all_values ? std::vector<size_t>{0, 2, 4, 8, 16} : std::vector<size_t>{4, 2, 8, 16};
  FixValues values = AtMost(most, grid);
  // Few processors: as many workers as there are.
  if (most < 4 && most != 2) values.values.push_back(std::to_string(most));
  if (context.loader_workers > 0) values.apart.push_back("0");
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
    FROM_CATALOGUE(kWorkers),
    .value = "N",
    .grammar = {"a whole number from 0 to 1024", IsCount<0, 1024>},
    .why =
        "Where steps wait for their next batch. DataLoader gets num_workers=N, persistent_workers=True and "
        "prefetch_factor=4, where the program left num_workers at 0; the order of the samples stays. A dataset "
        "that draws from the global random numbers gets others in each worker, and so does what the training "
        "draws after it: the losses then follow the same distribution, but are other numbers. Without random "
        "numbers in the dataset they stay bit-equal. More memory of the host, a copy of the dataset object for "
        "each worker. Where the program has as many workers as there are processors, or more, fewer are tried, and "
        "none: they take time from what computes. Prior: 152 to 126 ms and 176 to 126 ms a step, 1.2 to 1.4 times (0 "
        "to 4 workers, ResNet-50 "
        "on a V100, recorded pairs).",
    .effort = Effort::kQuick,
    .blind = true,
    .needs_loader = true,
    .live = true,
    .block_shape = LoaderBlocks,
    .order = 40,
    .cures = kCures,
    .prior = 1.3,
    .values = Values};

}  // namespace gapless::internal
