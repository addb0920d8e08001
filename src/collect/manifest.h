// SPDX-License-Identifier: Apache-2.0
// manifest.json: what a run was (docs/run_bundle.md). Written when the command starts and again when it has ended, so a
// run whose launcher was killed has one, too: its `state` is then still "running". Of several launchers that share the
// folder the others write manifest-<task>.json.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/machine.h"
#include "collect/ring_keeper.h"
#include "collect/tools.h"

namespace gapless::internal {

inline constexpr std::string_view kManifestStem = "manifest", kManifestEnd = ".json";
inline constexpr int kManifestVersion = 1;

// One posted command, or one step that was found too slow: what happened to the run, in order.
struct RunEvent {
  int64_t unix_ns = 0;
  std::string text;
};

struct Manifest {
  std::vector<std::string> command;
  std::string folder;  // the command's working folder
  int64_t started_unix_ns = 0, started_monotonic_ns = 0, started_boottime_ns = 0;
  std::optional<int64_t> ended_unix_ns;
  std::optional<int> exit_status;
  int signal = 0;             // 0: none
  std::string agent_options;  // the JSON that the agent was given
  HostFacts host;
  std::optional<GitFacts> git;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<UnpackedFile> tools;
  std::vector<std::string> missing;  // what was wanted and not to be had, and how to get it
  std::vector<RunEvent> events;
  std::vector<std::string> incomplete;  // what could not be written of the run, and why
};

// The command of the run in a folder, as its manifest has it; empty: there is none that can be read.
std::vector<std::string> CommandOfRun(const std::string& folder);

// A ManifestFile is the file of one launcher. What it needs on the disk in the end is taken when it is first
// written: a disk that fills up meanwhile does not keep it from being whole.
class ManifestFile {
 public:
  // Writes it for the first time. An error of kUsage where there is a file of that name.
  static Result<ManifestFile> Make(const RunFolder& run, const std::string& name, std::string_view content);
  ManifestFile(ManifestFile&& other) noexcept;
  ManifestFile& operator=(ManifestFile&&) = delete;
  ~ManifestFile() { GiveUpReserve(); }
  const std::string& name() const { return name_; }
  // Replaces the content, using the reserved space; to be called once.
  Result<void> Replace(std::string_view content);
  // The place that was kept goes.
  void GiveUpReserve();

 private:
  ManifestFile(const RunFolder& run, std::string name);
  const RunFolder* run_;
  std::string name_, reserve_name_;
  Descriptor reserve_;
};

// `processes` are those whose rings were read.
std::string ManifestJson(const Manifest& manifest, const std::vector<std::unique_ptr<AgentProcess>>& processes);

}  // namespace gapless::internal
