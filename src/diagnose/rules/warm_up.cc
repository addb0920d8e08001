// SPDX-License-Identifier: Apache-2.0
// The recording shows a cold start instead of steady work.
//
// Nothing that could be said of such a recording holds for the steps after it, so where this rule fires it is the only
// verdict (Diagnose drops the others), and it has no gain: the remedy is another recording.
#include "analyses/rows/warm_up.h"

#include <algorithm>

#include "analyses/rows/recorded.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal::warm_up_rule {
namespace {

constexpr std::string_view kNeeds[] = {"warm_up", "operators", "idle", "recorded"};

struct ColdStart {
  int64_t one_off_ns = 0, wall_ns = 0;
  int64_t busy_ns = 0, recorded_ns = 0, window_idle_ns = 0, operations = 0;
  bool everywhere = true;   // one-offs take at least half of each recording with device work
  bool only_starts = true;  // each such recording holds a start and nothing that repeats
};

ColdStart LookAtRecordings(Tables& tables) {
  ColdStart start;
  const auto recorded = tables.Get<RecordedRows>();
  for (size_t row = 0; row < recorded.rows(); ++row) {
    if (recorded.Int(row, "devices") == 0) continue;
    const int64_t window_ns = recorded.Int(row, "window_ns"), busy_ns = recorded.Int(row, "busy_ns");
    start.one_off_ns += recorded.Int(row, "one_off_idle_ns"), start.wall_ns += window_ns;
    start.window_idle_ns += window_ns - std::min(busy_ns, window_ns);
    start.busy_ns += busy_ns, start.recorded_ns += recorded.Int(row, "recorded_ns");
    start.operations += recorded.Int(row, "gpu_operations");
    start.everywhere = start.everywhere && recorded.Int(row, "cold_start") == 1;
    start.only_starts = start.only_starts && recorded.Int(row, "only_starts") == 1;
  }
  return start;
}

std::string WhatItIs(std::string_view kind) {
  if (kind == "compilation") return "compiling";
  if (kind == "capture") return "capturing a graph";
  if (kind == "loading") return "loading kernels";
  return "first call: loads code, starts libraries";
}

// The one-offs by the time in which the GPU waits for them within what is analysed: what they take before and behind it
// is nobody's wait. Where they explain less than half of the idle time, its longest gap comes first.
std::vector<Evidence> EvidenceOf(Tables& tables, const WarmUpRows& warm_up, int64_t idle_ns) {
  constexpr size_t kMaxShown = 4;
  std::vector<Evidence> all;
  if (2 * SumOf(warm_up, "window_idle_ns") < idle_ns)
    all.push_back(LargestGaps(LongestIdle(tables), "dur_ns", "time without work for the GPU"));
  for (const size_t row : LargestRows(warm_up, "window_idle_ns", kMaxShown)) {
    const std::string line = TextOr(warm_up, row, "source_line", "");
    const int64_t calls = warm_up.Int(row, "calls"), idle = warm_up.Int(row, "window_idle_ns");
    if (idle == 0) continue;
    all.push_back(
        {.text = StrCat(warm_up.Text(row, "name"), InLine(line), " keeps the GPU waiting for ", FormatDuration(idle),
                        calls == 1 ? " in one call (" : StrCat(" in ", FormatCount(calls), " calls ("),
                        WhatItIs(warm_up.Text(row, "kind")), ")"),
         .value = static_cast<double>(idle),
         .unit = "ns",
         .table = "slice",
         .rows = IdsOf(warm_up, {row}, "slice_id"),
         .source = line});
  }
  return all;
}

std::vector<Recommendation> Recommend(bool trains) {
  std::vector<Recommendation> all;
  if (trains)
    all.push_back({"let the first steps pass before the recording starts, and record a few after them", "",
                   "profile(schedule=torch.profiler.schedule(wait=5, warmup=2, active=5), ...)", "minutes"});
  else
    all.push_back({"run the same work a few times before the recording starts, then record it several times", "",
                   "for _ in range(3): work()\ntorch.cuda.synchronize()\nwith profile(...): work()", "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const ColdStart start = LookAtRecordings(tables);
  if (start.wall_ns == 0 || (!start.everywhere && !start.only_starts)) return std::vector<Bottleneck>{};
  const double share = static_cast<double>(start.one_off_ns) / static_cast<double>(start.wall_ns);
  Bottleneck found;
  if (start.everywhere) {
    found.share_of_step = share;
    found.title =
        StrCat("this recording is a warm-up: ", FormatPercent(share), " of its time is work that happens once");
    found.description = StrCat(
        "For ", FormatPercent(share),
        " of the recorded time the GPU waits while the host loads kernels, starts libraries, compiles or captures "
        "graphs. Later steps do not repeat that, so this recording does not show what limits them.");
  } else {
    found.share_of_step = 1 - static_cast<double>(start.busy_ns) / static_cast<double>(start.recorded_ns);
    found.title = StrCat("this recording is a warm-up: ", FormatCount(start.operations), " GPU operations, ",
                         FormatDuration(start.busy_ns), " in ", FormatDuration(start.recorded_ns));
    found.description =
        StrCat("The program starts, and the GPU works for ", FormatDuration(start.busy_ns), " of ",
               FormatDuration(start.recorded_ns),
               " on operations that are hardly ever repeated. What limits steady work cannot be seen here.");
  }
  found.evidence = EvidenceOf(tables, tables.Get<WarmUpRows>(), start.window_idle_ns);
  found.recommendations = Recommend(Trains(tables));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(warm_up) = {.id = "warm_up",
                 .type = BottleneckType::kRecording,
                 .title = "The recording shows a cold start",
                 .why =
                     "Time in which no GPU works while the host does what happens once: compilation (TorchDynamo, "
                     "Inductor, Triton), "
                     "graph capture, loading of modules (1 ms or longer), launches of 1 ms or longer and other calls "
                     "and operators of "
                     "5 ms or longer that take twenty times as long as the fastest quarter of their name or are the "
                     "first of at most three. Reported if "
                     "that is at least half of the analysed time in every recording with GPU work; also if the GPU "
                     "works for less than "
                     "10 % of the analysed time, with at most two steps, on 64 operations or fewer, or half of them "
                     "are of kernels that run "
                     "three times at most, and such one-offs take 5 ms or more. Then nothing else is reported. "
                     "Figures: ours; a launch takes 2 to "
                     "20 µs.",
                 .needs = kNeeds,
                 .check = Check};

}  // namespace gapless::internal::warm_up_rule
