// SPDX-License-Identifier: Apache-2.0
// The command `gapless report`: reads results of other commands and writes them as one document in Markdown or HTML.
//
// Nothing is measured. Inputs are distinguished by their content (report/inputs.cc); the order in which they are given
// is the order of the tables. Markdown in a file has its pictures in a folder beside it; on standard output it has no
// pictures.
#include "report/energy/report.h"

#include "base/strings.h"
#include "cli/command.h"
#include "cli/commands/report/inputs.h"
#include "cli/document_file.h"
#include "cli/output.h"

namespace gapless::internal::report_command {
namespace {

enum class ReportStyle : uint8_t { kLab, kEnergy };
constexpr Choosable<ReportStyle> kStyles[] = {{"lab", ReportStyle::kLab}, {"energy", ReportStyle::kEnergy}};

struct ReportArguments : ReadArguments {
  ReportStyle style{};
  std::string title{};
  std::optional<double> price{}, carbon{}, watts{};
  std::optional<int64_t> gpus{}, epoch_steps{};
  static constexpr OptionList kOptions{
      Choice<&ReportArguments::style, OneOf<kStyles>>("NAME", "Set what the report is about: lab, or energy (lab)"),
      kDocumentOption,
      Text<&ReportArguments::title>("TEXT", "Set the report's title (Performance report)"),
      Positive<&ReportArguments::price>("N", "energy: Set the price of a GPU per hour", "/gpu-hour"),
      Positive<&ReportArguments::carbon>("N", "energy: Set the carbon intensity of the grid in g of CO2 per kWh",
                                         "g/kWh"),
      Positive<&ReportArguments::watts>("N", "energy: Set the mean power of a GPU in W (as it was recorded)", "W"),
      Number<&ReportArguments::gpus>("N", "energy: Set the number of GPUs of the job (those of the recording)", 1),
      Number<&ReportArguments::epoch_steps>("N", "energy: Set the steps of an epoch", 1),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{
      Word<&ReadArguments::paths>(
          "RUN", "a run folder, a folder of optimize, a recording, JSON of bench or tune, or a history (FILE.db)")
          .Times(1, 1000)
          .Path()};
};

CostRates RatesFrom(const ReportArguments& arguments) {
  return {.price_per_gpu_hour = arguments.price,
          .carbon_g_per_kwh = arguments.carbon,
          .watts_per_gpu = arguments.watts,
          .gpus = arguments.gpus,
          .steps_per_epoch = arguments.epoch_steps};
}

// Writes the account of one job's energy; several paths are its ranks.
Result<int> ReportEnergy(const ReportArguments& arguments, Session& session) {
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  WarnOfLosses(analysis->loaded());
  const Findings findings = analysis->advice().Conclude({});
  const CostRates rates = RatesFrom(arguments);
  GAPLESS_ASSIGN(const auto account,
                 EnergyOf(analysis->tables(), findings.summary, findings.diagnosis.bottlenecks, rates));
  const EnergyView view{.account = account,
                        .rates = rates,
                        .title = arguments.title,
                        .run = ShownName(arguments, arguments.paths[0], "the run"),
                        .device = findings.summary.breakdown.front().device_name};
  return WriteDocumentOrJson(
      arguments, [&] { return WriteEnergy(view); }, [&] { return EnergyJson(view); });
}

// Checks the outputs first: none may replace an input, and the name decides the format.
Result<int> Execute(const ReportArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckDocument(arguments));
  GAPLESS_TRY(RefuseInput(arguments.output, arguments.paths));
  GAPLESS_TRY(RefuseInput(arguments.json.value_or(""), arguments.paths));
  if (arguments.style == ReportStyle::kEnergy) return ReportEnergy(arguments, session);
  const CostRates rates = RatesFrom(arguments);
  if (rates.any() || rates.gpus || rates.steps_per_epoch)
    return Fail(ErrorCode::kUsage, "prices and power are of --style energy", "",
                "gapless report run --style energy --price 2.49");
  GAPLESS_ASSIGN(auto view, ReadLab(arguments, session));
  view.title = arguments.title;
  return WriteDocumentOrJson(
      arguments, [&] { return WriteLab(view); }, [&] { return LabJson(view); });
}

constexpr const TypeInfo* kDocuments[] = {&kLabDocument, &kEnergyDocument};
constexpr Example kExamples[] = {
    {"gapless report optimized", "The write-up of an optimisation: baseline, table of fixes, losses, what next"},
    {"gapless report before optimized after --style lab -o report.html", "The same with a step before and after"},
    {"gapless report baseline.json loader.json all.json", "A table of stages that bench measured"},
    {"gapless report run --style energy --carbon 380", "Power, energy of a step, and what each finding takes a day"},
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
        "are compared with the first.\n\n`--style energy` is about one run: the power of its GPUs, the energy of a "
        "step and of its parts, and what each finding takes a day in kWh, money and CO2, with all that was assumed.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::report_command
