// SPDX-License-Identifier: Apache-2.0
// Writes the pages of reference/. Every section is made from an entry of a registry, in the registry's order; a
// link to an entry that does not exist fails the build of the documentation.
#include <algorithm>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/usage.h"
#include "convert/writer.h"
#include "diagnose/rule.h"
#include "ingest/reader.h"
#include "optimize/fix_gains.h"
#include "predict/fix.h"
#include "query/database.h"
#include "report/markdown_text.h"
#include "report/optimize/report.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kTypes[] = {"integer", "real", "text"};
constexpr int kHelpWidth = 100;

// Begins a page with the note that it is generated.
std::string Start(std::string_view title, std::string_view what) {
  return StrCat("<!-- Written by `gapless docs`. Change the sources and run it again. -->\n\n# ", title, "\n\n", what,
                "\n");
}

// Writes a row per column; the unit "id:slice" becomes "id of slice".
std::string ColumnTable(const std::vector<ColumnSpec>& columns) {
  std::string out = "\n| column | type | unit | what it is |\n|---|---|---|---|\n";
  for (const ColumnSpec& column : columns) {
    const std::string unit =
        column.unit.starts_with("id:") ? StrCat("id of ", column.unit.substr(3)) : std::string(column.unit);
    out += StrCat("| `", column.name, "` | ", kTypes[static_cast<size_t>(column.type)], " | ", unit, " | ",
                  MarkdownCell(column.help), " |\n");
  }
  return out;
}

// Returns a section per recorded table, or per analysis.
std::string TablesOf(bool analyses) {
  std::string out;
  for (const SqlTableInfo& table : DescribeSqlTables()) {
    if (table.is_analysis == analyses)
      out += StrCat("\n## ", table.name, "\n\n", table.help, ".\n", ColumnTable(table.columns));
  }
  return out;
}

// Returns the values that a fix tries on a machine that has room for all of them.
std::string ValuesOf(const Fix& fix) {
  // Independent of the machine that the pages are written on.
  const FixContext large{.cpus = 64, .ranks = 2, .gpu = true, .compute_major = 9, .all_values = true};
  std::string out;
  for (const std::string& value : fix.trial.values(large).values)
    if (!value.empty()) out += StrCat(out.empty() ? "" : ", ", "`", value, "`");
  return out;
}

// Returns links to entries; an empty page is this one.
std::string LinksTo(std::span<const std::string_view> names, std::string_view page) {
  std::string out;
  for (const std::string_view name : names)
    out += StrCat(out.empty() ? "" : ", ", "[", name, "](", page, "#", name, ")");
  return out;
}

// Returns a line for each time that the fix was measured, those without a gain included.
std::string MeasuredText(const Fix& fix) {
  std::string out;
  for (const FixGain& gain : MeasuredGains()) {
    if (gain.item.substr(0, gain.item.find('=')) != fix.name) continue;
    out += StrCat("- Measured: `", gain.item, "` on `", gain.script, "`");
    if (gain.measured)
      out += StrCat(" ", SpeedupText(*gain.measured),
                    gain.predicted ? StrCat(", predicted ", FormatNumber(*gain.predicted, 2)) : "");
    out += gain.outcome == "accepted" ? "" : StrCat("; not kept: ", MarkdownCell(gain.reason));
    out += StrCat(" (", gain.machine, ", PyTorch ", gain.torch, ", ", gain.date, ").\n");
  }
  return out.empty() ? "- Not measured yet.\n" : out;
}

// Describes one fix. A prior of 1 means that nothing is known of its typical gain.
std::string FixSection(const Fix& fix) {
  // A fix of which some values are another training says so in its class.
  const Safety other = fix.safety_with != nullptr ? Safety::kTraining : fix.safety;
  std::string out =
      StrCat("\n## ", fix.name, "\n\n", fix.help, " (`", TrialUsageOf(fix), "`).\n\n", fix.trial.why, "\n\n");
  out += StrCat("- Class: ", ToString(fix.safety), other == fix.safety ? "" : ", or training by its value",
                ". Effort by hand: ", NameOf(fix.trial.effort), ".\n");
  if (!fix.trial.grammar.words.empty()) out += StrCat("- Takes: ", fix.trial.grammar.words, ".\n");
  if (const std::string values = ValuesOf(fix); !values.empty())
    out += StrCat("- Values that are tried, as far as the machine has room: ", values, ".\n");
  if (!fix.trial.choice.cures.empty()) out += StrCat("- Cures: ", LinksTo(fix.trial.choice.cures, "rules.md"), ".\n");
  if (!fix.trial.choice.conflicts.empty())
    out += StrCat("- Not together with: ", LinksTo(fix.trial.choice.conflicts, ""), ".\n");
  if (fix.has_model())
    out += StrCat("- Before it is tried: `gapless predict --what ", TrialUsageOf(fix), "`, see [", fix.name,
                  "](what_ifs.md#", fix.name, ").\n");
  out += fix.trial.choice.prior == 1
             ? "- Typical gain: not known.\n"
             : StrCat("- Typical gain where nothing can be predicted: ", FormatNumber(fix.trial.choice.prior, 2),
                      " times.\n");
  return out + MeasuredText(fix);
}

}  // namespace

std::string TablesPage() {
  return Start("Tables",
               "What `gapless query` reads. Each table shows the primary recordings of the run; `all_` before its name "
               "also\n"
               "shows supplements and other executions of the program. Times are integers in nanoseconds from the "
               "start of the\n"
               "run. A column `x_id` names a row of table `x`. NULL means that something was not recorded.\n"
               "The [analyses](analyses.md) are tables, too.") +
         TablesOf(false);
}

std::string AnalysesPage() {
  return Start("Analyses",
               "Tables that are worked out from the recording when a query or a rule first asks for them.") +
         TablesOf(true);
}

std::string RulesPage() {
  std::string out =
      Start("Rules",
            "What `gapless analyze` looks for. `--only` and `--without` take the names. A rule has an affected time;\n"
            "how much of it its fix is expected to save stands behind it, with the ends of an 80 % prediction\n"
            "interval. A rule without such a line has no gain of its own.");
  for (const Rule* rule : AllRules()) {
    out += StrCat("\n## ", rule->id, "\n\n", rule->title, " (`", ToString(rule->type), "`).\n\n", rule->why, "\n");
    if (!rule->saves.empty()) out += StrCat("\nSaves of that time (low, expected, high): ", rule->saves, ".\n");
    out += "\nLooks at:";
    for (const std::string_view need : rule->needs) out += StrCat(" [", need, "](analyses.md#", need, ")");
    out += "\n";
  }
  return out;
}

std::string WhatIfsPage() {
  std::string out = Start(
      "What-ifs",
      "What `gapless predict --what` can ask. Safety says what else may change: *exact* leaves every number as it\n"
      "is, *rounding* computes the same in other precision or order, *stochastic* draws other\n"
      "random numbers of the same distribution, *training* is another training, *hardware*\n"
      "changes the machine. How predictions are made: [Predicted speedup of a fix](../PREDICTION.md).");
  for (const Fix* fix : FixesWithModel())
    out += StrCat("\n## ", fix->name, "\n\n", fix->help, " (`", ModelUsageOf(*fix), "`, ",
                  ToString(UsualSafetyOf(*fix)), ").\n\n", fix->model.why, "\n");
  return out;
}

std::string FixesPage() {
  std::string out = Start("Fixes",
                          "What `gapless optimize` can switch on in an unmodified script. The class says what else may "
                          "change: *exact* leaves\n"
                          "every number as it is, *rounding* computes the same in other precision or order, "
                          "*stochastic* draws other random\n"
                          "numbers of the same distribution, *training* is another training and is tried only where "
                          "`--allow` says so. A *live*\n"
                          "fix is switched between two steps of a running program. How fixes are chosen and proven:\n"
                          "[Making it faster](../OPTIMIZATION_GUIDE.md).");
  out += "\n| fix | class | effort | live | what it does |\n|---|---|---|---|---|\n";
  for (const Fix* fix : FixesWithTrial())
    out += StrCat("| [`", fix->name, "`](#", fix->name, ") | ", ToString(fix->safety), " | ", NameOf(fix->trial.effort),
                  " | ", fix->trial.live.between_steps ? "yes" : "", " | ", MarkdownCell(fix->help), " |\n");
  for (const Fix* fix : FixesWithTrial()) out += FixSection(*fix);
  return out;
}

std::string FormatsPage() {
  std::string out =
      Start("Formats",
            "Recordings that can be read. The content decides, not the name; files may be compressed with gzip\n"
            "or zstd, and several may lie in a folder or a `.tar.gz`.");
  out += "\n| format | files | what it is |\n|---|---|---|\n";
  for (const Reader* reader : AllReaders()) {
    const std::vector<std::string> extensions(reader->extensions.begin(), reader->extensions.end());
    out += StrCat("| ", reader->name, " | ", Join(extensions, " "), " | ", MarkdownCell(reader->help), " |\n");
  }
  out += "\nForms that `gapless convert` writes.\n\n| form | files | what it is |\n|---|---|---|\n";
  for (const Writer* writer : AllWriters()) {
    const std::vector<std::string> extensions(writer->extensions.begin(), writer->extensions.end());
    out += StrCat("| ", writer->name, " | ", Join(extensions, " "), " | ", MarkdownCell(writer->help), " |\n");
  }
  out += "\n## Results\n\nResults of benchmarks that `gapless history record`, `compare` and `gate` read.\n";
  out += "\n| tool | files, and what a value is |\n|---|---|\n";
  for (const ResultReader* reader : AllResultReaders())
    out += StrCat("| ", reader->name, " | ", MarkdownCell(reader->help), " |\n");
  return out;
}

std::string CommandsPage() {
  std::string out = Start("Commands", "The program `gapless` and its verbs.");
  out += "\n| | verbs |\n|---|---|\n";
  for (const Group* group : kGroups) {
    std::vector<std::string> links;
    for (const Command* command : CommandsOf(*group))
      links.push_back(StrCat("[", command->name, "](#", command->name, ")"));
    out += StrCat("| **", group->name, "** ", group->what, " | ", Join(links, ", "), " |\n");
  }
  for (const Command* command : AllCommands()) {
    out +=
        StrCat("\n## ", command->name, "\n\n", command->help, ".\n\n```text\n", HelpOf(*command, kHelpWidth), "```\n");
  }
  out += "\n## Exit status\n\n| status | meaning |\n|---|---|\n";
  for (const ExitCode& exit : ExitCodes()) out += StrCat("| ", exit.code, " | ", exit.what, " |\n");
  return out;
}

}  // namespace gapless::internal
