// SPDX-License-Identifier: Apache-2.0
// Finds the recordings that paths lead to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/source.h"
#include "trace/ids.h"

namespace gapless::internal {

// An InputPath is one path to read: a file that was named or found in a directory.
struct InputPath {
  std::string path;
  int64_t given_rank = kAbsent;
  bool named = false;    // by the user, not found in a folder
  std::string folder{};  // path of the directory, not a run directory, in which it lies; empty for all others
  std::shared_ptr<Source> piped{};  // its content, where it can be read only once (ingest/spool.h)
  std::string execution_trace{};    // path of the one that may be of the same run (ingest/execution_traces.h)
};

// Turns arguments into inputs; directories become the recordings in them, in name order. Of a directory without any,
// all directories below are searched. Returns an error if nothing is found there either, even when other arguments are
// fine, because the user named it.
Result<std::vector<InputPath>> InputPathsOf(std::span<const std::string> paths);

// Returns the recordings of the directories below `folder`, in name order. For a folder whose own files turned out to
// be no recordings.
std::vector<InputPath> InputPathsBelow(const std::string& folder, int64_t given_rank);

// Returns true if `path` is a directory that `gapless profile` left (docs/run_bundle.md): it has a control file,
// and a manifest or at least the control file's magic.
bool IsRunFolder(const std::string& path);

// "…/rank-34.Jul_15.pt.trace.json.gz" → 34; kAbsent if the name has no rank.
int64_t RankInName(std::string_view path);

}  // namespace gapless::internal
