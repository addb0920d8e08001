// SPDX-License-Identifier: Apache-2.0
// Finds the sources that a recording names in a folder of this machine (--source-root): the recording may come from
// another machine, also from Windows or macOS.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "ingest/load.h"

namespace gapless::internal {

// Puts the path below `folder` in place of each path of a source that is there: of "C:\work\net\train.py" the longest
// end that is a file below it ("net/train.py", else "train.py"). Files of installed libraries stay as they are. Where a
// file differs from what was recorded as far as can be known, the run says so in its notes (read_stats): it was
// modified after the recording, has fewer lines, or lacks a function. Returns how many files were found; a usage error
// if there is no such folder.
Result<size_t> MapSources(LoadedRun& loaded, const std::string& folder);

}  // namespace gapless::internal
