// SPDX-License-Identifier: Apache-2.0
// Parses the options of commands that measure: times, shares, processors, and the request for one run. Every error
// names its option and shows a value that is taken.
#include "cli/benchmark.h"

#include <sched.h>

#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

// Returns a finite number; absent if anything follows it.
std::optional<double> NumberFrom(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Returns a processor's number; absent if a set of the kernel cannot hold it.
std::optional<int> CpuFrom(std::string_view text) {
  int cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || end != text.data() + text.size() || cpu < 0 || cpu >= CPU_SETSIZE) return std::nullopt;
  return cpu;
}

}  // namespace

// Takes "2%" and "0.02" as the same share; 1 and more are refused.
Result<double> ReadShare(const OptionSpec& option, std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = NumberFrom(text.substr(0, text.size() - (percent ? 1 : 0)));
  const double share = number.value_or(-1) / (percent ? 100 : 1);
  if (share >= 0 && share < 1) return share;
  return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes a share below one, such as 2% or 0.02"),
              std::string(text));
}

// Checks each processor against this process's own set: the kernel would silently leave out those outside of it.
Result<std::vector<int>> ReadCpus(const OptionSpec& option, std::string_view text) {
  std::vector<int> cpus;
  cpu_set_t ours;
  CPU_ZERO(&ours);
  ::sched_getaffinity(0, sizeof ours, &ours);
  for (const std::string_view part : Split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = CpuFrom(part.substr(0, dash));
    const auto last = dash == part.npos ? first : CpuFrom(part.substr(dash + 1));
    if (!first || !last || *last < *first)
      return Fail(ErrorCode::kUsage, StrCat("--", option.name, " takes processors, such as 0-3,8"), std::string(part));
    for (int cpu = *first; cpu <= *last; ++cpu) {
      if (!CPU_ISSET(static_cast<size_t>(cpu), &ours))
        return Fail(ErrorCode::kEnvironment, StrCat("there is no processor ", cpu, " for this process"));
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

// With a bare --json the program's output goes to standard error, because standard output holds the document.
Result<RunRequest> RequestFrom(const MeasureArguments& arguments, std::vector<std::string> command) {
  if (command.empty())
    return Fail(ErrorCode::kUsage, "cannot run: no command given", "",
                "write the command after --: -- python train.py");
  RunRequest request;
  request.command = std::move(command);
  request.warmup = arguments.warmup;
  request.measure = arguments.steps;
  request.cpus = arguments.pin;
  request.step_function = arguments.step_function;
  request.timeout_s = arguments.timeout.value_or(0);
  request.pattern = arguments.pattern;
  request.whole_process = arguments.whole;
  request.to_the_end = arguments.to_the_end;
  request.show_output = arguments.show_output;
  request.output_to_stderr = arguments.JsonToStdout();
  return request;
}

int StatusOf(const MeasureArguments& arguments, Told told, int otherwise) {
  constexpr int kNotTold = 5;
  if (told == Told::kCannotTell) return arguments.strict ? kNotTold : otherwise;
  return told == Told::kYes ? 0 : 1;
}

Result<int> Answer(const Arguments& arguments, int status, const std::function<std::string()>& text,
                   const std::function<std::string()>& json) {
  auto printed = PrintTextOrJson(arguments, text, json);
  if (!printed) return printed;
  return status;
}

Result<int> Answer(const Arguments& arguments, bool yes, const std::function<std::string()>& text,
                   const std::function<std::string()>& json) {
  return Answer(arguments, yes ? 0 : 1, text, json);
}

}  // namespace gapless::internal
