// SPDX-License-Identifier: Apache-2.0
// A Rows object turns the agent's records into rows of a trace. For one thread; header and builder must outlive
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/builder.h"
#include "wire/agent_ring.h"
#include "wire/ring_texts.h"

namespace gapless::internal::agent {

class Rows {
 public:
  Rows(const wire::RingHeader& header, TraceBuilder& builder);

  // Records come in the order they were written.
  void Add(const wire::RingRecord& record);
  // Adds the rows that are known only at the end: steps with their losses.
  void Finish();

 private:
  void AddStep(const wire::RingRecord& record);
  // `line`: "file:line" of the user's code that made the call; "": not known.
  void AddSlice(const wire::RingRecord& record, std::string_view name, std::string_view line = {});
  void AddSave(const wire::RingRecord& record);
  void AddBeside(const wire::RingRecord& record);
  void AddCompile(const wire::RingRecord& record);
  void AddCounter(const wire::RingRecord& record, std::string_view name, std::string_view unit, double value,
                  bool of_device = false);
  void AddLoaded(const wire::RingRecord& record);
  void AddMessage(const wire::RingRecord& record);
  void AddProcess(const wire::RingRecord& record);
  void AddRecorder(const wire::RingRecord& record);
  const std::string& Text(int64_t id) const { return texts_[id]; }
  const std::string& LineOfLoader(int64_t loader) const;

  const wire::RingHeader& header_;
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  wire::RingTexts texts_;
  bool trains_ = false;  // a step was more than a call of a model
  std::vector<StepRow> steps_;
  std::map<int64_t, double> losses_;
  std::map<int64_t, int64_t> loader_lines_;  // text of the line that reads from a loader
  int64_t recording_since_ns_ = kAbsent;
};

}  // namespace gapless::internal::agent
