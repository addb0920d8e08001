// SPDX-License-Identifier: Apache-2.0
// A unified diff of the user's scripts, from what the fixes changed while they ran. The files are only read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optimize/change.h"

namespace gapless::internal {

// A file that the patch changes.
struct PatchedFile {
  std::string path{};                  // below the root of the patch
  std::string diff{}, text{};          // its section of the patch, and the file with the changes
  std::vector<std::string> changes{};  // a sentence each
};

struct Patch {
  std::string diff{};  // for `git apply` or `patch -p1`, a section for each file; empty: no change can be expressed
  std::vector<std::string> advice{};    // changes that no edit says: a sentence each
  std::vector<std::string> left_out{};  // edits that do not fit the file as it is: why
  std::vector<PatchedFile> files{};     // the sections, sorted by path
  std::string tested{};                 // what was tried with it, as a sentence; empty: nothing (patch_check.h)
};

// Returns the patch for changes that are on, its paths relative to `root`, the checkout (patch/checkout_root.h);
// changes that are off are ignored. Edits of files outside of it, of installed packages and of gapless become advice.
// Never fails as a whole: what cannot be done is in `left_out`.
Patch WritePatch(std::span<const Change> changes, const std::string& root);

// Takes a file out of the patch. Its changes are in `left_out` then, with the reason.
void LeaveOut(Patch& patch, const std::string& path, const std::string& why);

}  // namespace gapless::internal
