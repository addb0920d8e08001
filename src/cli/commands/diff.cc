// SPDX-License-Identifier: Apache-2.0
// The command `gapless diff`: steps, operators, kernels and memory of two recordings side by side.
#include "cli/document_file.h"
#include "cli/two_runs.h"
#include "report/diff/report.h"

namespace gapless::internal::diff_command {
namespace {

struct DiffArguments : TwoRunsArguments {
  int64_t rows = 10;
  static constexpr OptionList kOptions{
      kDocumentOption,
      Number<&DiffArguments::rows>("N", "Show N rows of each table", 0),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kTwoRunsWord};
};

struct Outlined {
  StepLedger ledger{};
  RunOutline outline{};
};

Result<Outlined> OutlineFor(const DiffArguments& arguments, const std::string& name, const Session& session) {
  if (RecordNumber(name))
    return Fail(ErrorCode::kUsage, "diff takes recordings; a record of the history keeps no operators", name,
                "gapless why compares records of the history");
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, {&name, 1}));
  WarnOfLosses(analysis->loaded());
  auto ledger = StepLedgerOf(analysis->tables());
  if (!ledger) return Fail(ledger.error().code, ledger.error().message, name);
  return Outlined{std::move(*ledger), OutlineOf(analysis->tables())};
}

Result<int> Execute(const DiffArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckDocument(arguments));
  GAPLESS_ASSIGN(auto a, OutlineFor(arguments, arguments.paths[0], session));
  GAPLESS_ASSIGN(auto b, OutlineFor(arguments, arguments.paths[1], session));
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  const auto changes = [&](auto member, bool are_operators) {
    return ChangesOf(a.outline.*member, a.ledger.Units(), b.outline.*member, b.ledger.Units(), are_operators);
  };
  const DiffView view{.a_name = ShownName(arguments, arguments.paths[0], "A"),
                      .b_name = ShownName(arguments, arguments.paths[1], "B"),
                      .a = a.ledger,
                      .b = b.ledger,
                      .operators = changes(&RunOutline::operators, true),
                      .kernels = changes(&RunOutline::kernels, false),
                      .a_memory = a.outline.memory,
                      .b_memory = b.outline.memory};
  const auto rows = static_cast<size_t>(arguments.rows);
  const auto json = [&] { return DiffJson(view); };
  if (!arguments.output.empty())
    return WriteDocumentOrJson(
        arguments, [&] { return DiffPage(view, std::max<size_t>(rows, 50)); }, json);
  return PrintTextOrJson(
      arguments, [&] { return DiffText(view, session.terminal.width, rows); }, json);
}

constexpr const TypeInfo* kDocuments[] = {&kDiffDocument};
constexpr Example kExamples[] = {
    {"gapless diff before.json.gz after.json.gz", "Operators and kernels that changed most"},
    {"gapless diff before/ after/ --json", "All of them, as data"},
};

}  // namespace

COMMAND(diff) = {
    .name = "diff",
    .place = {groups::kFind, 7},
    .help = "Show two recordings side by side: operators, kernels, memory",
    .about =
        "Matches the operators of two recordings by path, name and input shapes, their kernels by operator, name and "
        "shapes, and lists what differs, per step, the largest difference first; with the parts of the step and the "
        "peaks of memory. Durations are added up whether or not they run at once: `gapless why` says what the step "
        "waits for.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::diff_command
