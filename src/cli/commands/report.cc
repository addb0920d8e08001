// SPDX-License-Identifier: Apache-2.0
// The command `gapless report`: reads results of other commands and writes them as one document in Markdown or HTML.
//
// Nothing is measured. Inputs are distinguished by their content (report/inputs.cc); the order in which they are given
// is the order of the tables. Markdown in a file has its pictures in a folder beside it; on standard output it has no
// pictures.
#include <filesystem>

#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/report/inputs.h"
#include "cli/loading.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

std::vector<std::string_view> StyleNames() { return {"lab"}; }

// Writes each picture of the document into a folder beside the Markdown file, named after it.
Result<void> WritePictures(const LabDocument& document, const std::filesystem::path& folder) {
  for (const LabSection& section : document.sections)
    for (const LabBlock& block : section.blocks) {
      if (block.kind != LabBlock::Kind::kPicture) continue;
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      GAPLESS_TRY(WriteFile((folder / StrCat(block.text, ".svg")).string(), block.svg));
    }
  return {};
}

// Writes the pictures first: a text that refers to them then never misses them.
Result<void> WriteDocument(const LabDocument& document, const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() == ".html") return WriteFile(path, LabPage(document));
  if (path.empty() || path == "-") return WriteFile(path, LabMarkdown(document, ""));
  GAPLESS_TRY(WritePictures(document, file.parent_path() / file.stem()));
  return WriteFile(path, LabMarkdown(document, file.stem().string()));
}

// Checks the outputs first: none may replace an input, and the name decides the format.
Result<int> Execute(const Arguments& arguments, Session& session) {
  const std::string path(arguments.Value("output"));
  const std::string extension = std::filesystem::path(path).extension().string();
  if (!path.empty() && path != "-" && extension != ".md" && extension != ".html")
    return Fail(ErrorCode::kUsage,
                StrCat("cannot write ", Printable(path), ": its name ends in neither .md nor .html"));
  for (const std::string_view option : {"output", "json"})
    GAPLESS_TRY(RefuseInput(arguments.Value(option), arguments.positionals()));
  GAPLESS_ASSIGN(auto view, ReadLab(arguments.positionals(), arguments, session));
  view.title = arguments.Value("title");
  if (!arguments.JsonToStdout()) GAPLESS_TRY(WriteDocument(WriteLab(view), path));
  if (arguments.Has("json")) GAPLESS_TRY(WriteFile(arguments.Value("json"), LabJson(view)));
  return 0;
}

constexpr PositionalSpec kPositionals[] = {
    {.name = "RUN",
     .help = "a run folder, a folder of optimize, a recording, JSON of bench or tune, or a history (FILE.db)",
     .min = 1,
     .max = 1000,
     .is_path = true}};
constexpr OptionSpec kOptions[] = {
    {.name = "style",
     .takes = kTakesValue,
     .value = "NAME",
     .help = "Set the report's format (lab)",
     .choices = StyleNames},
    {.name = "output",
     .letter = 'o',
     .takes = kTakesValue,
     .value = "FILE",
     .help = "Write to FILE.md, with its pictures in a folder beside it, or to FILE.html"},
    {.name = "title", .takes = kTakesValue, .value = "TEXT", .help = "Set the report's title (Performance report)"},
    kRankOption,
    kNoCacheOption,
};
constexpr const TypeInfo* kDocuments[] = {&kLabDocument};
constexpr Example kExamples[] = {
    {"gapless report optimized", "The write-up of an optimisation: baseline, table of fixes, losses, what next"},
    {"gapless report before optimized after --style lab -o report.html", "The same with a step before and after"},
    {"gapless report baseline.json loader.json all.json", "A table of stages that bench measured"},
};

}  // namespace

COMMAND(report) = {
    .name = "report",
    .help = "Write a document of the results: baseline, fixes, conclusions",
    .about =
        "Makes one document of several results: the baseline with its main bottlenecks, a table of every fix "
        "with its predicted and measured speedup, the losses of both trainings, a step before and after, "
        "scaling, and the next steps. Every sentence follows from a number of the results; a section without "
        "numbers names the command that measures them.\n\nThe first recording is the baseline and the last "
        "one the optimised run. Results of bench are the stages of a table, in the order given; the others "
        "are compared with the first.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
