// SPDX-License-Identifier: Apache-2.0
// Other commits of the user's repository, in folders of their own. The repository and its working tree are only read: a
// commit is checked out into a clone that borrows the objects.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/files.h"

namespace gapless::internal {

// Returns the output of `git ARGUMENTS` in `folder`, without the line's end. Hooks and monitors of the repository
// do not run. Returns an error with git's own words if its exit status is not 0. Waits for git to end.
Result<std::string> AskGit(const std::string& folder, const std::vector<std::string>& arguments);

inline constexpr size_t kShortSha = 10;  // digits of a hash that texts show

struct Commit {
  std::string sha, subject, author, date;  // date as ISO 8601
};

// Finds the commit of a name ("main", "v1.2", "HEAD~3"); an error if git knows none.
Result<Commit> FindCommit(const std::string& folder, const std::string& name);
// The commits from `good` to `bad`, both included, along first parents: what went into the branch one after the other.
// An error when `bad` does not descend from `good`.
Result<std::vector<Commit>> CommitsBetween(const std::string& folder, const std::string& good, const std::string& bad);

// Checkouts holds the checkouts of several commits, and removes them when it is destroyed. For one thread.
class Checkouts {
 public:
  // `folder` lies in the repository. `build` is for a shell, run once in each checkout; empty: none. `shared`: paths,
  // relative to the folder, that git does not track, such as a data set; each checkout gets a link to them. An error if
  // one does not exist or leads out of the repository.
  static Result<Checkouts> Make(const std::string& folder, std::string build, std::vector<std::string> shared = {});

  struct Place {
    std::string folder;      // the same folder as the one given, in this commit
    int build_status = 0;    // exit status of the build; 125: cannot be built here
    std::string build_tail;  // the last it printed, when it failed
    std::string lacks;       // a sentence that names what git does not track and is not here; empty: nothing
  };
  // Checked out and built when it is first asked for.
  Result<Place> At(const std::string& sha);

 private:
  explicit Checkouts(TemporaryFolder temporary) : temporary_(std::move(temporary)) {}
  TemporaryFolder temporary_;               // holds the checkouts
  std::string root_{}, below_{}, build_{};  // below_: from the repository's root to the folder
  std::vector<std::string> shared_{};
  std::string lacks_{};  // as in Place, where a commit tracks what HEAD does
  std::map<std::string, Place> places_{};
};

}  // namespace gapless::internal
