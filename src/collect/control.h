// SPDX-License-Identifier: Apache-2.0
// Asking the agents of a run for something (docs/agent_protocol.md).
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
  // Makes the run's control block; an error where there is one, however many try at the same time.
  static Result<ControlBlock> Make(const std::string& run_folder);
  static Result<ControlBlock> MakeIn(int folder, const std::string& run_folder, const std::optional<JobTask>& task);
  // Opens that of a run which is under way, or was.
  static Result<ControlBlock> Open(const std::string& run_folder);
  static Result<ControlBlock> OpenIn(int folder, const std::string& run_folder);

  // Posts a command and gives its sequence number. Several processes may post at the same time. `at_step`: the step at
  // whose start it becomes due; without one the ranks agree.
  Result<uint64_t> Post(wire::AgentCommand command, int64_t argument, std::string_view text = {},
                        int64_t at_step = wire::kStepNotAgreed);
  // The process id of the launcher that made the block.
  int64_t launcher_pid() const { return made_.launcher_pid; }
  // The commands posted after the one with this number, in order, as far as they are still there.
  std::vector<wire::ControlSlot> Since(uint64_t sequence) const;
  // Had the launcher that made it not ended, when the block was opened? One of another host is believed.
  bool IsUnderWay() const;
  // The step that the ranks agreed on for a command; kStepNotAgreed: none has seen it yet, or it was overwritten.
  int64_t AgreedStep(uint64_t sequence) const;

  // May another launcher, this task of a job, share the run? When it belongs to the same start of the same job and is
  // under way, or began a short while ago: tasks of a job start and end at different times.
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
