// SPDX-License-Identifier: Apache-2.0
// The runs of a bisection, kept in a file as they are made, so that one that was interrupted goes on where it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// One run of a commit.
struct JournalEntry {
  std::string sha;
  std::optional<double> value;  // absent: this commit cannot be run
};

// The runs that were made, oldest first.
class Journal {
 public:
  // `key` says what is searched for: a file with another key is not gone on with. A file that breaks off in the middle
  // of a line counts up to there.
  static Result<Journal> Open(std::string path, const std::string& key, bool anew);

  const std::vector<JournalEntry>& entries() const { return entries_; }
  const std::string& path() const { return path_; }
  Result<void> Add(const JournalEntry& entry);

 private:
  Journal() = default;
  std::string path_;
  std::vector<JournalEntry> entries_;
};

// Returns the default path of this search's journal, in the user's folder for state.
std::string DefaultJournalPath(const std::string& key);

}  // namespace gapless::internal
