// SPDX-License-Identifier: Apache-2.0
// The files that the program carries for the processes it watches, the agent and the injection library, put into it
// when it was built (cmake/AgentFiles.cmake).
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

namespace gapless::internal {

struct EmbeddedFile {
  std::string_view path;  // below RUN/tools
  std::string_view content;
  mode_t mode;
};

// Returns all of them; they are part of the program and always there.
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace gapless::internal
