// SPDX-License-Identifier: Apache-2.0
// Tables: CSV of nvidia-smi, amd-smi, rocm-smi, W&B, nvitop and Zeus, and the columns of nvidia-smi dmon and pmon and
// of dcgmi dmon. The last head that was seen says what the columns are.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/readers/gpu_samples/sink.h"
#include "ingest/readers/gpu_samples/table_form.h"

namespace gapless::internal::gpu_samples {

class TableLines {
 public:
  explicit TableLines(SampleSink& sink) : sink_(sink) {}
  void TakeLine(std::string_view line);
  // Forgets the head: another form follows, or a blank line behind which other text may come.
  void Leave();

 private:
  void TakeHead(Form form, std::string_view line);
  void TakeUnits(const std::vector<std::string>& words);
  void TakeWords(std::vector<std::string> words);
  void TakeCells(const std::vector<std::string>& cells);
  void TakeProcess(const std::vector<std::string>& words);
  void EndProcesses();
  std::optional<int32_t> DeviceOfRow(const std::vector<std::string>& cells);
  std::optional<int64_t> TimeOfRow(const std::vector<std::string>& cells, bool& has_time);
  void AddRow(const std::vector<std::string>& cells, int32_t device, int64_t ts_ns);

  SampleSink& sink_;
  Form form_ = Form::kNone;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::set<std::pair<int32_t, std::string>> processes_;  // GPU and process of the moment of pmon
  std::map<int32_t, int64_t> process_counts_;
};

}  // namespace gapless::internal::gpu_samples
