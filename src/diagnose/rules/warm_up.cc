// SPDX-License-Identifier: Apache-2.0
// The recording shows a cold start instead of steady work.
//
// Nothing that could be said of such a recording holds for the steps after it, so where this rule fires it is the only
// verdict (Diagnose drops the others), and it has no gain: the remedy is another recording.
#include "analyses/timeline.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNeeds[] = {"warm_up", "operators"};

struct ColdStart {
  int64_t one_off_ns = 0, wall_ns = 0;
  bool everywhere = true;  // every recording with device work is one
};

ColdStart LookAtRecordings(Tables& tables) {
  ColdStart start;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    if (timeline.devices.empty()) continue;
    start.one_off_ns += timeline.window.one_off_idle_ns, start.wall_ns += timeline.window.span.length();
    start.everywhere = start.everywhere && timeline.window.IsColdStart();
  }
  return start;
}

std::string WhatItIs(std::string_view kind) {
  if (kind == "compilation") return "compiling";
  if (kind == "capture") return "capturing a graph";
  if (kind == "loading") return "loading kernels";
  return "first call: loads code, starts libraries";
}

std::vector<Evidence> EvidenceOf(const Table& warm_up) {
  constexpr size_t kMaxShown = 4;
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(warm_up, "idle_ns", kMaxShown)) {
    const std::string line = TextOr(warm_up, row, "source_line", "");
    const int64_t calls = warm_up.Int(row, "calls"), idle = warm_up.Int(row, "idle_ns");
    all.push_back({StrCat(warm_up.Text(row, "name"), InLine(line), " keeps the GPU waiting for ", FormatDuration(idle),
                          calls == 1 ? " in one call (" : StrCat(" in ", FormatCount(calls), " calls ("),
                          WhatItIs(warm_up.Text(row, "kind")), ")"),
                   static_cast<double>(idle), "ns", "slice", IdsOf(warm_up, {row}, "slice_id"), line});
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
  if (start.wall_ns == 0 || !start.everywhere) return std::vector<Bottleneck>{};
  const double share = static_cast<double>(start.one_off_ns) / static_cast<double>(start.wall_ns);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("this recording is a warm-up: ", FormatPercent(share), " of its time is work that happens once");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the recorded time the GPU waits while the host loads kernels, starts libraries, compiles or captures "
             "graphs. Later steps do not repeat that, so this recording does not show what limits them.");
  found.evidence = EvidenceOf(tables.Get("warm_up"));
  found.recommendations = Recommend(Trains(tables));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(warm_up) = {
    .id = "warm_up",
    .type = BottleneckType::kRecording,
    .title = "The recording shows a cold start",
    .why =
        "Time in which no GPU works while the host does what happens once: compilation (TorchDynamo, Inductor, Triton), "
        "graph capture, loading of modules (1 ms or longer), launches of 1 ms or longer and other calls and operators of "
        "5 ms or longer that take twenty times the median of their name or are the first of at most three. Reported if "
        "that is at least half of the analysed time in every recording with GPU work; then nothing else is reported. "
        "Figures: ours; a launch takes 2 to 20 µs.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal
