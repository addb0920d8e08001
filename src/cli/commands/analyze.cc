// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "diagnose/rule.h"
#include "diagnose/summary.h"
#include "report/renderer.h"

namespace gapless {
namespace {

constexpr int kNarrowest = 40, kWidest = 400;
constexpr int kFileWidth = 100;  // of a report that is written to a file

std::vector<std::string_view> RuleIds() {
  std::vector<std::string_view> ids;
  for (const Rule* rule : AllRules()) ids.push_back(rule->id);
  return ids;
}

std::vector<std::string_view> RendererNames() {
  std::vector<std::string_view> names;
  for (const Renderer* renderer : AllRenderers()) names.push_back(renderer->name);
  return names;
}

std::vector<std::string_view> ColourWhen() { return {"auto", "always", "never"}; }

Result<RenderOptions> RenderOptionsFrom(const Arguments& arguments, const Session& session) {
  const bool to_file = arguments.Has("output");
  const auto width = arguments.Number("width", kNarrowest, to_file ? kFileWidth : session.terminal.width);
  if (!width) return Unexpected{width.error()};
  RenderOptions options;
  options.width = static_cast<int>(std::min<int64_t>(*width, kWidest));
  options.utf8 = session.terminal.utf8 || to_file;
  const std::string_view when = arguments.Value("color", "auto");
  options.colour = when == "always" || (when == "auto" && session.terminal.colour && !to_file);
  options.verbose = arguments.Has("verbose");
  return options;
}

// Leaves out what --only and --without say.
void ChooseRules(const Arguments& arguments, Diagnosis& diagnosis) {
  const auto only = arguments.List("only"), without = arguments.List("without");
  std::erase_if(diagnosis.bottlenecks, [&](const Bottleneck& bottleneck) {
    const bool wanted = only.empty() || std::ranges::find(only, bottleneck.id) != only.end();
    return !wanted || std::ranges::find(without, bottleneck.id) != without.end();
  });
}

Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("verbose")) log::SetLevel(log::Level::kInfo);
  const auto options = RenderOptionsFrom(arguments, session);
  if (!options) return Unexpected{options.error()};
  const auto loaded = LoadFor(arguments, session, arguments.positionals());
  if (!loaded) return Unexpected{loaded.error()};
  Tables tables(loaded->run);
  Diagnosis diagnosis = Diagnose(tables);
  ChooseRules(arguments, diagnosis);
  const RunSummary summary = Summarise(tables, diagnosis);
  const Report report{loaded->run, tables, diagnosis, summary, loaded->failures};
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");

  const std::string_view format = arguments.Value("format", arguments.JsonToStdout() ? "json" : "terminal");
  GAPLESS_TRY(WriteFile(arguments.Value("output"), FindRenderer(format)->render(report, *options)));
  if (arguments.Has("json") && !arguments.JsonToStdout()) {
    GAPLESS_TRY(WriteFile(arguments.Value("json"), FindRenderer("json")->render(report, *options)));
  }
  return 0;
}

constexpr PositionalSpec kPositionals[] = {kPathsPositional};
constexpr auto kValue = OptionSpec::Takes::kValue;
constexpr OptionSpec kOptions[] = {
    {.name = "output", .letter = 'o', .takes = kValue, .value = "FILE", .help = "Write the report to FILE"},
    {.name = "format", .takes = kValue, .value = "NAME", .help = "Form of the report", .choices = RendererNames},
    {.name = "only",
     .takes = kValue,
     .value = "RULES",
     .help = "Show only what these rules find",
     .choices = RuleIds,
     .is_list = true},
    {.name = "without",
     .takes = kValue,
     .value = "RULES",
     .help = "Leave out what these rules find",
     .choices = RuleIds,
     .is_list = true},
    {.name = "width", .takes = kValue, .value = "N", .help = "Columns to fill; otherwise as wide as the terminal"},
    {.name = "color",
     .takes = kValue,
     .value = "WHEN",
     .help = "When to use colour (auto: on a terminal, without NO_COLOR)",
     .choices = ColourWhen},
    {.name = "verbose", .letter = 'v', .help = "Show all evidence, and what is usually left out"},
    kRankOption,
    kNoCacheOption,
};
constexpr Example kExamples[] = {
    {"gapless analyze trace.json.gz", "Where the time of one recording goes, and what to fix first"},
    {"gapless analyze run/ --rank 0-7", "Eight ranks of a folder together"},
    {"gapless analyze trace.json.gz --json=report.json", "Prints the report and writes it as JSON, too"},
};

}  // namespace

COMMAND(analyze) = {
    .name = "analyze",
    .help = "Tell where the GPU's time went and what to fix first",
    .about =
        "Reads recordings of a training job and reports where each step goes (compute, communication, copies, idle by "
        "cause), which bottlenecks there are, what each costs, and what fixing it would buy, ranked.\n\nSeveral paths, "
        "or "
        "a folder, are the ranks of one job. A recording that cannot be read is named in the report; the others are "
        "analysed.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .run = Execute};

}  // namespace gapless
