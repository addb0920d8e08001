// SPDX-License-Identifier: Apache-2.0
// Loads recordings with a progress line on standard error, parses --rank, and warns about data that was lost in
// reading. Outputs are checked against everything that was read, archives included, before any of them is opened.
#include "cli/loading.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>

#include "base/log.h"
#include "base/strings.h"
#include "cli/elsewhere.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cluster/condense.h"
#include "ingest/redaction.h"
#include "ingest/source_root.h"
#include "report/notes.h"

namespace gapless::internal {
namespace {

// Longest range of numbers, so that a mistyped 0-9999999999 does not use up the memory.
constexpr int64_t kMaxInRange = 1 << 20;

// Shows what is being read, with its number if there are several inputs.
void Show(ProgressLine& line, const LoadProgress& progress) {
  const std::string what = progress.inputs_total > 1 ? StrCat("recording ", progress.inputs_done + 1, " of ",
                                                              progress.inputs_total, ", ", progress.path)
                                                     : std::string(progress.path);
  line.Update("reading", what, progress.bytes_done, progress.bytes_total,
              [](uint64_t bytes) { return FormatBytes(static_cast<int64_t>(bytes)); });
}

// Reads a number of 0 or more.
Result<int64_t> ParseNumber(std::string_view text, std::string_view noun, std::string_view hint) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0)
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(text), "' is not a ", noun), "", std::string(hint));
  return number;
}

}  // namespace

Result<std::vector<int64_t>> ParseNumbers(std::string_view text, std::string_view noun, std::string_view hint) {
  std::vector<int64_t> numbers;
  for (const std::string_view item : Split(text, ',')) {
    if (item.empty()) continue;
    const auto ends = Split(item, '-');
    GAPLESS_ASSIGN(const auto first, ParseNumber(ends.front(), noun, hint));
    GAPLESS_ASSIGN(const auto last, ParseNumber(ends.back(), noun, hint));
    if (ends.size() > 2 || last < first || last - first > kMaxInRange)
      return Fail(ErrorCode::kUsage, StrCat("'", Printable(item), "' is not a range of ", noun, "s"));
    for (int64_t number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<int64_t>> ReadRanks(const OptionSpec&, std::string_view text) {
  return ParseNumbers(text, "rank", "--rank 0,4-7");
}

// The line outlives the reading; a redirected standard error gets no progress.
OpenOptions OpenOptionsFrom(const Session& session, ProgressLine& line) {
  OpenOptions options{.cancel_flag = session.cancel};
  if (session.stderr_is_tty) options.progress = [&line](const LoadProgress& progress) { Show(line, progress); };
  return options;
}

// Redaction comes last: it knows no folder of this machine.
Result<void> ChangeSources(const ReadArguments& arguments, const Session& session, LoadedRun& loaded) {
  if (!arguments.source_root.empty()) {
    GAPLESS_ASSIGN(const size_t found, MapSources(loaded, arguments.source_root));
    if (found == 0) log::Warning(StrCat("no source that was recorded is below ", arguments.source_root));
  }
  if (arguments.redact) session.redaction->Apply(loaded);
  return {};
}

// Checks the outputs only after reading: a folder's files are known only then.
Result<LoadedRun> LoadFor(const ReadArguments& arguments, const Session& session, std::span<const std::string> paths,
                          std::span<const std::string> outputs) {
  ProgressLine line;
  OpenOptions options = OpenOptionsFrom(session, line);
  options.use_cache = !arguments.no_cache;
  options.ranks = arguments.rank;
  options.roles = arguments.role;
  options.lead_role = arguments.lead_role;
  options.memory_bytes = static_cast<uint64_t>(arguments.memory.value_or(0));
  std::vector<std::string> here(paths.begin(), paths.end());
  std::vector<Error> lost;
  if (std::ranges::any_of(here, IsUrl)) {
    GAPLESS_ASSIGN(const auto done, SummarizeElsewhere({.paths = here, .memory = arguments.memory, .here = true}));
    here = FilesOf(done), lost = LostOf(done);
  }
  auto loaded = LoadRun(here, options);
  if (!loaded) return loaded;
  std::ranges::move(lost, std::back_inserter(loaded->failures));
  if (session.cancel != nullptr && session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  const std::vector<std::string> inputs = InputFiles(*loaded, here);
  GAPLESS_TRY(RefuseInput(arguments.output, inputs));
  GAPLESS_TRY(RefuseInput(arguments.json.value_or(""), inputs));
  for (const std::string& output : outputs) GAPLESS_TRY(RefuseInput(output, inputs));
  GAPLESS_TRY(ChangeSources(arguments, session, *loaded));
  GAPLESS_ASSIGN(loaded->run, AllCondensed(loaded->run));
  return loaded;
}

Result<std::unique_ptr<RunAnalysis>> AnalysisFor(const ReadArguments& arguments, const Session& session,
                                                 std::span<const std::string> paths, std::vector<Error> lost) {
  GAPLESS_ASSIGN(auto loaded, LoadFor(arguments, session, paths));
  std::ranges::move(lost, std::back_inserter(loaded.failures));
  auto analysis = std::make_unique<RunAnalysis>(std::move(loaded),
                                                OpenOptions{.history = arguments.db, .all_steps = arguments.all_steps});
  // A history that cannot be read does not stop an analysis; predictions then rest on the built-in tests.
  if (const std::string& warning = analysis->tested().warning; !warning.empty()) log::Warning(warning);
  return analysis;
}

std::string ShownName(const ReadArguments& arguments, const std::string& path, std::string_view letter) {
  return arguments.redact ? StrCat("recording ", letter) : path;
}

void WarnOfLosses(const LoadedRun& loaded) {
  const auto warn = [](std::string_view path, std::string_view text) { log::Warning(StrCat(path, ": ", text)); };
  for (const Error& error : loaded.failures) warn(error.place, error.message);
  for (const std::string& note : RecordingsNotes(loaded.run)) log::Warning(note);
  for (const RunTrace& trace : loaded.run.traces()) {
    const ReadStatsTable& stats = trace.trace->read_stats;
    for (size_t row = 0; row < stats.size(); ++row) {
      if (stats.severity[row] == Severity::kInfo) continue;
      warn(trace.trace->info.path,
           StrCat(trace.trace->Text(stats.text[row]), " (", FormatCount(stats.count[row]), ")"));
    }
  }
}

// Includes the paths as given: a folder itself is no recording, but must not be replaced either.
std::vector<std::string> InputFiles(const LoadedRun& loaded, std::span<const std::string> paths) {
  std::vector<std::string> files(paths.begin(), paths.end());
  for (const RunTrace& trace : loaded.run.traces()) {
    const std::string& path = trace.trace->info.path;
    files.push_back(path.substr(0, path.find("!/")));
  }
  for (const Error& failure : loaded.failures) files.push_back(failure.place.substr(0, failure.place.find("!/")));
  return files;
}

}  // namespace gapless::internal
