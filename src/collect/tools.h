// SPDX-License-Identifier: Apache-2.0
// Unpacks the files that the processes of a run load: the agent and the injection library. Nobody
// else can change the place that they are loaded from.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/files.h"
#include "collect/run_folder.h"

namespace gapless::internal {

// A file that was put into the program when it was built (cmake/AgentFiles.cmake).
struct EmbeddedFile {
  std::string_view path;  // below RUN/tools
  std::string_view content;
  mode_t mode;
};

// Returns all of them; they are part of the program and always there.
std::span<const EmbeddedFile> EmbeddedFiles();

struct UnpackedFile {
  std::string path;      // below the run folder, or absolute where it lies elsewhere
  std::string checksum;  // XXH3, 128 bits, as `xxh128sum` prints it
};

// Tools are the unpacked files. They must live as long as processes may load them.
struct Tools {
  std::string folder;  // absolute; holds agent/ and the library
  std::vector<UnpackedFile> files;
  std::optional<TemporaryFolder> elsewhere;  // goes with this
};

// Writes the embedded files to RUN/tools, reads each again and compares. Where others can write in the run folder, or
// put another in place of it or of one above it, they go into a private folder elsewhere; an error if no such folder
// exists. Several launchers of the same version may do so at the same time.
Result<Tools> UnpackTools(const RunFolder& run);

}  // namespace gapless::internal
