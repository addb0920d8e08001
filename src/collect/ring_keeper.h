// SPDX-License-Identifier: Apache-2.0
// Saves what the agents of a run report before their rings overwrite it: agent-<pid>.ring is copied, record by record,
// to agent-<pid>.events beside it. What is not saved when the launcher dies is still in the ring, and readers take
// both.
#pragma once

#include <fcntl.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collect/private_files.h"
#include "collect/recording_account.h"
#include "collect/ring.h"
#include "collect/step_account.h"

namespace gapless::internal {

// Rings are looked for in the open run folder and nowhere else: a link in it leads nowhere. Several launchers may share
// the folder, and each saves the rings of its own processes.

// An AgentProcess is the state of one process of the run, as its ring has shown it so far.
struct AgentProcess {
  std::string folder;  // "main", "rank3"
  RingReader ring;
  Descriptor rank_folder{};  // open
  Descriptor events{};       // none: only watched
  int events_error = 0;      // errno of what kept the saved file from being whole; the ring stays then
  wire::RingTexts texts{};
  std::vector<std::string> recordings{};  // files the profiler wrote, as the agent named them
  std::string unrecorded{};               // the agent's reason why a recording came to nothing; empty: none did
  std::vector<std::string> messages{};    // warnings and errors
  int64_t last_step_ns = 0;               // duration of the last step; 0: none yet
  int64_t steps_ns = 0;                   // total time of all steps
  bool was_recorded = false;              // the last step
  bool trains = false;                    // a step was seen that was more than a call of a model
  // Durations of the steps that the profiler recorded, and of the others but the first and those behind a recording.
  StepHistory recorded_steps{}, other_steps{};
  RecordingAccount recording_cost{};
  bool ended = false;
};

// A RingKeeper finds the rings of a run and reads them. For one thread. Processes are never removed from its list.
class RingKeeper {
 public:
  using OnRecord = std::function<void(AgentProcess&, const wire::RingRecord&)>;

  // `save`: false only looks, at the rings of all launchers, as `gapless trigger` and an attached monitor do.
  RingKeeper(const std::string& run_folder, bool save)
      : RingKeeper(OpenFolder(AT_FDCWD, run_folder), run_folder, save, 0) {}
  // The launcher saves only rings with this number (wire::RingHeader::launcher).
  RingKeeper(Descriptor folder, std::string path, bool save, uint64_t launcher)
      : folder_(std::move(folder)), path_(std::move(path)), save_(save), launcher_(launcher) {}

  // Looks for new rings (at most every half second unless `now`) and takes what is new from all.
  void Drain(bool now = false, const OnRecord& on_record = {});
  // When all is over: a ring whose process has ended and whose records are all saved is removed.
  void Finish();

  std::vector<std::unique_ptr<AgentProcess>>& processes() { return processes_; }
  const std::vector<std::unique_ptr<AgentProcess>>& processes() const { return processes_; }
  int folder() const { return folder_.get(); }  // the open folder of the run
  // Steps of the process that has done most, of those that train if any does; 0: none.
  uint64_t steps() const;
  // Returns true if a process of the run is still active on this host.
  bool AnyAlive() const;

 private:
  void Discover();
  void DiscoverIn(const std::string& rank_folder);
  void Take(AgentProcess& process, const OnRecord& on_record);

  Descriptor folder_;
  std::string path_;
  bool save_;
  uint64_t launcher_;
  int64_t discovered_ns_ = 0;
  std::vector<std::unique_ptr<AgentProcess>> processes_;
  std::set<std::string> foreign_;  // rings of other launchers
};

}  // namespace gapless::internal
