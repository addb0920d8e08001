// SPDX-License-Identifier: Apache-2.0
// The recording holds so little that no share of its time means anything.
//
// Samples cut out of recordings by hand, programs that ended while they started, an example of one kernel: their few
// events lie in seconds of nothing, and "the GPU idles for 99.9 %" would be said of an accident. Where this rule fires
// it is the only verdict (Diagnose drops the others).
#include "analyses/rows/recorded.h"
#include "base/strings.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::too_little_work_rule {
namespace {

// Ours: a device that works for less of the recording is no program at work.
constexpr double kHardlyBusyShare = 0.05;
constexpr int64_t kWorkNs = 2'000'000, kNoWorkNs = 100;

constexpr std::string_view kNeeds[] = {"ledger", "recorded"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  int64_t events = 0, operations = 0, busy_ns = 0, wall_ns = 0, window_ns = 0;
  const auto recorded = tables.Get<RecordedRows>();
  for (size_t row = 0; row < recorded.rows(); ++row) {
    events += recorded.Int(row, "events"), operations += recorded.Int(row, "gpu_operations");
    busy_ns += recorded.Int(row, "busy_ns"), wall_ns += recorded.Int(row, "recorded_ns");
    window_ns += recorded.Int(row, "window_ns");
  }
  const auto busy_of = [&](int64_t ns) { return ns > 0 ? static_cast<double>(busy_ns) / static_cast<double>(ns) : 0; };
  const double busy = busy_of(wall_ns);
  // A few long operations are a benchmark, however long the program took to start.
  const bool hardly_works =
      busy_ns < kNoWorkNs || (busy_ns < kWorkNs && (busy < kHardlyBusyShare || busy_of(window_ns) < kHardlyBusyShare));
  if (operations == 0 || events >= kMinEvents || !hardly_works) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = 1 - busy;
  found.title = StrCat("this recording holds too little to judge: ", FormatCount(operations),
                       operations == 1 ? " GPU operation" : " GPU operations", " in ", FormatDuration(wall_ns));
  found.description = StrCat("The recording has ", FormatCount(events), " events in ", FormatDuration(wall_ns),
                             ", and the GPU works for ", FormatDuration(busy_ns),
                             " of that. No share of such a time says anything about a program.");
  found.evidence.push_back(
      {.text = StrCat("GPU operations: ", FormatCount(operations), ", ", FormatDuration(busy_ns), " in all"),
       .value = static_cast<double>(operations),
       .unit = "operations",
       .table = "gpu_op"});
  found.recommendations.push_back(
      {"record several repetitions of the work, without what comes before and after", "", "", "minutes"});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(too_little_work) = {.id = "too_little_work",
                         .type = BottleneckType::kRecording,
                         .title = "The recording holds too little to judge",
                         .why =
                             "Recordings of fewer than 100 events in which the GPU works for less than 2 ms, and for "
                             "less than 5 % of the analysed "
                             "time or of the recording, or for less than 100 ns at all. Then nothing else is reported. "
                             "Figures: ours; the smallest real step that we know has a few hundred events.",
                         .needs = kNeeds,
                         .check = Check};

}  // namespace gapless::internal::too_little_work_rule
