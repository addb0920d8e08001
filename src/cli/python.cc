// SPDX-License-Identifier: Apache-2.0
// Chooses the interpreter without starting one.
#include "cli/python.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gapless::internal {

std::string PythonToUse() {
  const char* named = std::getenv("GAPLESS_PYTHON");
  if (named != nullptr && *named != '\0') return named;
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string beside = (program.parent_path() / "python3").string();
  return !unknown && access(beside.c_str(), X_OK) == 0 ? beside : "python3";
}

}  // namespace gapless::internal
