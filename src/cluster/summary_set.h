// SPDX-License-Identifier: Apache-2.0
// Files of summaries: one for each recording, or a tar archive of many.
//
// A merged file is the set of its summaries, ordered by name; nothing of them is added up, so that nothing is lost, and
// merging in any order and grouping gives the same bytes. A summary's name in it is that of its recording with the
// checksum of its content; one content is in it once. Merging reads heads and copies, and holds no more than names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/summary_places.h"

namespace gapless::internal {

struct SummarySet {
  std::vector<SummaryPlace> places{};  // by their names in a merged file, each content once
  std::vector<Error> lost{};           // files and members that are no whole summary
};

// Looks into files, archives that were merged before and folders of both. An error: none of them holds a summary.
Result<SummarySet> FindSummaries(const std::vector<std::string>& paths);

// Hands the archive to `write`, piece by piece, until that returns false. Returns whether all was written. An error: a
// file is not as it was found.
Result<bool> WriteMerged(const SummarySet& set, const std::function<bool(std::string_view)>& write);

// A name for the summary of a recording: "rank-00003", or without a rank that of the file, without what cannot stand in
// a name everywhere.
std::string SummaryName(int64_t rank, std::string_view path);
// The same, without a rank with 16 digits for the path: tasks of an array write into one folder, where files of one
// name from different folders are not one recording.
std::string SummaryFileName(int64_t rank, std::string_view path);

}  // namespace gapless::internal
