// SPDX-License-Identifier: Apache-2.0
// A ControlBlock asks the agents of a run for something (python/gapless/agent/README.md). It owns the descriptor of the
// file. Several processes may use the same block; an object is not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/files.h"
#include "collect/job.h"
#include "wire/control_block.h"

namespace gapless::internal {

class ControlBlock {
 public:
  // Makes the run's control block. Returns an error of kUsage where there is one, however many try at the same
  // time.
  static Result<ControlBlock> Make(const std::string& run_folder);
  static Result<ControlBlock> MakeIn(int folder, const std::string& run_folder, const std::optional<JobTask>& task);
  // Opens the block of a run that is under way, or was. Returns an error if it is missing, or of another
  // version.
  static Result<ControlBlock> Open(const std::string& run_folder);
  static Result<ControlBlock> OpenIn(int folder, const std::string& run_folder);

  // Posts a command and returns its sequence number. Several processes may post at the same time. Text beyond the
  // slot is cut off. `at_step` is the step at whose start it becomes due; without one the ranks agree on a step.
  Result<uint64_t> Post(wire::AgentCommand command, int64_t argument, std::string_view text = {},
                        int64_t at_step = wire::kStepNotAgreed);
  // The process id of the launcher that made the block.
  int64_t launcher_pid() const { return made_.launcher_pid; }
  // The commands posted after the one with this number, in order, as far as they are still there.
  std::vector<wire::ControlSlot> Since(uint64_t sequence) const;
  // Returns true if the launcher that made the block had not ended when the block was opened. One of another host
  // is believed, since its process cannot be looked at.
  bool IsUnderWay() const;
  // The step that the ranks agreed on for a command; kStepNotAgreed: none has seen it yet, or it was overwritten.
  int64_t AgreedStep(uint64_t sequence) const;

  // Returns true if another launcher, this task of a job, may share the run: it belongs to the same start of the
  // same job and is under way, or began a short while ago. Tasks of a job start and end at different times.
  bool MayJoin(const JobTask& task) const;
  // The launcher that made it has ended.
  void SetEnded();
  // Between the two no other launcher enters the run or leaves it (where the file system has locks).
  void Hold();
  void Release();
  // Somebody has removed it since it was opened.
  bool IsGone() const;

 private:
  ControlBlock(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  Descriptor file_;
  wire::ControlHeader made_{};  // as it was when the block was opened
};

// The text of a command.
std::string_view TextIn(const wire::ControlSlot& slot);

}  // namespace gapless::internal
