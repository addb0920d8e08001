// SPDX-License-Identifier: Apache-2.0
// The folder of one run, the run bundle (docs/run_bundle.md): every profiler's files in their own formats, and a
// manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

inline constexpr std::string_view kDefaultRunFolder = "run";

struct UnpackedFile {
  std::string path;      // below the run folder
  std::string checksum;  // XXH3, 128 bits, as `xxh128sum` prints it
};

class RunFolder {
 public:
  // Makes the folder. `wanted` must not exist or be empty; when it is empty itself, the first of run, run-2, run-3 …
  // that does not exist is taken.
  static Result<RunFolder> Make(std::string_view wanted);

  const std::string& path() const { return path_; }  // absolute
  const std::string& name() const { return name_; }  // as the user would type it
  bool made() const { return made_; }                // false: it was there, and empty
  std::string File(std::string_view below) const { return path_ + "/" + std::string(below); }

  // Writes the embedded files to tools/ (0700), reads each again and compares.
  Result<std::vector<UnpackedFile>> UnpackTools() const;

 private:
  RunFolder(std::string path, std::string name, bool made)
      : path_(std::move(path)), name_(std::move(name)), made_(made) {}
  std::string path_, name_;
  bool made_;
};

}  // namespace gapless::internal
