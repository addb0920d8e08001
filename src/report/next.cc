// SPDX-License-Identifier: Apache-2.0
#include "report/next.h"

#include <algorithm>

#include "base/redact.h"
#include "base/strings.h"
#include "optimize/recipe_use.h"

namespace gapless::internal {
namespace {

// The command behind `--`; "" if it is not known, or if a terminal would not show all of it.
std::string Behind(const std::vector<std::string>& command) {
  const std::vector<std::string> shown = RedactCommand(command);
  const auto is_shown = [](const std::string& word) { return Printable(word) == word; };
  if (command.empty() || shown != command || !std::ranges::all_of(command, is_shown)) return {};
  return StrCat(" -- ", ShellCommand(shown));
}

}  // namespace

std::vector<std::string> NextLines(After after, const NextFacts& facts) {
  std::vector<std::string> lines;
  const std::string behind = Behind(facts.command);
  const auto run = [&](std::string_view verb) {
    if (!behind.empty()) lines.push_back(StrCat("gapless ", verb, behind));
  };
  switch (after) {
    case After::kRecording:
      lines.push_back(StrCat("gapless analyze ", facts.path));
      run("optimize");
      break;
    case After::kReading:
      run("optimize");
      if (!facts.rule.empty()) lines.push_back(StrCat("gapless analyze ", facts.path, " --explain ", facts.rule));
      lines.push_back(StrCat("gapless analyze ", facts.path, " -o report.html"));
      break;
    case After::kFaster: run("gate --record"); break;
    case After::kMeasuring:
      if (!behind.empty()) lines.push_back(StrCat("gapless compare", behind, " -- CHANGED COMMAND"));
      run("gate --record");
      break;
  }
  return lines;
}

std::string NextText(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : StrCat("next: ", lines.front(), "\n");
}

}  // namespace gapless::internal
