// SPDX-License-Identifier: Apache-2.0
// The write-up that a lab asks for: a baseline, the fixes in the order in which they were kept, their proof, pictures
// of a step before and after, and conclusions. Every sentence follows from a number of the view; a number that was not
// measured is an en dash in a table and no sentence in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "gapless/bottleneck.h"
#include "predict/step_picture.h"

namespace gapless::internal {

// A factor with its 95 % interval; an end that is not known is absent.
struct LabRatio {
  std::optional<double> low{}, high{};
  double expected = 1;
};

// A state of the training as a benchmark measured it: a row of a table.
struct LabStage {
  std::string name{};
  std::optional<double> step_ms{}, samples_per_second{}, memory_bytes{}, gpu_utilization{}, loss{}, metric{};
  std::string gpu_utilization_source{}, memory_source{};
  std::optional<LabRatio> predicted{}, measured{};
  std::vector<double> losses{};      // loss of each step; NaN if none was seen
  std::vector<std::string> noise{};  // what disturbed the measurement
};

// An operator of the host or a kernel of the GPU (LabRecording::is_device_time).
struct LabOperator {
  std::string name{};
  double calls = 0, self_ns = 0;  // a step
};

// A recording of some steps, and the findings in it.
struct LabRecording {
  std::string name{};    // as the user gave it
  std::string device{};  // "1 × Tesla V100"; empty: no GPU worked
  int64_t steps = 0;
  std::optional<int64_t> step_ns{}, step_p95_ns{};  // median and 95th percentile of the recorded steps
  std::optional<double> added_share{};              // estimate: share of a recorded step that recording adds
  std::optional<double> gpu_utilization{};          // 0–100
  std::string gpu_utilization_source{};
  std::optional<double> cpu_utilization{};  // 0–100, of all processors of the host
  std::string run_class{}, class_evidence{};
  std::vector<Bottleneck> bottlenecks{};  // in the order of the report
  std::optional<Gain> potential{};
  std::optional<double> operators{}, launches{};  // a step
  bool is_device_time = false;                    // LabOperator::self_ns is time of the GPU
  std::vector<LabOperator> top{};
  StepPicture picture{};                   // no lanes: there is no complete step
  std::optional<StepPicture> predicted{};  // with the fixes that can be replayed
  std::vector<double> losses{};            // loss of each step; NaN if none was seen
};

// A fix that was refused or not tried, with the sentence that says why.
struct LabReason {
  std::string fix{}, text{};
};

// The result of `gapless optimize`. The first stage is the command as it is.
struct LabOptimization {
  std::string name{}, command{}, about{}, metric_name{}, conclusion{}, training{};
  bool proved = false;
  std::optional<LabRatio> speedup{};
  std::vector<LabStage> stages{};  // before, a row for each fix that stayed, then all of them together
  std::vector<LabReason> refused{}, untried{};
  std::vector<std::string> warnings{};
  std::optional<double> took_s{}, budget_s{};
};

// One number of ranks of a scaling curve. Speedup and efficiency are against the fewest ranks.
struct LabScalingPoint {
  int64_t ranks = 0;
  double speedup = 0, efficiency = 0;
  std::optional<double> step_ms{}, samples_per_second{};
};
struct LabScaling {
  std::string name{}, kind{};  // "weak", "strong", "unknown"
  std::vector<LabScalingPoint> points{};
};

// The settings that `gapless tune` measured.
struct LabTuning {
  std::string name{};
  std::vector<LabStage> settings{};
  size_t best = 0;
};

// A history as `gapless trend` sums it up.
struct LabHistory {
  std::string heading{}, svg{};
  std::vector<std::string> sentences{};
};

// All that was given to `gapless report`, in the order given. The first recording is the one before, the last the one
// after.
struct LabView {
  std::string title{};
  std::vector<LabRecording> recordings{};
  std::vector<LabOptimization> optimizations{};
  std::vector<LabStage> stages{};  // results of `gapless bench`, in the order given
  std::vector<LabScaling> scalings{};
  std::vector<LabTuning> tunings{};
  std::vector<LabHistory> histories{};

  const LabRecording* Before() const { return recordings.empty() ? nullptr : &recordings.front(); }
  const LabRecording* After() const { return recordings.size() < 2 ? nullptr : &recordings.back(); }
};

// A part of a section, before it is Markdown or HTML. Texts are not escaped.
struct LabBlock {
  enum class Kind : uint8_t { kParagraph, kTable, kPicture, kList } kind = Kind::kParagraph;
  std::string text{};                            // text of a paragraph; for a picture its name: "loss"
  std::string svg{};                             // SVG of a picture
  std::vector<std::vector<std::string>> rows{};  // cells of a table, head first; of a list one cell each
};
struct LabSection {
  std::string heading{};
  std::vector<LabBlock> blocks{};
};
struct LabDocument {
  std::string title{};
  std::vector<LabSection> sections{};
};

// Writes all sections. Sections without any content are left out, or say which command gives them content.
LabDocument WriteLab(const LabView& view);
// `pictures`: the folder that the pictures are in, as the text refers to it; empty: pictures are left out, and a
// sentence says how to get them.
std::string LabMarkdown(const LabDocument& document, std::string_view pictures);
// Returns a page of HTML that loads nothing; pictures are SVG in it.
std::string LabPage(const LabDocument& document);
// `gapless report --json`.
extern const TypeInfo kLabDocument;
std::string LabJson(const LabView& view);

}  // namespace gapless::internal
