// SPDX-License-Identifier: Apache-2.0
// Implements the flight recorder: compares each step with the quantiles of the steps before it, explains a slow
// step by the parts that took longer than usual, and requests a recording of the steps after it.
//
// Example: median 31 ms, 99th percentile 33 ms. A step counts as slow above 46.5 ms (1.5 times the median), since
// 31 + 3 · 2 = 37 ms is less. The slow step itself is over when it is found, so the recording shows the steps
// after it: it helps where slow steps come in groups. Slow steps enter the history, too, which lets a new level
// become the usual one.
#include "collect/flight_recorder.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr double kBand = 0.99, kAboveMedian = 1.5;
constexpr int64_t kBands = 3;           // the band is from the median to the 99th percentile
constexpr int64_t kAfterRecording = 3;  // steps
constexpr int64_t kWorse = 2;           // a step twice as far off as the last one is reported without a pause
constexpr double kWorthNaming =
    0.2;  // share of the time that the step took above the median; smaller causes are not named

// Returns false until there are enough steps to know what is usual.
bool IsSlow(const StepParts& parts, const StepHistory& history) {
  if (history.size() < StepHistory::kEnough) return false;
  const int64_t median = history.Quantile(0.5);
  return static_cast<double>(parts.dur_ns) > kAboveMedian * static_cast<double>(median) &&
         parts.dur_ns - median > kBands * (history.Quantile(kBand) - median);
}

}  // namespace

std::string SlowStep::Text() const {
  struct Part {
    std::string_view what;
    int64_t more_ns;
  };
  const int64_t more = parts.dur_ns - median_ns;
  std::array<Part, 4> all = {{{"waiting for the next batch", parts.wait_ns - usual.wait_ns},
                              {"Python's garbage collection", parts.gc_ns - usual.gc_ns},
                              {"saving a checkpoint", parts.save_ns - usual.save_ns},
                              {"compiling", parts.compile_ns - usual.compile_ns}}};
  std::sort(all.begin(), all.end(), [](const Part& a, const Part& b) { return a.more_ns > b.more_ns; });
  std::string text = StrCat("step ", parts.step, " took ", FormatDuration(parts.dur_ns), ", the median step ",
                            FormatDuration(median_ns), ", p99 ", FormatDuration(p99_ns), ":");
  int64_t named = 0;
  for (const Part& part : all) {
    if (static_cast<double>(part.more_ns) < kWorthNaming * static_cast<double>(more)) continue;
    text += StrCat(named > 0 ? ", " : " ", FormatDuration(part.more_ns), " more in ", part.what);
    named += part.more_ns;
  }
  const int64_t rest = more - named;
  if (static_cast<double>(rest) >= kWorthNaming * static_cast<double>(more))
    text += StrCat(named > 0 ? ", " : " ", FormatDuration(rest),
                   " more in the step's own code, its device work or waits for other ranks");
  return text;
}

// Steps with the profiler on, the three after them, and the first step are left out of both search and history. A
// step is reported once, whichever rank it is found on first.
void FlightRecorder::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  const wire::RingHeader& header = process.ring.header();
  if (header.role != wire::AgentRole::kTrains) return;
  State& state = states_[header.pid];
  if (!state.account.Add(record)) return;
  const StepParts& parts = state.account.last();
  // The profiler writes its file in the steps after those it recorded.
  if ((parts.flags & wire::kStepRecorded) != 0) state.disturbed_until = parts.step + kAfterRecording;
  if ((parts.flags & wire::kStepFirst) != 0 || parts.step <= state.disturbed_until) return;
  if (IsSlow(parts, state.dur)) {
    ++seen_;
    const int64_t more_ns = parts.dur_ns - state.dur.Quantile(0.5);
    if ((parts.step >= state.quiet_until || more_ns > kWorse * state.last_more_ns) && !noted_[parts.step]) {
      noted_[parts.step] = true;
      state.last_more_ns = more_ns;
      state.quiet_until = parts.step + options_.pause_steps;
      found_.push_back({.pid = header.pid,
                        .parts = parts,
                        .median_ns = state.dur.Quantile(0.5),
                        .p99_ns = state.dur.Quantile(kBand),
                        .usual = {.wait_ns = state.wait.Quantile(0.5),
                                  .gc_ns = state.gc.Quantile(0.5),
                                  .save_ns = state.save.Quantile(0.5),
                                  .compile_ns = state.compile.Quantile(0.5)}});
    }
  }
  state.dur.Add(parts.dur_ns);
  state.wait.Add(parts.wait_ns);
  state.gc.Add(parts.gc_ns);
  state.save.Add(parts.save_ns);
  state.compile.Add(parts.compile_ns);
}

// Requests the recordings here and not in OnRecord(), since only the tick has the control block. The number of
// recordings of a run is limited; further slow steps are only noted.
void FlightRecorder::OnTick(RingKeeper& /*rings*/, ControlBlock& control, std::vector<RunEvent>& events) {
  for (; !found_.empty(); found_.pop_front()) {
    const SlowStep& slow = found_.front();
    std::string text = StrCat("slow step: ", slow.Text());
    if (options_.steps > 0 && recordings_ < options_.most) {
      const auto posted = control.Post(wire::AgentCommand::kRecord, options_.steps, slow.Text());
      ++recordings_;
      text += posted ? StrCat("; the next ", options_.steps, " steps are recorded")
                     : StrCat("; no recording: ", posted.error().message);
    }
    events.push_back({slow.parts.ts_ns + slow.parts.dur_ns, text});
  }
}

}  // namespace gapless::internal
