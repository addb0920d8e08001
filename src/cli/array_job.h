// SPDX-License-Identifier: Apache-2.0
// Jobs of many equal tasks, each of which summarises some recordings: what a scheduler of a cluster is given.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "cli/command.h"

namespace gapless::internal {

// All that verbs have in common which write such a job.
struct ArrayArguments : Arguments {
  std::vector<std::string> paths{};
  std::string summaries{}, output{}, mem{};
  std::optional<int64_t> ranks{}, per_task{};
  int64_t cpus = 1;
};
inline constexpr auto kArrayPathsWord =
    Word<&ArrayArguments::paths>("PATH",
                                 "a name with {} for the rank ({:05}: of five digits), or recordings that are here")
        .Times(1, 100000)
        .Path();
inline constexpr auto kArrayRanksOption =
    Number<&ArrayArguments::ranks>("N", "Put the ranks 0 to N-1 in place of {}", 1, 10'000'000);
inline constexpr auto kArraySummariesOption =
    Text<&ArrayArguments::summaries>("DIR", "Write the summaries to DIR, a folder that all nodes see, or a URL");
inline constexpr auto kArrayCpusOption = Number<&ArrayArguments::cpus>("N", "Take N cores a task (1)", 1, 1024);

// The tasks, and the lines of sh that each of them runs.
struct ArrayJob {
  int64_t tasks = 0, recordings = 0, per_task = 0;
  std::string script{};  // without a first line; ends with a newline
};

// `index` is the variable that holds a task's number, from 0 on; `most_tasks` decides how many recordings a task gets
// unless it was said. A usage error: nothing to put in place of {}, no place to write to, a name of several lines.
Result<ArrayJob> ArrayJobOf(const ArrayArguments& arguments, std::string_view index, int64_t most_tasks);

namespace documents {

struct ArrayScript {
  std::string path{}, script{};
  int64_t tasks = 0, recordings = 0, per_task = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&ArrayScript::path>("path", "", "file that was written; empty: none"),
      Field<&ArrayScript::script>("script", "", "the text"),
      Field<&ArrayScript::tasks>("tasks", "count", "tasks that it starts"),
      Field<&ArrayScript::recordings>("recordings", "count", "recordings that they summarise"),
      Field<&ArrayScript::per_task>("per_task", "count", "recordings a task, at most"),
  };
};

}  // namespace documents

// Prints the text, or writes it to the file of -o, and the document of --json.
Result<int> PrintArrayScript(const ArrayArguments& arguments, std::string_view verb, const ArrayJob& job,
                             std::string text);

}  // namespace gapless::internal
