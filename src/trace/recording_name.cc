// SPDX-License-Identifier: Apache-2.0
// Shortens the path of a recording to what tells it from the others.
#include "trace/recording_name.h"

#include <string_view>

namespace gapless::internal {

std::string RecordingName(const Run& run, const RunTrace& of) {
  const auto name_of = [](std::string_view path) { return path.substr(path.find_last_of('/') + 1); };
  const std::string_view path = of.trace->info.path;
  bool unique = true;
  size_t common = path.size() - name_of(path).size();
  for (const RunTrace& other : run.traces()) {
    const std::string_view its_path = other.trace->info.path;
    unique = unique && (other.index == of.index || name_of(its_path) != name_of(path));
    while (common > 0 && its_path.substr(0, common) != path.substr(0, common))
      common = path.substr(0, common - 1).find_last_of('/') + 1;  // 0 where there is none
  }
  return std::string(unique ? name_of(path) : path.substr(common));
}

}  // namespace gapless::internal
