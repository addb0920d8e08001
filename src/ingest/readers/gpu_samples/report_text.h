// SPDX-License-Identifier: Apache-2.0
// Reports of one moment, as text: `nvidia-smi`, `nvidia-smi -q`, and `rocm-smi`. A file may hold many of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ingest/readers/gpu_samples/sink.h"

namespace gapless::internal::gpu_samples {

class ReportLines {
 public:
  explicit ReportLines(SampleSink& sink) : sink_(sink) {}
  // True: the line belongs to such a report, and was taken.
  bool TakeLine(std::string_view line);
  // The text ends: so does the list of processes of the last GPU.
  void End() { EndProcesses(); }

 private:
  bool TakeQuery(std::string_view line);
  bool TakeTable(std::string_view line);
  bool TakeRocm(std::string_view line);
  void EndProcesses();
  int64_t Moment(int32_t device);

  SampleSink& sink_;
  int64_t time_ = kAbsent;  // of the report
  bool in_query_ = false, in_table_ = false, in_processes_ = false;
  int32_t device_ = -1, gpus_ = 0;  // of the report
  int64_t moment_ = 0, processes_ = 0;
  std::vector<std::pair<size_t, std::string>> sections_;  // indentation and name of -q
  std::string name_;                                      // of the GPU of the table
  std::map<int32_t, int64_t> moments_;                    // of rocm-smi
  std::map<int32_t, std::set<std::string>> names_;
};

// Is there a line of such a report in the text?
bool HasReport(std::string_view head);

// `nvidia-smi -q -x`: one report or many.
void ReadReportXml(std::string_view text, SampleSink& sink);

}  // namespace gapless::internal::gpu_samples
