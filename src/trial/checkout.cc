// SPDX-License-Identifier: Apache-2.0
// Runs git to find commits and to clone the repository into temporary directories. Only the clones are written to.
//
// A clone borrows the objects of the repository (--shared), so it takes little space and time whatever the size of
// the history; it is useless once the repository is gone. Hooks and file system monitors of the repository are
// switched off, because comparing commits must not run what the repository's configuration names.
#include "trial/checkout.h"

#include <algorithm>
#include <filesystem>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/files.h"
#include "trial/captured.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxText = size_t{1} << 26, kErrorTail = 2000;

// git does not share the objects of a shallow repository with a clone of it: what a clone of one would lack is named by
// hand.
Result<void> CloneShallow(const std::string& root, const std::string& clone) {
  GAPLESS_ASSIGN(const auto common, AskGit(root, {"rev-parse", "--path-format=absolute", "--git-common-dir"}));
  GAPLESS_TRY(AskGit(root, {"init", "--quiet", clone}));
  GAPLESS_TRY(WriteFileAtomically(clone + "/.git/objects/info/alternates", common + "/objects\n"));
  return WriteFileAtomically(clone + "/.git/shallow", ContentOf(common + "/shallow", kMaxText));
}

Result<void> CloneInto(const std::string& root, const std::string& clone) {
  const auto shallow = AskGit(root, {"rev-parse", "--is-shallow-repository"});
  if (shallow && *shallow == "true") return CloneShallow(root, clone);
  GAPLESS_TRY(AskGit(root, {"clone", "--quiet", "--shared", "--no-checkout", root, clone}));
  return {};
}

constexpr std::string_view kFormat = "--format=%H%x09%cI%x09%an%x09%s";

// Reads a line of kFormat: hash, date, author and subject between tabs.
Commit CommitFrom(std::string_view line) {
  Commit commit;
  for (std::string* into : {&commit.sha, &commit.date, &commit.author}) {
    const size_t tab = std::min(line.find('\t'), line.size());
    *into = line.substr(0, tab);
    line.remove_prefix(std::min(tab + 1, line.size()));
  }
  commit.subject = line;  // may hold tabs itself
  return commit;
}

}  // namespace

Result<std::string> AskGit(const std::string& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{
      "git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  GAPLESS_ASSIGN(auto outcome, RunCaptured(argv, folder));
  if (outcome.status != 0)
    return Fail(ErrorCode::kInput, StrCat("git ", arguments[0], " failed: ", Printable(outcome.text)), folder);
  return std::move(outcome.text);
}

Result<Commit> FindCommit(const std::string& folder, const std::string& name) {
  // A name that begins with a dash would be an option.
  if (name.empty() || name[0] == '-') return Fail(ErrorCode::kUsage, "this is no name of a commit", name);
  auto line = AskGit(folder, {"log", "-1", std::string(kFormat), StrCat(name, "^{commit}"), "--"});
  if (!line) return Fail(ErrorCode::kInput, "git knows no such commit", name, line.error().message);
  return CommitFrom(*line);
}

Result<std::vector<Commit>> CommitsBetween(const std::string& folder, const std::string& good, const std::string& bad) {
  GAPLESS_ASSIGN(const auto first, FindCommit(folder, good));
  GAPLESS_ASSIGN(const auto last, FindCommit(folder, bad));
  GAPLESS_ASSIGN(const auto lines, AskGit(folder, {"log", "--reverse", "--first-parent", std::string(kFormat),
                                                   StrCat(first.sha, "..", last.sha), "--"}));
  if (lines.empty() || !AskGit(folder, {"merge-base", "--is-ancestor", first.sha, last.sha}))
    return Fail(ErrorCode::kInput, "the bad commit does not come after the good one", StrCat(good, " … ", bad),
                "--good names the older commit");
  std::vector<Commit> commits{first};
  for (const std::string_view line : Split(lines, '\n')) commits.push_back(CommitFrom(line));
  return commits;
}

Result<Checkouts> Checkouts::Make(const std::string& folder, std::string build) {
  GAPLESS_ASSIGN(auto root, AskGit(folder, {"rev-parse", "--show-toplevel"}));
  GAPLESS_ASSIGN(auto below, AskGit(folder, {"rev-parse", "--show-prefix"}));
  GAPLESS_ASSIGN(auto temporary, TemporaryFolder::Make());
  Checkouts made(std::move(temporary));
  made.root_ = std::move(root);
  made.below_ = std::move(below);
  made.build_ = std::move(build);
  return made;
}

// A commit in which the directory does not exist, or whose build fails, is a Place and no error: a search through
// commits skips it.
Result<Checkouts::Place> Checkouts::At(const std::string& sha) {
  if (const auto found = places_.find(sha); found != places_.end()) return found->second;
  const std::string clone = StrCat(temporary_.path(), "/", sha);
  GAPLESS_TRY(CloneInto(root_, clone));
  if (auto checked_out = AskGit(clone, {"checkout", "--quiet", "--detach", sha}); !checked_out)
    return Unexpected{checked_out.error()};
  Place place;
  place.folder = StrCat(clone, "/", below_);
  std::error_code ignored;
  if (!std::filesystem::is_directory(place.folder, ignored)) {
    place.build_status = kOwnFailure;
    place.build_tail = StrCat("this commit has no folder ", below_);
  } else if (!build_.empty()) {
    GAPLESS_ASSIGN(auto built, RunCaptured({"/bin/sh", "-c", build_}, place.folder));
    place.build_status = built.status;
    if (built.status != 0)
      place.build_tail = RedactText(built.text.substr(built.text.size() - std::min(built.text.size(), kErrorTail)));
  }
  return places_.emplace(sha, std::move(place)).first->second;
}

}  // namespace gapless::internal
