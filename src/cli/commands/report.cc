// SPDX-License-Identifier: Apache-2.0
// The command `gapless report`: reads results of other commands and writes them as one document in Markdown or HTML.
//
// Nothing is measured. Inputs are distinguished by their content (report/inputs.cc); the order in which they are given
// is the order of the tables. Markdown in a file has its pictures in a folder beside it; on standard output it has no
// pictures.
#include "base/strings.h"
#include "cli/command.h"
#include "cli/commands/report/inputs.h"
#include "cli/document_file.h"
#include "cli/output.h"

namespace gapless::internal::report_command {
namespace {

enum class ReportStyle : uint8_t { kLab };
constexpr Choosable<ReportStyle> kStyles[] = {{"lab", ReportStyle::kLab}};

struct ReportArguments : ReadArguments {
  ReportStyle style{};
  std::string title{};
  static constexpr OptionList kOptions{
      Choice<&ReportArguments::style, OneOf<kStyles>>("NAME", "Set the report's format (lab)"),
      kDocumentOption,
      Text<&ReportArguments::title>("TEXT", "Set the report's title (Performance report)"),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{
      Word<&ReadArguments::paths>(
          "RUN", "a run folder, a folder of optimize, a recording, JSON of bench or tune, or a history (FILE.db)")
          .Times(1, 1000)
          .Path()};
};

// Checks the outputs first: none may replace an input, and the name decides the format.
Result<int> Execute(const ReportArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckDocument(arguments));
  GAPLESS_TRY(RefuseInput(arguments.output, arguments.paths));
  GAPLESS_TRY(RefuseInput(arguments.json.value_or(""), arguments.paths));
  GAPLESS_ASSIGN(auto view, ReadLab(arguments, session));
  view.title = arguments.title;
  return WriteDocumentOrJson(
      arguments, [&] { return WriteLab(view); }, [&] { return LabJson(view); });
}

constexpr const TypeInfo* kDocuments[] = {&kLabDocument};
constexpr Example kExamples[] = {
    {"gapless report optimized", "The write-up of an optimisation: baseline, table of fixes, losses, what next"},
    {"gapless report before optimized after --style lab -o report.html", "The same with a step before and after"},
    {"gapless report baseline.json loader.json all.json", "A table of stages that bench measured"},
};

}  // namespace

COMMAND(report) = {
    .name = "report",
    .place = {groups::kFind, 4},
    .help = "Write a document of the results: baseline, fixes, conclusions",
    .about =
        "Makes one document of several results: the baseline with its main bottlenecks, a table of every fix "
        "with its predicted and measured speedup, the losses of both trainings, a step before and after, "
        "scaling, and the next steps. Every sentence follows from a number of the results; a section without "
        "numbers names the command that measures them.\n\nThe first recording is the baseline and the last "
        "one the optimised run. Results of bench are the stages of a table, in the order given; the others "
        "are compared with the first.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::report_command
