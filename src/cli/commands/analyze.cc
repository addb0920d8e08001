// SPDX-License-Identifier: Apache-2.0
// The command `gapless analyze`: reads recordings, runs the analysis, and renders it in the format of --format or of
// the output's extension. A run folder also gets its HTML page.
//
// One analysis serves all outputs of a call: the text, the file of --json and the page show the same numbers. If the
// page cannot be written (the folder belongs to somebody else), only the line that names it is left out; a file that
// was asked for and cannot be written is an error. With --explain only the explanation is printed.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/strings.h"
#include "base/timings.h"
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/single.h"
#include "cli/timing_table.h"
#include "flows/analysis.h"
#include "ingest/input_paths.h"
#include "report/analyze_json.h"
#include "report/explain.h"

namespace gapless::internal {
namespace {

constexpr int kFileWidth = 100;  // columns of a report that is written to a file

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

// Returns the look of the report. A file gets 100 columns, UTF-8 and no colour, whatever the terminal is.
Result<RenderOptions> RenderOptionsFrom(const Arguments& arguments, const Session& session) {
  const bool to_file = arguments.Has("output");
  GAPLESS_ASSIGN(const auto width,
                 arguments.Number("width", kMinReportWidth, to_file ? kFileWidth : session.terminal.width));
  RenderOptions options;
  options.width = static_cast<int>(std::min<int64_t>(width, kMaxReportWidth));
  options.utf8 = session.terminal.utf8 || to_file;
  const std::string_view when = arguments.Value("color", "auto");
  options.colour = when == "always" || (when == "auto" && session.terminal.colour && !to_file);
  options.verbose = arguments.Has("verbose");
  return options;
}

// Returns the rule; the parser has checked that it exists.
const Rule& RuleCalled(std::string_view id) {
  return **std::ranges::find(AllRules(), id, [](const Rule* rule) { return rule->id; });
}

// Reads the prices. Units that users copy with the number are accepted: 2.49/gpu-hour, 350g/kWh, 300W.
Result<CostRates> RatesFrom(const Arguments& arguments) {
  GAPLESS_ASSIGN(const auto price, arguments.Positive("price", "/gpu-hour"));
  GAPLESS_ASSIGN(const auto carbon, arguments.Positive("carbon", "g/kWh"));
  GAPLESS_ASSIGN(const auto watts, arguments.Positive("watts", "W"));
  GAPLESS_ASSIGN(const auto hours, arguments.Positive("hours", ""));
  GAPLESS_ASSIGN(const auto gpus, arguments.Number("gpus", 1, 0));
  GAPLESS_ASSIGN(const auto epoch, arguments.Number("epoch-steps", 1, 0));
  CostRates rates{.price_per_gpu_hour = price, .carbon_g_per_kwh = carbon, .watts_per_gpu = watts};
  if (gpus > 0) rates.gpus = gpus;
  if (epoch > 0) rates.steps_per_epoch = epoch;
  rates.hours_per_month = hours.value_or(rates.hours_per_month);
  return rates;
}

// The form that was asked for, else that of the file to write to, else the terminal's.
const Renderer& RendererOf(const Arguments& arguments) {
  if (arguments.Has("format")) return *FindRenderer(arguments.Value("format"));
  const Renderer* by_name = RendererFor(arguments.Value("output"));
  if (by_name) return *by_name;
  return *FindRenderer(arguments.JsonToStdout() ? "json" : "terminal");
}

// Returns the output's path. A format that is not for terminals gets a file of its own, in the analysed folder.
std::string OutputOf(const Arguments& arguments, const Session& session, const Renderer& renderer) {
  if (arguments.Has("output") || renderer.file.empty() || !session.terminal.is_tty)
    return std::string(arguments.Value("output"));
  const std::filesystem::path first(arguments.positionals().front());
  std::error_code error;
  const bool in_folder = arguments.positionals().size() == 1 && std::filesystem::is_directory(first, error);
  return in_folder ? (first / renderer.file).string() : std::string(renderer.file);
}

// The page of a run folder, beside the terminal's report: the folder is ours, so it is written unasked. "" elsewhere.
std::string PageOf(const Arguments& arguments, const Renderer& renderer) {
  if (renderer.name != "terminal" || arguments.Has("output") || arguments.positionals().size() != 1) return {};
  const std::string& folder = arguments.positionals().front();
  return IsRunFolder(folder) ? StrCat(folder, folder.ends_with('/') ? "" : "/", FindRenderer("html")->file) : "";
}

// Prints, or writes, the report in the forms that were asked for.
Result<int> Print(const Report& report, const Arguments& arguments, const Session& session,
                  const RenderOptions& options) {
  if (arguments.Has("explain")) {
    const Rule& rule = RuleCalled(arguments.Value("explain"));
    return PrintTextOrJson(
        arguments, [&] { return ExplainText(report, rule, options); }, [&] { return ExplainJson(report, rule); });
  }
  const Renderer& renderer = RendererOf(arguments);
  const std::string path = OutputOf(arguments, session, renderer);
  GAPLESS_TRY(WriteFile(path, renderer.render(report, options)));
  if (path != arguments.Value("output")) GAPLESS_TRY(WriteFile("", StrCat("full report: ", path, "\n")));
  const std::string page = PageOf(arguments, renderer);
  // The folder may be read-only, which is no reason to fail.
  if (!page.empty() && WriteFile(page, FindRenderer("html")->render(report, options)))
    GAPLESS_TRY(WriteFile("", StrCat("full report: ", page, "\n")));
  // The document of --json=FILE is a second output beside the report.
  if (arguments.Has("json") && !arguments.JsonToStdout()) {
    GAPLESS_TRY(WriteFile(arguments.Value("json"), FindRenderer("json")->render(report, options)));
  }
  return 0;
}

// Checks the options that can be checked without the recording first: reading may take minutes.
Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("timings")) EnableTimings();
  GAPLESS_ASSIGN(const auto options, RenderOptionsFrom(arguments, session));
  GAPLESS_ASSIGN(const auto rates, RatesFrom(arguments));
  GAPLESS_ASSIGN(const auto single, SingleStepNs(arguments, session));
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.positionals()));
  // The report borrows from the analysis, which lives to the end of this function.
  const RunReport report(
      *analysis,
      {.only = arguments.List("only"), .without = arguments.List("without"), .single_step_ns = single, .rates = rates});
  // A report of an analysis that was interrupted would have wrong sums.
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  auto printed = Print(report.report(), arguments, session, options);
  if (arguments.Has("timings")) PrintTimings();
  return printed;
}

constexpr PositionalSpec kPositionals[] = {kPathsPositional};
constexpr auto kValue = OptionSpec::Takes::kValue;
constexpr OptionSpec kOptions[] = {
    {.name = "output",
     .letter = 'o',
     .takes = kValue,
     .value = "FILE",
     .help = "Write the report to FILE, in the format of its extension"},
    {.name = "format", .takes = kValue, .value = "NAME", .help = "Set the report's format", .choices = RendererNames},
    {.name = "only",
     .takes = kValue,
     .value = "RULES",
     .help = "Show only findings of these rules",
     .choices = RuleIds,
     .is_list = true},
    {.name = "without",
     .takes = kValue,
     .value = "RULES",
     .help = "Leave out findings of these rules",
     .choices = RuleIds,
     .is_list = true},
    {.name = "explain",
     .takes = kValue,
     .value = "RULE",
     .help = "Explain why this rule was or was not reported: definition, numbers, evidence",
     .choices = RuleIds},
    kSingleOption,
    {.name = "price",
     .takes = kValue,
     .value = "N",
     .help = "Set the price of a GPU per hour, to print the money that fixes save"},
    {.name = "carbon",
     .takes = kValue,
     .value = "N",
     .help = "Set the carbon intensity of the grid in g of CO2 per kWh"},
    {.name = "watts", .takes = kValue, .value = "N", .help = "Set the mean power of a GPU in W (its power limit)"},
    {.name = "gpus",
     .takes = kValue,
     .value = "N",
     .help = "Set the number of GPUs of the job (those of the recording)"},
    {.name = "hours",
     .takes = kValue,
     .value = "N",
     .help = "Set the hours per month that the job runs (730, which is always)"},
    {.name = "epoch-steps",
     .takes = kValue,
     .value = "N",
     .help = "Set the steps of an epoch, to print costs per epoch"},
    {.name = "width",
     .takes = kValue,
     .value = "N",
     .help = "Set the width of the text in columns (that of the terminal)"},
    {.name = "color",
     .takes = kValue,
     .value = "WHEN",
     .help = "Choose when to use colour (auto: on a terminal, without NO_COLOR)",
     .choices = ColourWhen},
    {.name = "verbose", .letter = 'v', .help = "Show all findings, with all their evidence"},
    kRankOption,
    kNoCacheOption,
    kAllStepsOption,
    {.name = "timings"},
};
constexpr const TypeInfo* kDocuments[] = {&kAnalyzeDocument, &kExplainDocument};
constexpr Example kExamples[] = {
    {"gapless analyze trace.json.gz", "Where the time of one recording goes, and what to fix first"},
    {"gapless analyze run/ --rank 0-7", "Eight ranks of a folder together"},
    {"gapless analyze trace.json.gz --json=report.json", "Prints the report and writes it as JSON, too"},
    {"gapless analyze run/ -o report.html", "A page to forward: charts, timeline, tables, in one file"},
    {"gapless analyze run/ -o report.md", "The findings as text, for an issue or a chat"},
    {"gapless analyze trace.json.gz --explain launch_bound", "Why that was found: definition, numbers, rows"},
    {"gapless analyze run/ --price 2.49 --gpus 64", "What each fix would save a month"},
};

}  // namespace

COMMAND(analyze) = {
    .name = "analyze",
    .help = "Show where the GPU's time goes and what to fix first",
    .about =
        "Reads recordings of a training job and reports where each step goes (compute, communication, copies,"
        " idle by cause), which bottlenecks there are, what each costs, and the speedup of fixing it, "
        "ranked.\n\nSeveral paths, or a folder, are the ranks of one job. The report names a recording that "
        "cannot be read, and analyses the others.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
