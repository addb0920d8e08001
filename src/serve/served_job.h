// SPDX-License-Identifier: Apache-2.0
// A job that is served while it is under way: its charts, and the recordings in its folder, each of which is opened as
// a run when somebody asks for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/job_feed.h"
#include "serve/served_run.h"

namespace gapless::internal {

// Reads a recording, of which only the server knows the path.
using OpenRecording = std::function<Result<std::unique_ptr<RunAnalysis>>(const std::string& path)>;

class ServedMonitor {
 public:
  static Result<std::unique_ptr<ServedMonitor>> Start(std::string id, const std::string& folder, OpenRecording open);

  const std::string& id() const { return id_; }
  ServedThing Info() const { return {.id = id_, .name = folder_}; }
  Result<std::string> JobJson() const;
  // The run of an id that JobJson() gave ("m0-3"); null: there is none of that id. An error: it cannot be read, or too
  // many are open. It stays open as long as the site.
  Result<const ServedRun*> Open(std::string_view run);
  // Returns the runs that are open.
  std::vector<const ServedRun*> runs() const;

  static constexpr size_t kMostOpen = 16;

 private:
  struct Recording {
    std::string name;  // below the folder
    int64_t at_unix_ms = 0;
  };

  ServedMonitor(std::string id, std::string folder, OpenRecording open)
      : id_(std::move(id)), folder_(std::move(folder)), open_(std::move(open)) {}
  std::vector<JobRecording> Recordings() const;
  std::string RunId(size_t at) const;

  std::string id_, folder_;
  OpenRecording open_;
  std::unique_ptr<JobFeed> feed_;
  mutable std::mutex mutex_;                   // of all below
  mutable std::vector<Recording> recordings_;  // in the order they were found: a place is an id
  std::map<size_t, std::unique_ptr<ServedRun>> opened_;
};

}  // namespace gapless::internal
