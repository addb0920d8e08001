// SPDX-License-Identifier: Apache-2.0
// Writes what a task does for POSIX sh. Names of users are words in quotes, so that nothing in them is run.
#include "cli/array_job.h"

#include <algorithm>
#include <filesystem>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/output.h"
#include "ingest/input_paths.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

struct Placeholder {
  size_t at = 0, length = 0;
  int digits = 0;
};

// The first "{}" or "{:05}" from `from` on.
std::optional<Placeholder> FindPlaceholder(std::string_view text, size_t from) {
  for (size_t at = text.find('{', from); at != text.npos; at = text.find('{', at + 1)) {
    const size_t end = text.find('}', at);
    if (end == text.npos) return {};
    const std::string_view inside = text.substr(at + 1, end - at - 1);
    if (inside.empty()) return Placeholder{at, 2, 0};
    if (inside.size() == 3 && inside.starts_with(":0") && inside[2] >= '1' && inside[2] <= '9')
      return Placeholder{at, 5, inside[2] - '0'};
  }
  return {};
}

// The pattern as a word of sh, with the variable "rank" in it.
std::string PatternWord(std::string_view pattern) {
  std::string word;
  size_t done = 0;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) word += ShellWord(text);
  };
  while (const auto found = FindPlaceholder(pattern, done)) {
    add(pattern.substr(done, found->at - done));
    word += found->digits == 0 ? "\"$rank\"" : StrCat("\"$(printf %0", found->digits, "d \"$rank\")\"");
    done = found->at + found->length;
  }
  add(pattern.substr(done));
  return word;
}

std::string SummarizeLine(const ArrayArguments& arguments) {
  return StrCat("GAPLESS_THREADS=", arguments.cpus, " exec gapless summarize \"$@\" -o ",
                ShellWord(arguments.summaries), "\n");
}

std::string PatternScript(const ArrayArguments& arguments, std::string_view index, int64_t ranks, int64_t per_task) {
  std::string text =
      StrCat("rank=$((", index, " * ", per_task, "))\nend=$((rank + ", per_task, "))\n[ \"$end\" -le ", ranks,
             " ] || end=", ranks, "\nset --\nwhile [ \"$rank\" -lt \"$end\" ]; do\n  set -- \"$@\"");
  for (const std::string& pattern : arguments.paths) text += StrCat(" ", PatternWord(pattern));
  return text + "\n  rank=$((rank + 1))\ndone\n" + SummarizeLine(arguments);
}

std::string ListScript(const ArrayArguments& arguments, std::string_view index, const std::vector<std::string>& paths,
                       int64_t per_task) {
  std::string text = StrCat("case $", index, " in\n");
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i % static_cast<size_t>(per_task) == 0)
      text += StrCat(i > 0 ? " ;;\n" : "", i / static_cast<size_t>(per_task), ") set --");
    text += StrCat(" ", ShellWord(paths[i]));
  }
  return text + " ;;\nesac\n" + SummarizeLine(arguments);
}

// The recordings of this machine; a run folder is one.
Result<std::vector<std::string>> RecordingsHere(const std::vector<std::string>& given) {
  std::vector<std::string> paths;
  for (const std::string& path : given) {
    std::error_code error;
    if (IsRunFolder(path) || !fs::is_directory(path, error)) {
      paths.push_back(path);
      continue;
    }
    GAPLESS_ASSIGN(const auto found, InputPathsOf(std::span(&path, 1)));
    for (const InputPath& input : found) paths.push_back(input.path);
  }
  return paths;
}

Result<void> CheckNames(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      return Fail(ErrorCode::kUsage, "a name with control characters cannot stand in a script", Printable(name));
  return {};
}

}  // namespace

Result<ArrayJob> ArrayJobOf(const ArrayArguments& arguments, std::string_view index, int64_t most_tasks) {
  if (arguments.summaries.empty())
    return Fail(ErrorCode::kUsage, "no folder for the summaries", "", "--summaries DIR, which all nodes see");
  GAPLESS_TRY(CheckNames({arguments.summaries, arguments.output}));
  const bool is_pattern = std::ranges::any_of(
      arguments.paths, [](const std::string& path) { return FindPlaceholder(path, 0).has_value(); });
  if (is_pattern && !arguments.ranks)
    return Fail(ErrorCode::kUsage, "nobody says how many ranks there are", arguments.paths.front(), "--ranks N");
  if (!is_pattern && arguments.ranks)
    return Fail(ErrorCode::kUsage, "no {} stands in the name of a recording", arguments.paths.front(),
                "name it as in run/rank{}.json.gz");
  std::vector<std::string> paths = arguments.paths;
  if (!is_pattern) {
    GAPLESS_ASSIGN(paths, RecordingsHere(arguments.paths));
  }
  GAPLESS_TRY(CheckNames(paths));
  ArrayJob job;
  const int64_t count = is_pattern ? *arguments.ranks : static_cast<int64_t>(paths.size());
  job.per_task = arguments.per_task.value_or((count + most_tasks - 1) / most_tasks);
  job.tasks = (count + job.per_task - 1) / job.per_task;
  job.recordings = is_pattern ? count * static_cast<int64_t>(paths.size()) : count;
  job.script = is_pattern ? PatternScript(arguments, index, count, job.per_task)
                          : ListScript(arguments, index, paths, job.per_task);
  return job;
}

Result<int> PrintArrayScript(const ArrayArguments& arguments, std::string_view verb, const ArrayJob& job,
                             std::string text) {
  if (!arguments.output.empty() && arguments.output != "-") GAPLESS_TRY(WriteFile(arguments.output, text));
  const bool to_file = !arguments.output.empty() && arguments.output != "-";
  documents::ArrayScript document{.path = to_file ? arguments.output : "", .script = std::move(text)};
  document.tasks = job.tasks, document.recordings = job.recordings, document.per_task = job.per_task;
  const auto shown = [&] {
    return to_file ? StrCat("wrote ", Printable(arguments.output), ": ", FormatCounted(job.tasks, "task", "tasks"),
                            " for ", FormatCounted(job.recordings, "recording", "recordings"), "\n")
                   : document.script;
  };
  return PrintTextOrJson(arguments, shown, [&] { return DocumentOf(verb, document); });
}

}  // namespace gapless::internal
