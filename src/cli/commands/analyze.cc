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
#include "cli/commands/analyze/requests.h"
#include "cli/elsewhere.h"
#include "cli/failure.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/single.h"
#include "cli/timing_table.h"
#include "flows/analysis.h"
#include "flows/drill.h"
#include "ingest/input_paths.h"
#include "report/analyze_json.h"
#include "report/explain.h"

namespace gapless::internal::analyze_command {
namespace {

enum class ColourWhen : uint8_t { kAuto, kAlways, kNever };
constexpr Choosable<ColourWhen> kColourWhen[] = {
    {"auto", ColourWhen::kAuto}, {"always", ColourWhen::kAlways}, {"never", ColourWhen::kNever}};
using AnyRule = AnyEntry<AllRules, &Rule::id>;

// "-": no rank was given.
Result<std::optional<std::vector<int64_t>>> ReadDrill(const OptionSpec& option, std::string_view text) {
  if (text == "-") return std::optional(std::vector<int64_t>());
  GAPLESS_ASSIGN(auto ranks, ReadRanks(option, text));
  return std::optional(std::move(ranks));
}

struct AnalyzeArguments : ElsewhereArguments {
  const Renderer* format = nullptr;
  std::vector<std::string> only{}, without{};
  const Rule* explain = nullptr;
  std::string single{};  // empty: not given
  std::optional<double> price{}, carbon{}, watts{}, hours{};
  std::optional<int64_t> gpus{}, epoch_steps{};
  std::optional<int> width{};
  ColourWhen color = ColourWhen::kAuto;
  std::optional<std::vector<int64_t>> drill{};  // ranks; none: the exemplars
  bool verbose = false, timings = false;
  std::string requests{};  // empty: not given
  static constexpr OptionList kOptions{
      Text<&ReadArguments::output>("FILE", "Write the report to FILE, in the format of its extension").Short('o'),
      Choice<&AnalyzeArguments::format, AnyEntry<AllRenderers, &Renderer::name>>("NAME", "Set the report's format"),
      List<&AnalyzeArguments::only>("RULES", "Show only findings of these rules").Of(AnyRule::All),
      List<&AnalyzeArguments::without>("RULES", "Leave out findings of these rules").Of(AnyRule::All),
      Choice<&AnalyzeArguments::explain, AnyRule>(
          "RULE", "Explain why this rule was or was not reported: definition, numbers, evidence"),
      Text<&AnalyzeArguments::single>(
          "RUN|TIME", "Compute the scaling from the same job on one GPU: a recording, or its step time"),
      Positive<&AnalyzeArguments::price>("N", "Set the price of a GPU per hour, to print the money that fixes save",
                                         "/gpu-hour"),
      Positive<&AnalyzeArguments::carbon>("N", "Set the carbon intensity of the grid in g of CO2 per kWh", "g/kWh"),
      Positive<&AnalyzeArguments::watts>("N", "Set the mean power of a GPU in W (its power limit)", "W"),
      Number<&AnalyzeArguments::gpus>("N", "Set the number of GPUs of the job (those of the recording)", 1),
      Positive<&AnalyzeArguments::hours>("N", "Set the hours per month that the job runs (730, which is always)"),
      Number<&AnalyzeArguments::epoch_steps>("N", "Set the steps of an epoch, to print costs per epoch", 1),
      Number<&AnalyzeArguments::width>("N", "Set the width of the text in columns (that of the terminal)",
                                       kMinReportWidth, kMaxReportWidth),
      Choice<&AnalyzeArguments::color, OneOf<kColourWhen>>(
          "WHEN", "Choose when to use colour (auto: on a terminal, without NO_COLOR)"),
      Flag<&AnalyzeArguments::verbose>("Show all findings, with all their evidence").Short('v'),
      Parsed<&AnalyzeArguments::drill, ReadDrill>(
          "RANKS", "Open the recordings of a few summaries for their events (those that tell most)")
          .Optional(),
      Text<&AnalyzeArguments::requests>(
          "FILE",
          "Say of the requests in FILE (gapless bench --inference --url --json=FILE) which part of the time to "
          "the first token was queue, prompts of others, and their own, as this server's iterations were"),
      kRankOption,
      kOnOption,
      Text<&ElsewhereArguments::summaries>(
          "DIR", "Keep summaries of the recordings in DIR, a folder or URL: those that are there are not made again"),
      kReadingOptions,
      kAllStepsOption,
      Flag<&AnalyzeArguments::timings>(""),
      Text<&ElsewhereArguments::summarized>("FILE", ""),
  };
  static constexpr WordList kWords{kPathsWord.Unless<&ElsewhereArguments::summarized>()};
};

constexpr int kFileWidth = 100;  // columns of a report that is written to a file

// Returns the look of the report. A file gets 100 columns, UTF-8 and no colour, whatever the terminal is.
RenderOptions RenderOptionsFrom(const AnalyzeArguments& arguments, const Session& session) {
  const bool to_file = !arguments.output.empty();
  RenderOptions options;
  options.width = arguments.width.value_or(std::min(to_file ? kFileWidth : session.terminal.width, kMaxReportWidth));
  options.utf8 = session.terminal.utf8 || to_file;
  options.colour = arguments.color == ColourWhen::kAlways ||
                   (arguments.color == ColourWhen::kAuto && session.terminal.colour && !to_file);
  options.verbose = arguments.verbose;
  return options;
}

// Units that users copy with the number are accepted: 2.49/gpu-hour, 350g/kWh, 300W.
CostRates RatesFrom(const AnalyzeArguments& arguments) {
  CostRates rates{
      .price_per_gpu_hour = arguments.price, .carbon_g_per_kwh = arguments.carbon, .watts_per_gpu = arguments.watts};
  rates.gpus = arguments.gpus;
  rates.steps_per_epoch = arguments.epoch_steps;
  rates.hours_per_month = arguments.hours.value_or(rates.hours_per_month);
  return rates;
}

// The form that was asked for, else that of the file to write to, else the terminal's.
const Renderer& RendererOf(const AnalyzeArguments& arguments) {
  if (arguments.format) return *arguments.format;
  const Renderer* by_name = RendererFor(arguments.output);
  if (by_name) return *by_name;
  return *FindRenderer(arguments.JsonToStdout() ? "json" : "terminal");
}

// Refuses a file whose name asks for a form that there is not: report.pdf. A name without an extension says nothing.
Result<void> CheckForm(const AnalyzeArguments& arguments) {
  const std::string extension = std::filesystem::path(arguments.output).extension().string();
  if (arguments.format != nullptr || extension.empty() || RendererFor(arguments.output) != nullptr) return {};
  std::error_code unknown;
  for (const std::string& path : arguments.paths)  // an input as the output has an error of its own
    if (std::filesystem::equivalent(path, arguments.output, unknown)) return {};
  std::string forms;
  for (const Renderer* renderer : AllRenderers()) forms += StrCat(forms.empty() ? "" : ", ", renderer->extension);
  const std::string stem = std::filesystem::path(arguments.output).replace_extension(".html").string();
  return Fail(ErrorCode::kUsage, StrCat("cannot write a report as ", Printable(extension)), arguments.output,
              StrCat("-o ", ShellWord(stem), ", which a browser prints; there are: ", forms));
}

// Returns the output's path. A format that is not for terminals gets a file of its own, in the analysed folder.
std::string OutputOf(const AnalyzeArguments& arguments, const Session& session, const Renderer& renderer) {
  if (!arguments.output.empty() || renderer.file.empty() || !session.terminal.is_tty) return arguments.output;
  const std::filesystem::path first(arguments.paths.empty() ? "" : arguments.paths.front());
  std::error_code error;
  const bool in_folder = arguments.paths.size() == 1 && std::filesystem::is_directory(first, error);
  return in_folder ? (first / renderer.file).string() : std::string(renderer.file);
}

// The page of a run folder, beside the terminal's report: the folder is ours, so it is written unasked. "" elsewhere.
std::string PageOf(const AnalyzeArguments& arguments, const Renderer& renderer) {
  if (renderer.name != "terminal" || !arguments.output.empty() || arguments.paths.size() != 1) return {};
  const std::string& folder = arguments.paths.front();
  return IsRunFolder(folder) ? StrCat(folder, folder.ends_with('/') ? "" : "/", FindRenderer("html")->file) : "";
}

// Prints, or writes, the report in the forms that were asked for.
Result<int> Print(const Report& report, const AnalyzeArguments& arguments, const Session& session,
                  const RenderOptions& options) {
  if (arguments.explain) {
    return PrintTextOrJson(
        arguments, [&] { return ExplainText(report, *arguments.explain, options); },
        [&] { return ExplainJson(report, *arguments.explain); });
  }
  const Renderer& renderer = RendererOf(arguments);
  const std::string path = OutputOf(arguments, session, renderer);
  GAPLESS_TRY(WriteFile(path, renderer.render(report, options)));
  if (path != arguments.output) GAPLESS_TRY(WriteFile("", StrCat("full report: ", path, "\n")));
  const std::string page = PageOf(arguments, renderer);
  // The folder may be read-only, which is no reason to fail.
  if (!page.empty() && WriteFile(page, FindRenderer("html")->render(report, options)))
    GAPLESS_TRY(WriteFile("", StrCat("full report: ", page, "\n")));
  // The document of --json=FILE is a second output beside the report.
  if (arguments.json && !arguments.JsonToStdout()) {
    GAPLESS_TRY(WriteFile(*arguments.json, FindRenderer("json")->render(report, options)));
  }
  return 0;
}

// With --drill summaries make way for a few recordings; where nothing is a summary there is nothing to do.
Result<std::unique_ptr<RunAnalysis>> Drilled(std::unique_ptr<RunAnalysis> analysis, const AnalyzeArguments& arguments,
                                             const Session& session) {
  if (!arguments.drill || !analysis->tables().of_summaries()) return analysis;
  if (arguments.redact)
    return Fail(ErrorCode::kUsage, "--drill opens recordings by their paths, which --redact takes away");
  DrillWishes wishes{.ranks = *arguments.drill};
  wishes.open.use_cache = !arguments.no_cache, wishes.open.cancel_flag = session.cancel;
  GAPLESS_ASSIGN(auto loaded, Drill(*analysis, wishes));
  GAPLESS_TRY(RefuseInput(arguments.output, InputFiles(loaded, arguments.paths)));
  GAPLESS_TRY(ChangeSources(arguments, session, loaded));
  return std::make_unique<RunAnalysis>(std::move(loaded),
                                       OpenOptions{.history = arguments.db, .all_steps = arguments.all_steps});
}

// Recordings that were summarised elsewhere, or are now, are analysed from their summaries. What is lost there is lost
// as a recording that cannot be read.
Result<std::unique_ptr<RunAnalysis>> AnalysisOf(const AnalyzeArguments& arguments, const Session& session) {
  if (arguments.summarized.empty() && !IsElsewhere(arguments)) return AnalysisFor(arguments, session, arguments.paths);
  GAPLESS_ASSIGN(const auto done, arguments.summarized.empty() ? SummarizeElsewhere(RequestFrom(arguments))
                                                               : ReadSummarized(arguments.summarized));
  return AnalysisFor(arguments, session, FilesOf(done), LostOf(done));
}

// Answers --requests instead of the report.
Result<int> PrintRequests(const AnalyzeArguments& arguments, const RunAnalysis& analysis) {
  GAPLESS_ASSIGN(const auto client, ReadClientRequests(arguments.requests));
  GAPLESS_ASSIGN(const auto tokens, SplitFirstTokens(analysis.run(), analysis.tables(), client.requests, client.host));
  return PrintTextOrJson(
      arguments, [&] { return FirstTokenText(tokens); }, [&] { return FirstTokenJson(tokens); });
}

// The run on one GPU is read first: the recording may take minutes.
Result<int> Execute(const AnalyzeArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckForm(arguments));
  if (arguments.timings) EnableTimings();
  std::optional<int64_t> single;
  if (!arguments.single.empty()) {
    GAPLESS_ASSIGN(single, SingleStepNs(arguments.single, !arguments.no_cache, session));
  }
  GAPLESS_ASSIGN(auto light, AnalysisOf(arguments, session));
  GAPLESS_ASSIGN(const auto analysis, Drilled(std::move(light), arguments, session));
  if (!arguments.requests.empty()) return PrintRequests(arguments, *analysis);
  // The report borrows from the analysis, which lives to the end of this function.
  const RunReport report(
      *analysis,
      {.only = arguments.only, .without = arguments.without, .single_step_ns = single, .rates = RatesFrom(arguments)});
  // A report of an analysis that was interrupted would have wrong sums.
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  auto printed = Print(report.report(), arguments, session, RenderOptionsFrom(arguments, session));
  if (arguments.timings) PrintTimings();
  return printed;
}

constexpr const TypeInfo* kDocuments[] = {&kAnalyzeDocument, &kExplainDocument, &kFirstTokenDocument};
constexpr Example kExamples[] = {
    {"gapless analyze trace.json.gz", "Where the time of one recording goes, and what to fix first"},
    {"gapless analyze run/ --rank 0-7", "Eight ranks of a folder together"},
    {"gapless analyze trace.json.gz --json=report.json", "Prints the report and writes it as JSON, too"},
    {"gapless analyze run/ -o report.html", "A page to forward: charts, timeline, tables, in one file"},
    {"gapless analyze run/ -o report.md", "The findings as text, for an issue or a chat"},
    {"gapless analyze trace.json.gz --explain launch_bound", "Why that was found: definition, numbers, rows"},
    {"gapless analyze summaries/ --drill", "A job from summaries, with the events of the recordings that tell most"},
    {"gapless analyze server.json.gz --requests bench.json", "Why the first token of a server's clients took so long"},
    {"gapless analyze run/ --price 2.49 --gpus 64", "What each fix would save a month"},
    {"gapless analyze s3://runs/42/ --summaries s3://runs/42/summaries/",
     "A job in an object store, which stays there"},
};

}  // namespace

COMMAND(analyze) = {
    .name = "analyze",
    .place = {groups::kFind, 2},
    .help = "Show where the GPU's time goes and what to fix first",
    .about =
        "Reads recordings of a training job and reports where each step goes (compute, communication, copies,"
        " idle by cause), which bottlenecks there are, what each costs, and the speedup of fixing it, "
        "ranked.\n\nSeveral paths, or a folder, are the ranks of one job. The report names a recording that "
        "cannot be read, and analyses the others.\n\nURLs (s3://, gs://, az://, ...) and --on need the Python package: "
        "each recording is summarised as a task of its own, on this machine or on those of a Ray cluster, and nothing "
        "of it is copied here but its summary.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::analyze_command
