// SPDX-License-Identifier: Apache-2.0
// The files of gapless itself in the recordings of programs that it runs in.
#pragma once

#include <string_view>

namespace gapless::internal {

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
