// SPDX-License-Identifier: Apache-2.0
// Runs a command once and turns a failed run, or one without measured steps, into an error.
#include "proof/measure.h"

#include "base/redact.h"
#include "base/strings.h"
#include "trial/printed.h"

namespace gapless::internal {
namespace {

constexpr size_t kTailLines = 12;

}  // namespace

Result<RunSample> RunMeasured(const RunRequest& request) {
  auto sample = RunOnce(request);
  return sample ? Checked(std::move(*sample), request) : sample;
}

Result<RunSample> Checked(RunSample sample, const RunRequest& request) {
  if (sample.interrupted || !Succeeded(sample)) return FailureOf(sample, request);
  // Whole processes, measured in place of the steps that were asked for, would be compared with steps one day.
  if (!request.step_function.empty() && sample.source == SampleSource::kProcess && !request.whole_process)
    return Fail(ErrorCode::kCommand,
                StrCat("no call of --step-function ", Printable(request.step_function), " was counted"),
                CommandText(request.command),
                StrCat("steps are counted in Python processes that import PyTorch; --whole measures whole processes",
                       AgentWords(sample)));
  if (TypicalValue(sample).value_or(0) > 0) return sample;
  std::string why =
      request.pattern.empty() ? "it took no step after warm-up; lower --warmup" : "no number matches --pattern";
  if (!request.pattern.empty() && sample.cut_lines > 0)
    why += StrCat("; of ", sample.cut_lines, " long lines that it printed, only the first and last ",
                  FormatBytes(kLongestLine / 2), " were looked at");
  return Fail(ErrorCode::kCommand, "there is nothing to measure in this run", CommandText(request.command),
              why + AgentWords(sample));
}

Unexpected FailureOf(const RunSample& sample, const RunRequest& request) {
  if (sample.interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
  const std::vector<std::string_view> lines = Split(sample.output_tail, '\n');
  std::string tail;
  for (size_t i = lines.size() > kTailLines ? lines.size() - kTailLines : 0; i < lines.size(); ++i)
    if (!lines[i].empty()) tail += StrCat(tail.empty() ? "" : "\n", Printable(lines[i]));
  return Fail(ErrorCode::kCommand,
              sample.timed_out ? "the command did not end in time"
                               : StrCat("the command failed with exit status ", sample.exit_status),
              CommandText(request.command),
              StrCat(request.note_on_failure, request.note_on_failure.empty() ? "" : "; ",
                     tail.empty() ? "it printed nothing" : StrCat("it printed last:\n", tail)));
}

}  // namespace gapless::internal
