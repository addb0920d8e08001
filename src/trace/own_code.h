// SPDX-License-Identifier: Apache-2.0
// Files that are not of the program that was recorded: those of installed libraries, on any system, and of gapless
// itself.
#pragma once

#include <cctype>
#include <string_view>

namespace gapless::internal {

// Returns true if a file, or a frame that begins with it, is of an installed package or of Python's own library, by the
// folders that installations have on Linux, macOS and Windows.
inline bool IsInstalled(std::string_view file) {
  if (file.find("/lib/python") != file.npos) return true;
  for (const std::string_view folder : {"site-packages", "dist-packages"})
    for (size_t at = file.find(folder); at != file.npos; at = file.find(folder, at + 1))
      if (const size_t end = at + folder.size(); end < file.size() && (file[end] == '/' || file[end] == '\\'))
        return true;
  // C:\Python311\Lib\threading.py, C:\Users\me\anaconda3\envs\torch\lib\threading.py
  const auto is_part = [file](size_t at, std::string_view part) {
    for (size_t i = 0; i < part.size(); ++i)
      if (at + i >= file.size() || std::tolower(static_cast<unsigned char>(file[at + i])) != part[i]) return false;
    return true;
  };
  bool in_python = false;
  if (file.size() < 3 || file[1] != ':' || (file[2] != '\\' && file[2] != '/')) return false;
  for (size_t at = 2; at < file.size(); ++at) {
    in_python = in_python || is_part(at, "python3") || is_part(at, "conda");
    if (in_python && (is_part(at, "\\lib\\") || is_part(at, "/lib/"))) return true;
  }
  return false;
}

// Returns true if a file, or a frame that begins with it, is of gapless's own Python: of the agent, or of the package,
// whose path recorders cut to what is below its folder of sys.path. A user's own script in a folder named gapless is
// not meant.
inline bool IsOfGapless(std::string_view file) {
  if (file.find("gapless_agent/") != file.npos) return true;
  constexpr std::string_view kPackage = "gapless/", kInCheckout = "python/gapless/";
  const size_t at = file.find(kInCheckout);
  if (at != file.npos && (at == 0 || file[at - 1] == '/')) return true;
  if (!file.starts_with(kPackage)) return false;
  for (const std::string_view part :
       {"collect.py", "collector.py", "training.py", "region.py", "step_timing.py", "host.py", "compat/", "record.py",
        "analysis/", "optimization/", "profiling/", "validation/"})
    if (file.substr(kPackage.size()).starts_with(part)) return true;
  return false;
}

}  // namespace gapless::internal
