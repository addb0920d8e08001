// SPDX-License-Identifier: Apache-2.0
// Writes the report of `gapless profile --comprehensive`: a section for each tool, the findings of all recordings, and
// telemetry.
//
// A section says what its tool recorded, or why it recorded nothing; that a tool is missing is a result, too. The
// report is a document of the lab's parts (report/lab), written as Markdown without pictures.
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

// Rows of each list and table.
constexpr size_t kShown = 5;

// The number of recordings by one reader, and of the events in them.
struct RecordingCount {
  int64_t recordings = 0, events = 0;
};

// Counts over all executions: those of nsys and ncu are others than the first.
RecordingCount RecordedBy(const Run& run, std::string_view format) {
  RecordingCount recorded;
  for (const RunTrace& of : run.traces())
    if (of.trace->info.format == format) ++recorded.recordings, recorded.events += of.trace->info.event_count;
  return recorded;
}

// Adds the messages about a tool, those that begin with its name, each in a paragraph.
void AddSaid(std::string_view tool, const std::vector<std::string>& sentences, LabSection& section) {
  for (const std::string& sentence : sentences)
    if (sentence.starts_with(tool)) section.blocks.push_back(Paragraph(StrCat(sentence, ".")));
}

// Begins a section with what was recorded in a format; `otherwise` is the sentence if nothing was.
LabSection SectionOf(std::string heading, const Run& run, std::string_view format, std::string_view otherwise) {
  LabSection section{.heading = std::move(heading)};
  const RecordingCount recorded = RecordedBy(run, format);
  section.blocks.push_back(Paragraph(
      recorded.recordings > 0
          ? StrCat(FormatCounted(recorded.recordings, "recording"), " with ", FormatCount(recorded.events), " events.")
          : std::string(otherwise)));
  return section;
}

// Returns the first five findings over all recordings, in the order of `gapless analyze`.
LabSection FindingsSection(const Findings& findings) {
  LabSection section{.heading = "Findings of all of them together"};
  if (findings.summary.step_ns)
    section.blocks.push_back(Paragraph(StrCat(FormatCounted(findings.summary.steps, "complete step"), ", median ",
                                              FormatMs(findings.summary.step_ns->median), ".")));
  std::vector<std::string> found;
  for (const Bottleneck& bottleneck : findings.diagnosis.bottlenecks)
    if (found.size() < kShown)
      found.push_back(StrCat(ToString(bottleneck.type), ": ", bottleneck.title,
                             bottleneck.gain ? StrCat(" (expected ", GainRatioText(*bottleneck.gain), ")") : ""));
  section.blocks.push_back(found.empty() ? Paragraph("No rule reached its threshold.") : ListOf(std::move(found)));
  return section;
}

// Returns the functions with most self time over all processes; rows about single lines are left out.
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

// Collectors that found nothing to sample left a fact with the reason, which is shown.
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

// Returns how the time of all GPU operations divides into kernels and copies, fills included.
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

// Returns the metrics of the measured kernels, and the verdicts of the rules on them.
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

// Reads the whole folder again: the other tools' reports were added after the first run.
Result<std::string> WriteToolReport(const std::string& folder, const std::vector<std::string>& missing,
                                    const std::vector<std::string>& done) {
  GAPLESS_ASSIGN(auto loaded, LoadRun({&folder, 1}));
  const RunAnalysis analysis(std::move(loaded));
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
