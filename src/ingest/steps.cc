// SPDX-License-Identifier: Apache-2.0
// A step is complete when the recording holds all of it. The recorder's last step mark is often closed by the end of
// the recording and not by the program; such a step launched less work than the others. Following the TensorBoard
// plugin, the last step counts as cut off below 80 % of the work of a typical one; the first, below 50 %; any with
// none, when others have.
//
// Marks count as steps only if they hold a fair share of the recording's work: a mark that some library or a single
// call of prof.step() left over a few microseconds must not hide the rest. Marks that hold less are passed over, and
// the next kind of mark is tried; if none is left, the recording has no steps and a note says why.
//
// A step that lacks a tenth of the work it launched counts as incomplete, too, where others lack less: the recorder
// lost operations, and what is missing would look like idle time.
//
// A file that ends in the middle lacks events of any time: recorders write operators first, then launches and device
// work, so a cut takes device work of steps whose operators are all there. In such a file the last step with device
// work and all after it count as cut off, and any below 80 % of the work of a typical one that has some.
#include "ingest/steps.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string>

#include "base/order_statistics.h"
#include "base/strings.h"
#include "trace/derive.h"
#include "trace/lost_work.h"
#include "trace/marks.h"
#include "trace/reading_note.h"

namespace gapless::internal {
namespace {

constexpr double kLastStepShare = 0.8, kFirstStepShare = 0.5;
constexpr int64_t kLostPart = 10, kFewestLost = 4;  // a step that lost a tenth of what it launched is not judged

// The minimum share of the recording's work that steps must hold. The first of two steps between optimizer marks may be
// twice as much work as the one that counts (it searches algorithms), and an evaluation beside it as much again.
constexpr double kMinStepsShare = 0.2;
// The share of the recorded time below which the profiler's marks, too, have to hold that much work.
constexpr double kMinTime = 0.02;

// Returns the number at the end of a name ("ProfilerStep#12"), or `otherwise`.
int64_t TrailingNumber(std::string_view name, int64_t otherwise) {
  const size_t digits = name.find_last_not_of("0123456789");
  const std::string_view text = name.substr(digits == std::string_view::npos ? 0 : digits + 1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? number : otherwise;
}

// The rows of annotations whose name fits, in time order. Each distinct name is judged once.
template <class Fits>
std::vector<uint32_t> Annotations(const Trace& trace, Fits fits) {
  std::vector<int8_t> judged(trace.strings.size(), -1);
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.slices.category[row] != SliceCategory::kAnnotation) continue;
    int8_t& verdict = judged[static_cast<uint32_t>(trace.slices.name[row])];
    if (verdict < 0) verdict = fits(trace.Text(trace.slices.name[row])) ? 1 : 0;
    if (verdict == 1) rows.push_back(row);
  }
  return rows;
}

// Returns a step for each annotation, as long as it is. Steps without a number in their name are counted from 0.
std::vector<StepRow> Spans(const Trace& trace, const std::vector<uint32_t>& rows, StepSource source) {
  std::vector<StepRow> steps;
  for (const uint32_t row : rows)
    steps.push_back({.number = TrailingNumber(trace.Text(trace.slices.name[row]), static_cast<int64_t>(steps.size())),
                     .name = trace.slices.name[row],
                     .ts_ns = trace.slices.ts_ns[row],
                     .dur_ns = trace.slices.dur_ns[row],
                     .source = source});
  return steps;
}

// Steps between marks: from each mark's `at` to the next one's.
template <class At>
std::vector<StepRow> Between(const std::vector<uint32_t>& rows, StepSource source, At at) {
  std::vector<StepRow> steps;
  for (size_t i = 1; i < rows.size(); ++i)
    steps.push_back({.number = static_cast<int64_t>(i),
                     .ts_ns = at(rows[i - 1]),
                     .dur_ns = at(rows[i]) - at(rows[i - 1]),
                     .source = source});
  return steps;
}

// Returns true if a user's annotation is named after a step. The optimizer's step is a part of one.
bool SaysStep(std::string_view name) {
  if (name.starts_with("ProfilerStep#")) return false;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"step", "iteration", "iter_", "iter ", "batch_"})
    if (lower.find(word) != std::string::npos) return lower.find("optimizer") == std::string::npos;
  return false;
}

// Only the annotations of the most frequent name count (several optimizers, nested loaders).
std::vector<uint32_t> MostFrequent(const Trace& trace, std::vector<uint32_t> rows) {
  std::map<StringId, size_t> count;
  for (const uint32_t row : rows) ++count[trace.slices.name[row]];
  StringId best = StringId::kNone;
  for (const auto& [name, times] : count)
    if (best == StringId::kNone || times > count[best]) best = name;
  std::erase_if(rows, [&](uint32_t row) { return trace.slices.name[row] != best; });
  return rows;
}

// The marks of each kind in the order of trust; single ones mark no step, but for those of the profiler and
// of engines.
using Marks = std::vector<StepRow> (*)(const Trace& trace);

std::vector<StepRow> ProfilerMarks(const Trace& trace) {
  return Spans(trace, Annotations(trace, [](std::string_view name) { return name.starts_with("ProfilerStep#"); }),
               StepSource::kProfiler);
}

std::vector<StepRow> OptimizerMarks(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const auto rows =
      MostFrequent(trace, Annotations(trace, [](std::string_view name) { return name.starts_with("Optimizer.step"); }));
  return Between(rows, StepSource::kAnnotation, [&](uint32_t row) { return slices.ts_ns[row] + slices.dur_ns[row]; });
}

// One iteration of the engine that serves a language model: one forward pass for all requests in flight.
std::vector<StepRow> EngineMarks(const Trace& trace) {
  return Spans(trace, Annotations(trace, IsEngineIteration), StepSource::kAnnotation);
}

// The name without the number at its end.
std::string_view StemOf(std::string_view name) { return name.substr(0, name.find_last_not_of("0123456789") + 1); }

// Marks that a program opens and never closes end together, at the end of the recording, each inside the one before.
// Such a step ends where the next one begins, and where the last one ends is not known.
void EndWhereTheNextBegins(const Trace& trace, std::vector<StepRow>& steps) {
  const auto end = [](const StepRow& step) { return step.ts_ns + step.dur_ns; };
  bool open = false;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    const StepRow& next = steps[i + 1];
    const bool holds = next.number != steps[i].number && next.ts_ns > steps[i].ts_ns && end(next) <= end(steps[i]);
    if (!holds || StemOf(trace.Text(next.name)) != StemOf(trace.Text(steps[i].name))) continue;
    steps[i].dur_ns = next.ts_ns - steps[i].ts_ns;
    open = i + 2 == steps.size();
  }
  if (open) steps.pop_back();
}

std::vector<StepRow> NamedMarks(const Trace& trace) {
  const auto rows = Annotations(trace, SaysStep);
  if (rows.size() < 2) return {};
  std::vector<StepRow> steps = Spans(trace, rows, StepSource::kAnnotation);
  EndWhereTheNextBegins(trace, steps);
  return steps;
}

std::vector<StepRow> LoaderMarks(const Trace& trace) {
  const auto rows = MostFrequent(trace, Annotations(trace, IsDataLoadingMark));
  return Between(rows, StepSource::kInferred, [&](uint32_t row) { return trace.slices.ts_ns[row]; });
}

constexpr Marks kMarks[] = {EngineMarks, ProfilerMarks, OptimizerMarks, NamedMarks, LoaderMarks};

// Returns the share of the recording's work that lies in its steps, 0–1: of the time of GPU operations, or without any
// of the time of operators; 1 if there is no work.
double ShareOfWorkInSteps(const Trace& trace) {
  int64_t all = 0, inside = 0;
  const auto add = [&](int64_t ns, StepId step) { all += ns, inside += step.valid() ? ns : 0; };
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row) add(trace.gpu_ops.dur_ns[row], trace.gpu_ops.step[row]);
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; trace.gpu_ops.size() == 0 && row < slices.size(); ++row)
    if (slices.category[row] == SliceCategory::kOperator) add(slices.self_ns[row], slices.step[row]);
  return all > 0 ? static_cast<double>(inside) / static_cast<double>(all) : 1;
}

// Returns the share of the recorded time that steps take.
double ShareOfTime(const Trace& trace, const std::vector<StepRow>& steps) {
  int64_t inside = 0;
  for (const StepRow& step : steps) inside += step.dur_ns;
  return trace.info.dur_ns > 0 ? static_cast<double>(inside) / static_cast<double>(trace.info.dur_ns) : 1;
}

// Steps as their marks say, when those hold a fair share of the work; else none, and a note.
void TakeMarks(Trace& trace) {
  std::string passed_over;
  double share = 0;
  for (const Marks marks : kMarks) {
    std::vector<StepRow> rows = marks(trace);
    if (rows.empty()) continue;
    const std::string name(trace.Text(rows[0].name));
    // On the host alone a step may do its work outside of operators (Python, collectives), but a profiler's mark is
    // one, if it takes some of the time.
    const bool trusted =
        trace.gpu_ops.size() == 0 && rows[0].source == StepSource::kProfiler && ShareOfTime(trace, rows) >= kMinTime;
    SetSteps(trace, std::move(rows));
    if (trusted) return;
    const double held = ShareOfWorkInSteps(trace);
    if (held >= kMinStepsShare) return;
    if (passed_over.empty()) passed_over = name.empty() ? "between optimizer steps" : name, share = held;
  }
  SetSteps(trace, {});
  if (passed_over.empty()) return;
  AddReadingNote(trace, "ignored_step_marks", Severity::kLoss, 1,
                 StrCat("step marks (", passed_over, ") hold ", FormatPercent(share), " of the ",
                        trace.gpu_ops.size() > 0 ? "GPU's" : "host's",
                        " work, so they are not taken for steps: the whole recording is analysed"));
}

// Returns how much work each step launched: GPU operations, or host slices in a recording without GPU operations.
std::vector<int64_t> Work(const Trace& trace) {
  std::vector<int64_t> work(trace.steps.size());
  const auto& step_of = trace.gpu_ops.size() > 0 ? trace.gpu_ops.step : trace.slices.step;
  for (const StepId step : step_of)
    if (step.valid()) ++work[step.value];
  return work;
}

// Marks steps as incomplete by how much work they launched, compared with the median step. Iterations of an
// inference engine vary with the requests in flight, so for those only steps without any work count as cut off.
void MarkCutOff(Trace& trace) {
  const std::vector<int64_t> work = Work(trace);
  if (work.size() < 2) return;
  const bool varies = IsEngineIteration(trace.Text(trace.steps.name[0]));  // as much as the requests in flight do
  const auto typical = static_cast<double>(UpperMedian(std::vector(work)));
  uint8_t* complete = trace.steps.complete.mutable_data();
  for (size_t i = 0; i < work.size(); ++i)
    if (work[i] == 0 && typical > 0) complete[i] = 0;
  if (varies) return;
  if (static_cast<double>(work.front()) < kFirstStepShare * typical) complete[0] = 0;
  if (static_cast<double>(work.back()) < kLastStepShare * typical) complete[work.size() - 1] = 0;
}

// Applies the rule for files that end in the middle (see above): compares with the median of the steps that have
// device work.
void MarkWithoutDeviceWork(Trace& trace) {
  const std::vector<int64_t> work = Work(trace);
  std::vector<int64_t> some;
  std::copy_if(work.begin(), work.end(), std::back_inserter(some), [](int64_t count) { return count > 0; });
  if (trace.gpu_ops.size() == 0 || some.empty()) return;
  const auto least = kLastStepShare * static_cast<double>(UpperMedian(some));
  const auto last = std::find_if(work.rbegin(), work.rend(), [](int64_t count) { return count > 0; }).base() - 1;
  uint8_t* complete = trace.steps.complete.mutable_data();
  for (size_t i = 0; i < work.size(); ++i)
    if (static_cast<double>(work[i]) < least || i >= static_cast<size_t>(last - work.begin())) complete[i] = 0;
}

// The number of launches of a step, and of those that have no operation.
struct StepLosses {
  int64_t launches = 0, lost = 0;
  bool is_damaged() const { return lost >= kFewestLost && kLostPart * lost >= launches; }
};

std::vector<StepLosses> LossesOfSteps(const Trace& trace) {
  std::vector<StepLosses> of_step(trace.steps.size());
  const LostWork work = FindLostWork(trace);
  for (size_t i = 0; i < work.launches.size(); ++i) {
    const StepId step = trace.slices.step[work.launches[i].value];
    if (!step.valid()) continue;
    ++of_step[step.value].launches;
    of_step[step.value].lost += work.is_lost[i];
  }
  return of_step;
}

// "steps 0 to 3", "steps 2, 5, 7, …": by their own numbers.
std::string NumbersOf(const Trace& trace, const std::vector<size_t>& rows) {
  constexpr size_t kShown = 4;
  const auto number = [&](size_t row) { return FormatCount(trace.steps.number[row]); };
  if (rows.size() == 1) return StrCat("step ", number(rows[0]));
  if (rows.size() > 2 && rows.back() - rows.front() + 1 == rows.size())
    return StrCat("steps ", number(rows.front()), " to ", number(rows.back()));
  std::string text = "steps ";
  for (size_t i = 0; i < std::min(rows.size(), kShown); ++i) text += StrCat(i == 0 ? "" : ", ", number(rows[i]));
  return rows.size() > kShown ? text + ", …" : text;
}

// Applies the rule for steps whose operations the recorder lost (see above), and says which they are.
void MarkDamaged(Trace& trace) {
  if (trace.gpu_ops.size() == 0 || trace.steps.size() < 2) return;
  const std::vector<StepLosses> losses = LossesOfSteps(trace);
  std::vector<size_t> damaged;
  int64_t lost = 0;
  for (size_t i = 0; i < losses.size(); ++i)
    if (losses[i].is_damaged()) damaged.push_back(i), lost += losses[i].lost;
  if (damaged.empty() || damaged.size() == losses.size()) return;
  for (const size_t row : damaged) trace.steps.complete.mutable_data()[row] = 0;
  AddReadingNote(
      trace, "damaged_steps", Severity::kLoss, 1,
      StrCat("steps whose GPU operations were lost are left out: ", FormatCounted(lost, "launch", "launches"), " in ",
             NumbersOf(trace, damaged), lost == 1 ? " has" : " have", " no GPU operation"));
}

}  // namespace

void FindSteps(Trace& trace) {
  if (trace.steps.size() > 0) return;
  TakeMarks(trace);
  MarkCutOff(trace);
  MarkDamaged(trace);
  if (EndsInTheMiddle(trace)) MarkWithoutDeviceWork(trace);
}

}  // namespace gapless::internal
