// SPDX-License-Identifier: Apache-2.0
// The command `gapless why`: splits the difference of two runs' steps into causes that add up.
#include <filesystem>

#include "cli/document_file.h"
#include "cli/two_runs.h"
#include "report/why/report.h"

namespace gapless::internal::why_command {
namespace {

constexpr int64_t kShownRows = 3;

struct WhyArguments : TwoRunsArguments {
  int64_t rows = kShownRows;
  static constexpr OptionList kOptions{
      kDocumentOption, Number<&WhyArguments::rows>("N", "Show N rows of each cause", 0), kRecordsOption, kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kTwoRunsWord};
};

Result<StepLedger> LedgerFor(const WhyArguments& arguments, const std::string& name, const Session& session) {
  if (const auto record = RecordNumber(name)) return LedgerOfRecord(arguments, *record);
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, {&name, 1}));
  WarnOfLosses(analysis->loaded());
  auto ledger = StepLedgerOf(analysis->tables());
  if (!ledger) return Fail(ledger.error().code, ledger.error().message, Printable(name));
  return ledger;
}

Result<int> Execute(const WhyArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckDocument(arguments));
  WhyView view{.a_name = ShownName(arguments, arguments.paths[0], "A"),
               .b_name = ShownName(arguments, arguments.paths[1], "B")};
  GAPLESS_ASSIGN(view.a, LedgerFor(arguments, arguments.paths[0], session));
  GAPLESS_ASSIGN(view.b, LedgerFor(arguments, arguments.paths[1], session));
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  GAPLESS_ASSIGN(view.difference, DifferenceOf(view.a, view.b));
  const auto rows = static_cast<size_t>(arguments.rows);
  if (!arguments.output.empty())
    return WriteDocumentOrJson(
        arguments, [&] { return WhyPage(view, std::max<size_t>(rows, 20)); }, [&] { return WhyJson(view); });
  return PrintTextOrJson(
      arguments, [&] { return WhyText(view, session.terminal.width, rows); }, [&] { return WhyJson(view); });
}

constexpr const TypeInfo* kDocuments[] = {&kWhyDocument};
constexpr Example kExamples[] = {
    {"gapless why before.json.gz after.json.gz", "What made the step longer or shorter, adding up exactly"},
    {"gapless why before/ after/ -o why.html", "The same as a page with a picture"},
    {"gapless why 811 812", "Two records of the history"},
};

}  // namespace

COMMAND(why) = {
    .name = "why",
    .place = {groups::kFind, 6},
    .help = "Split the difference of two runs' steps into causes",
    .about =
        "Compares the mean step of two recordings, or of two records of the history, and splits their difference into "
        "causes that add up to the nanosecond: kernels that take longer, run more often or are new, copies and "
        "communication that nothing hides, waiting for input, idle time while the host launches, waits or runs other "
        "code. Each cause lists the kernels, operators and lines it is made of.\n\nA and B are files or folders of any "
        "format that `analyze` reads, or numbers of `gapless history list`. What counts is the time that each part of "
        "a step has for itself: what computing hides costs nothing (docs/why.md).",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::why_command
