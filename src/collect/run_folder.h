// SPDX-License-Identifier: Apache-2.0
// The folder of one run, the run bundle (docs/run_bundle.md): every profiler's files in their own formats, and a
// manifest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/files.h"

namespace gapless::internal {

inline constexpr std::string_view kDefaultRunFolder = "run";

// A RunFolder holds the run's directory open. It never removes it.
class RunFolder {
 public:
  // Makes the folder, for its owner only, and opens it: what is put into it goes through the open folder, so nobody can
  // put another in its place. When `wanted` is empty, the first of run, run-2, run-3 … that does not exist is taken. A
  // folder that is there is refused when others can write in it, unless `shared` says that this is meant.
  static Result<RunFolder> Make(std::string_view wanted, bool shared = false);

  const std::string& path() const { return path_; }  // absolute
  const std::string& name() const { return name_; }  // as the user would type it
  bool made() const { return made_; }                // false: it was there
  int descriptor() const { return folder_.get(); }
  std::string File(std::string_view below) const { return path_ + "/" + std::string(below); }
  // Nothing is in it, but for what somebody who also writes to it is about to give a name.
  bool IsEmpty() const;
  // Returns the path by which the command's processes find it. Where others can put another folder in its place, it
  // goes through our open one (/proc/<pid>/fd/<number>), whatever happens to the names; it is then good while we run.
  std::string PathForProcesses() const;
  // Returns where the folder is now, or "" if its path still leads to it.
  std::string MovedTo() const;
  // Somebody has removed it since it was opened.
  bool IsGone() const;

 private:
  RunFolder(std::string path, std::string name, bool made, Descriptor folder)
      : path_(std::move(path)), name_(std::move(name)), made_(made), folder_(std::move(folder)) {}
  static Result<RunFolder> Open(std::string path, std::string name, bool made, bool shared);
  std::string path_, name_;
  bool made_;
  Descriptor folder_;
};

}  // namespace gapless::internal
