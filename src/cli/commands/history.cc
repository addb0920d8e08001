// SPDX-License-Identifier: Apache-2.0
// The command `gapless history`: its options, and the dispatch to the actions of history/actions.h. All actions share
// one list of options; an option that an action has no use for is ignored.
#include "cli/command.h"
#include "cli/history_actions.h"

namespace gapless::internal::history_command {
namespace {

constexpr Choosable<HistoryAction> kActions[] = {{"record", HistoryRecord},
                                                 {"list", HistoryList},
                                                 {"export", HistoryExport},
                                                 {"import", HistoryImport},
                                                 {"accept", HistoryAccept}};

// --branch, --commit and --label describe the run for `record`, and select runs for `list` and `export`.
struct HistoryWords : HistoryArguments {
  static constexpr OptionList kOptions{
      kDbOption,
      Text<&HistoryOptions::branch>("NAME", "Set the run's branch (git's), or select runs of this branch"),
      Text<&HistoryOptions::commit>("SHA", "Set the run's commit (git's), or select runs of this commit"),
      kLabelOption,
      List<&HistoryOptions::metric>("LIST", "Record these metrics in addition: NAME=NUMBER,…"),
      kColumnOption,
      Flag<&HistoryOptions::here>("Record this machine's GPUs, driver and host with the run"),
      kSinceOption,
      kUntilOption,
      Number<&HistoryOptions::limit>("N", "Select the newest N runs", 1),
      Flag<&HistoryArguments::csv>("List the runs as CSV, with the columns of the view benchmarks"),
  };
  static constexpr WordList kWords{
      ChosenWord<&HistoryArguments::action, OneOf<kActions>>("ACTION", "record, list, export, import or accept"),
      Word<&HistoryArguments::file>("FILE", "results to record, a history to write or read, or the run to accept")
          .Optional()
          .Path()};
};

Result<int> Execute(const HistoryWords& arguments, Session& session) { return arguments.action(arguments, session); }

constexpr const TypeInfo* kDocuments[] = {&kHistoryListDocument, &kHistoryRecordDocument, &kHistoryExportDocument,
                                          &kHistoryImportDocument, &kHistoryAcceptDocument};
constexpr Example kExamples[] = {
    {"gapless history record result.json --label resnet50", "Keeps a result, with the commit that is checked out"},
    {"gapless history record --metric samples_per_second=812.5,step_time_ms=78.8", "Keeps numbers of your own"},
    {"gapless history record run/ --label resnet50", "Keeps what a step of a recording is made of"},
    {"gapless history list --branch main --limit 20", "The last twenty runs of a branch"},
    {"gapless history export history.jsonl --db postgresql://perf@db/perf", "Everything, as JSON lines"},
    {"gapless history accept 812", "Run 812 is slower, and shall be: the gate's baseline begins there"},
    {"gapless history import history.jsonl", "Brings runs in that are not there yet"},
};

}  // namespace

COMMAND(history) = {
    .name = "history",
    .place = {groups::kGuard, 2},
    .help = "Keep results of benchmarks, and list, export or import them",
    .about =
        "Keeps results with their commit, branch and machine, in a file of SQLite or in PostgreSQL. `record` reads "
        "results of gapless bench, hyperfine, pyperf, Google Benchmark, nvbench, pytest-benchmark, asv, and of load "
        "tests by vLLM, SGLang, AIPerf and guidellm, plain numbers, and recordings, of which it keeps the ledger of "
        "the mean step (`gapless why` compares two). The run is on the disk when `record` returns; any number of "
        "processes may record at once.\n\nCommit, branch and the presence of changes come from git in the working "
        "folder, unless the file or an option sets them.\n\nWithout --db the history is history.db in "
        "$XDG_DATA_HOME/gapless or ~/.local/share/gapless. Any SQL client can read its tables and the view benchmarks "
        "(docs/HISTORY.md).",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::history_command
