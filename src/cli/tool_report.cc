// SPDX-License-Identifier: Apache-2.0
// Writes the report of `gapless profile --comprehensive`: a section for each tool, the findings of all recordings, and
// telemetry.
#include "cli/tool_report.h"

#include <algorithm>
#include <cmath>

#include "analyses/rows/measured_kernels.h"
#include "base/strings.h"
#include "cli/output.h"
#include "flows/analysis.h"
#include "report/lab/parts.h"

namespace gapless::internal {
namespace {

using namespace lab;  // NOLINT(google-build-using-namespace): the parts of this document

constexpr size_t kShown = 5;

struct Recorded {
  int64_t recordings = 0, events = 0;
};

Recorded RecordedBy(const Run& run, std::string_view format) {
  Recorded recorded;
  for (const RunTrace& of : run.traces())
    if (of.trace->info.format == format) ++recorded.recordings, recorded.events += of.trace->info.event_count;
  return recorded;
}

// Returns the messages about a tool, each in a paragraph; `otherwise` if the tool recorded nothing and no message names
// it.
void AddSaid(std::string_view tool, const std::vector<std::string>& sentences, LabSection& section) {
  for (const std::string& sentence : sentences)
    if (sentence.starts_with(tool)) section.blocks.push_back(Paragraph(StrCat(sentence, ".")));
}

LabSection SectionOf(std::string heading, const Run& run, std::string_view format, std::string_view otherwise) {
  LabSection section{.heading = std::move(heading)};
  const Recorded recorded = RecordedBy(run, format);
  section.blocks.push_back(Paragraph(
      recorded.recordings > 0
          ? StrCat(FormatCounted(recorded.recordings, "recording"), " with ", FormatCount(recorded.events), " events.")
          : std::string(otherwise)));
  return section;
}

// The findings of all recordings together, as `gapless analyze` ranks them.
LabSection FindingsSection(const Findings& findings) {
  LabSection section{.heading = "Findings of all of them together"};
  if (findings.summary.step_ns)
    section.blocks.push_back(Paragraph(StrCat(FormatCounted(findings.summary.steps, "complete step"), ", median ",
                                              FormatMs(findings.summary.step_ns->median), ".")));
  std::vector<std::string> found;
  for (const Bottleneck& bottleneck : findings.diagnosis.bottlenecks)
    if (found.size() < kShown)
      found.push_back(StrCat(ToString(bottleneck.type), ": ", bottleneck.title,
                             bottleneck.gain ? StrCat(" (expected ", GainText(*bottleneck.gain), ")") : ""));
  section.blocks.push_back(found.empty() ? Paragraph("No rule reached its threshold.") : ListOf(std::move(found)));
  return section;
}

LabSection PythonSection(const Run& run) {
  LabSection section =
      SectionOf("Python code", run, "host_profile", "No profile: no process of the command ran Python.");
  struct Function {
    std::string place{};
    int64_t self_ns = 0;
  };
  std::vector<Function> functions;
  for (const RunTrace& of : run.traces()) {
    const HostFunctionTable& rows = of.trace->host_functions;
    for (size_t row = 0; row < rows.size(); ++row)
      if (rows.self_ns[row] > 0 && rows.function[row] != StringId::kNone)
        functions.push_back(
            {StrCat(of.trace->Text(rows.function[row]), " (", of.trace->Text(rows.file[row]), ":", rows.line[row], ")"),
             rows.self_ns[row]});
  }
  std::ranges::stable_sort(functions, std::ranges::greater(), &Function::self_ns);
  std::vector<std::vector<std::string>> rows = {{"function", "self time"}};
  for (size_t i = 0; i < functions.size() && i < kShown; ++i)
    rows.push_back({functions[i].place, FormatDuration(functions[i].self_ns)});
  if (rows.size() > 1) section.blocks.push_back(TableOf(std::move(rows)));
  return section;
}

LabSection TelemetrySection(const Run& run, const RunSummary& summary) {
  LabSection section = SectionOf("Telemetry", run, "telemetry", "No samples: telemetry was switched off (--hz 0).");
  if (summary.gpu_utilization)
    section.blocks.push_back(Paragraph(StrCat("GPU utilisation ", UtilizationText(summary.gpu_utilization), " (",
                                              summary.gpu_utilization_source, ").")));
  constexpr std::string_view kAbsent = "telemetry.absent.";
  for (const RunTrace& of : run.traces()) {
    const EnvironmentTable& facts = of.trace->environment;
    for (size_t row = 0; row < facts.size(); ++row)
      if (const std::string_view key = of.trace->Text(facts.key[row]); key.starts_with(kAbsent))
        section.blocks.push_back(
            Paragraph(StrCat("Missing: ", key.substr(kAbsent.size()), ", ", of.trace->Text(facts.value[row]), ".")));
  }
  return section;
}

// The requested figures of a timeline: kernels should take above 80 % of the GPU's time, copies below 10 %.
LabSection SystemsSection(const Run& run, const std::vector<std::string>& said) {
  LabSection section = SectionOf("Nsight Systems", run, "nsys", "No recording.");
  AddSaid("nsys", said, section);
  double kernel_ns = 0, copy_ns = 0;
  for (const RunTrace& of : run.traces()) {
    const GpuOpTable& ops = of.trace->gpu_ops;
    for (size_t row = 0; row < ops.size() && of.trace->info.format == "nsys"; ++row)
      (ops.kind[row] == GpuOpKind::kKernel ? kernel_ns : copy_ns) += static_cast<double>(ops.dur_ns[row]);
  }
  if (kernel_ns + copy_ns > 0)
    section.blocks.push_back(Paragraph(StrCat("Of the time of all GPU operations kernels take ",
                                              FormatPercent(kernel_ns / (kernel_ns + copy_ns)), " and copies ",
                                              FormatPercent(copy_ns / (kernel_ns + copy_ns)), ".")));
  return section;
}

LabSection ComputeSection(const Run& run, Tables& tables, const Findings& findings,
                          const std::vector<std::string>& said) {
  LabSection section = SectionOf("Nsight Compute", run, "ncu_csv", "No kernel was measured.");
  AddSaid("ncu", said, section);
  const auto kernels = tables.Get<MeasuredKernelsRows>();
  std::vector<std::vector<std::string>> rows = {{"kernel", "compute", "memory", "occupancy", "active threads"}};
  const auto percent = [&](size_t row, MeasuredKernelsRows::RealColumn column) {
    return kernels.IsNull(row, column) ? std::string(kAbsentCell)
                                       : StrCat(FormatNumber(kernels.Real(row, column), 1), " %");
  };
  for (size_t row = 0; row < kernels.rows() && row < kShown; ++row)
    rows.push_back({Ellipsize(kernels.Text(row, "kernel_name"), 60), percent(row, "sm_pct"), percent(row, "dram_pct"),
                    percent(row, "occupancy_pct"), percent(row, "warp_efficiency_pct")});
  if (rows.size() > 1) section.blocks.push_back(TableOf(std::move(rows)));
  std::vector<std::string> verdicts;
  for (const Bottleneck& found : findings.diagnosis.bottlenecks)
    if (found.id.starts_with("kernel_m")) verdicts.push_back(found.title);
  if (!verdicts.empty()) section.blocks.push_back(ListOf(std::move(verdicts)));
  return section;
}

}  // namespace

Result<std::string> WriteToolReport(const std::string& folder, const std::vector<std::string>& missing,
                                    const std::vector<std::string>& done) {
  auto loaded = LoadRun({&folder, 1});
  if (!loaded) return Unexpected{loaded.error()};
  const RunAnalysis analysis(std::move(*loaded));
  const Run& run = analysis.run();
  const Findings findings = analysis.advice().Conclude({});
  std::vector<std::string> said = missing;
  said.insert(said.end(), done.begin(), done.end());
  LabDocument document{.title = StrCat("What each tool recorded of ", folder)};
  document.sections = {
      SectionOf("PyTorch profiler", run, "kineto",
                "No recording: no process of the command trained or computed with PyTorch for long enough."),
      PythonSection(run),
      TelemetrySection(run, findings.summary),
      SystemsSection(run, said),
      ComputeSection(run, analysis.tables(), findings, said),
      FindingsSection(findings)};
  const std::string path = StrCat(folder, "/tools.md");
  GAPLESS_TRY(WriteFile(path, LabMarkdown(document, "")));
  return path;
}

}  // namespace gapless::internal
