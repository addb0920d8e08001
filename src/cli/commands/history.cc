// SPDX-License-Identifier: Apache-2.0
// The command `gapless history`: its options, and the dispatch to the actions of history/actions.h. All actions share
// one list of options; an option that an action has no use for is ignored.
#include "cli/command.h"
#include "cli/history_actions.h"

namespace gapless::internal {
namespace {

std::vector<std::string_view> Actions() { return {"record", "list", "export", "import", "accept"}; }

// The parser has checked the action. The second argument is a file, or for `accept` the number of a run.
Result<int> Execute(const Arguments& arguments, Session& session) {
  const std::vector<std::string>& words = arguments.positionals();
  const std::string& action = words[0];
  const std::string file = words.size() > 1 ? words[1] : "";
  if (action == "record") return HistoryRecord(arguments, file);
  if (action == "accept") return HistoryAccept(arguments, file);
  if (action == "export") return HistoryExport(arguments, session, file);
  if (action == "import") return HistoryImport(arguments, session, file);
  if (!file.empty()) return Fail(ErrorCode::kUsage, "history list takes no file", "", "gapless history --help");
  return HistoryList(arguments, session);
}

// --branch, --commit and --label describe the run for `record`, and select runs for `list` and `export`.
constexpr auto kValue = OptionSpec::Takes::kValue;
constexpr PositionalSpec kPositionals[] = {
    {.name = "ACTION", .help = "record, list, export, import or accept", .min = 1, .max = 1, .choices = Actions},
    {.name = "FILE",
     .help = "results to record, a history to write or read, or the run to accept",
     .min = 0,
     .max = 1,
     .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "db", .takes = kValue, .value = "URL", .help = "Use the history at URL: sqlite:FILE or postgresql://…"},
    {.name = "branch",
     .takes = kValue,
     .value = "NAME",
     .help = "Set the run's branch (git's), or select runs of this branch"},
    {.name = "commit",
     .takes = kValue,
     .value = "SHA",
     .help = "Set the run's commit (git's), or select runs of this commit"},
    {.name = "label", .takes = kValue, .value = "NAME", .help = "Name the benchmark, if the history holds several"},
    {.name = "metric",
     .takes = kValue,
     .value = "LIST",
     .help = "Record these metrics in addition: NAME=NUMBER,…",
     .is_list = true},
    {.name = "column",
     .takes = kValue,
     .value = "NAME",
     .help = "Read this column of a CSV file, given by name or number"},
    {.name = "here", .help = "Record this machine's GPUs, driver and host with the run"},
    {.name = "since", .takes = kValue, .value = "TIME", .help = "Select runs from this date or time on (UTC)"},
    {.name = "until",
     .takes = kValue,
     .value = "TIME",
     .help = "Select runs up to and including this date or time (UTC)"},
    {.name = "limit", .takes = kValue, .value = "N", .help = "Select the newest N runs"},
    {.name = "csv", .help = "List the runs as CSV, with the columns of the view benchmarks"},
};
constexpr const TypeInfo* kDocuments[] = {&kHistoryListDocument, &kHistoryRecordDocument, &kHistoryExportDocument,
                                          &kHistoryImportDocument, &kHistoryAcceptDocument};
constexpr Example kExamples[] = {
    {"gapless history record result.json --label resnet50", "Keeps a result, with the commit that is checked out"},
    {"gapless history record --metric samples_per_second=812.5,step_time_ms=78.8", "Keeps numbers of your own"},
    {"gapless history list --branch main --limit 20", "The last twenty runs of a branch"},
    {"gapless history export history.jsonl --db postgresql://perf@db/perf", "Everything, as JSON lines"},
    {"gapless history accept 812", "Run 812 is slower, and shall be: the gate's baseline begins there"},
    {"gapless history import history.jsonl", "Brings runs in that are not there yet"},
};

}  // namespace

COMMAND(history) = {
    .name = "history",
    .help = "Keep the results of benchmarks, and list, export or import them",
    .about =
        "Keeps results with their commit, branch and machine, in a file of SQLite or in PostgreSQL. `record` "
        "reads results of gapless bench, hyperfine, pyperf, Google Benchmark, nvbench, pytest-benchmark and "
        "asv, and plain numbers. The run is on the disk when `record` returns; any number of processes may "
        "record at once.\n\nCommit, branch and the presence of changes come from git in the working folder, "
        "unless the file or an option sets them.\n\nWithout --db the history is history.db in "
        "$XDG_DATA_HOME/gapless or ~/.local/share/gapless. Any SQL client can read its tables and the view "
        "benchmarks (docs/HISTORY.md).",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
