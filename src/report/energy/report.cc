// SPDX-License-Identifier: Apache-2.0
// Writes what a training's energy is made of: power, the parts of a step, each finding by the day, and all that was
// assumed for it.
#include "report/energy/report.h"

#include "base/described_json.h"
#include "base/strings.h"
#include "report/amounts.h"
#include "report/energy/document.h"

namespace gapless::internal {

constinit const TypeInfo kEnergyDocument = describe::MakeType<documents::EnergyReport>();

namespace {

using Rows = std::vector<std::vector<std::string>>;

LabBlock Paragraph(std::string text) { return {.kind = LabBlock::Kind::kParagraph, .text = std::move(text)}; }
LabBlock TableBlock(Rows rows) { return {.kind = LabBlock::Kind::kTable, .rows = std::move(rows)}; }

std::string Unit(double value, std::string_view unit) { return StrCat(FormatDigits(value, 3), " ", unit); }

std::string StepsText(double steps) { return steps < 100 ? FormatDigits(steps, 3) : FormatNumber(steps, 0); }

std::string SourceText(PowerSource source) {
  switch (source) {
    case PowerSource::kGiven: return "as given";
    case PowerSource::kCounter: return "that of the energy counters while the steps ran";
    case PowerSource::kSampled: return "the mean of the samples while the steps ran";
    case PowerSource::kLimit: break;
  }
  return "the boards' power limit, so that all figures are upper bounds";
}

std::string PartText(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"compute", "compute"},
      {"exposed_comm", "communication that nothing hides"},
      {"exposed_copy", "copies that nothing hides"},
      {"idle_data", "waiting for data"},
      {"idle_launch", "waiting for launches"},
      {"idle_sync", "waiting after synchronisation"},
      {"idle_host", "waiting for the host"},
      {"idle_unknown", "waiting, cause not recorded"}};
  for (const auto& [known, text] : kNames)
    if (name == known) return std::string(text);
  return std::string(name);
}

std::string AmountText(const Amount& amount) {
  const auto texts = AmountTexts(amount);
  return texts.empty() ? "–" : Join(texts, " · ");
}

// All that the figures rest on, a sentence each.
std::vector<std::string> AssumptionsOf(const EnergyView& view) {
  const EnergyAccount& account = view.account;
  std::vector<std::string> texts{
      StrCat("A GPU draws ", Unit(account.watts, "W"), " (", SourceText(account.source), ").")};
  if (account.waiting_watts)
    texts.push_back(StrCat("A GPU that waits draws ", Unit(*account.waiting_watts, "W"),
                           ", the least that was sampled; what is left is spread evenly over its work."));
  else
    texts.push_back("A GPU draws the same whether it waits or works: no lower power was sampled.");
  texts.push_back(StrCat("The job has ", account.gpus, account.gpus == 1 ? " GPU" : " GPUs",
                         " and runs all day. Only GPUs count: hosts, cooling and network come on top."));
  if (account.host)
    texts.push_back(
        "The hosts' processors and memory draw what their counters (RAPL) show while the steps ran, for whomever.");
  if (view.rates.price_per_gpu_hour)
    texts.push_back(StrCat("A GPU costs ", MoneyText(*view.rates.price_per_gpu_hour), " an hour."));
  if (view.rates.carbon_g_per_kwh)
    texts.push_back(StrCat("A kilowatt-hour emits ", Unit(*view.rates.carbon_g_per_kwh, "g"), " of CO₂."));
  return texts;
}

void AddHost(const HostEnergyAccount& host, Rows& rows) {
  rows.push_back({host.hosts == 1 ? "processors of the host" : StrCat("processors of ", host.hosts, " hosts"),
                  Unit(host.processor_watts, "W")});
  if (host.memory_watts) rows.push_back({"memory beside them", Unit(*host.memory_watts, "W")});
  if (host.joules_per_step) rows.push_back({"a step, processors", Unit(*host.joules_per_step, "J")});
  rows.push_back({"a day, processors", AmountText(host.day)});
}

LabSection PowerSection(const EnergyView& view) {
  const EnergyAccount& account = view.account;
  Rows rows{{"", ""}, {"power of a GPU", Unit(account.watts, "W")}, {"GPUs", StrCat(account.gpus)}};
  if (account.joules_per_step) {
    rows.push_back({"energy of a step", Unit(*account.joules_per_step, "J")});
    rows.push_back({"mean step", FormatMs(static_cast<int64_t>(*account.step_ns))});
    rows.push_back({"steps for a kilojoule", StepsText(1e3 / *account.joules_per_step)});
  }
  rows.push_back({"a day", AmountText(account.day)});
  if (account.epoch) rows.push_back({"an epoch", AmountText(*account.epoch)});
  if (account.host) AddHost(*account.host, rows);
  LabSection section{.heading = "Power and energy"};
  section.blocks.push_back(
      Paragraph(StrCat(view.run, view.device.empty() ? "" : StrCat(" · ", account.gpus, " × ", view.device),
                       ". The power is ", SourceText(account.source), ".")));
  section.blocks.push_back(TableBlock(std::move(rows)));
  return section;
}

LabSection PartsSection(const EnergyAccount& account) {
  Rows rows{{"part of a step", "time", "power", "energy", "share"}};
  for (const EnergyPart& part : account.parts)
    rows.push_back({PartText(part.name), FormatMs(static_cast<int64_t>(part.step_ns)), Unit(part.watts, "W"),
                    Unit(part.joules, "J"), FormatPercent(part.joules / *account.joules_per_step)});
  rows.push_back({"all", FormatMs(static_cast<int64_t>(*account.step_ns)), Unit(account.watts, "W"),
                  Unit(*account.joules_per_step, "J"), FormatPercent(1)});
  return {.heading = "Where the energy of a step goes", .blocks = {TableBlock(std::move(rows))}};
}

LabSection FindingsSection(const EnergyAccount& account) {
  Rows rows{{"finding", "share of a step", "takes a day", "its fix saves a day"}};
  for (const EnergyOfFinding& finding : account.findings)
    rows.push_back({Printable(finding.title), FormatPercent(finding.share_of_step), AmountText(finding.day),
                    AmountText(finding.saved)});
  LabSection section{.heading = "What the findings cost"};
  section.blocks.push_back(TableBlock(std::move(rows)));
  section.blocks.push_back(Paragraph(
      "Findings may claim the same time: what they take does not add up. A saving comes after those above it."));
  return section;
}

documents::EnergyReport DocumentIn(const EnergyView& view) {
  const EnergyAccount& account = view.account;
  documents::EnergyReport document{.gpus = account.gpus,
                                   .watts = account.watts,
                                   .watts_source = account.source,
                                   .waiting_watts = account.waiting_watts,
                                   .step_ns = account.step_ns,
                                   .joules_per_step = account.joules_per_step,
                                   .parts = account.parts,
                                   .day = account.day,
                                   .epoch = account.epoch,
                                   .findings = account.findings,
                                   .assumptions = AssumptionsOf(view),
                                   .host = account.host};
  if (account.joules_per_step && *account.joules_per_step > 0)
    document.steps_per_kilojoule = 1e3 / *account.joules_per_step;
  return document;
}

}  // namespace

LabDocument WriteEnergy(const EnergyView& view) {
  LabDocument document{.title = view.title.empty() ? "Energy report" : view.title};
  document.sections.push_back(PowerSection(view));
  if (!view.account.parts.empty()) document.sections.push_back(PartsSection(view.account));
  if (!view.account.findings.empty()) document.sections.push_back(FindingsSection(view.account));
  LabBlock list{.kind = LabBlock::Kind::kList};
  for (const std::string& text : AssumptionsOf(view)) list.rows.push_back({text});
  document.sections.push_back({.heading = "Assumptions", .blocks = {std::move(list)}});
  return document;
}

std::string EnergyJson(const EnergyView& view) { return DocumentOf("report", DocumentIn(view)); }

void WriteEnergyObject(JsonWriter& json, const EnergyView& view) { WriteJson(json, DocumentIn(view)); }

}  // namespace gapless::internal
