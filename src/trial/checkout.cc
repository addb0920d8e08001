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
constexpr size_t kMaxNamed = 4;  // files or folders that a checkout lacks

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

bool IsMadeByPython(std::string_view path) {
  return path.ends_with("__pycache__/") || path.ends_with(".pyc") || path.ends_with(".egg-info/");
}

// Returns the path of the user's folder that leads to `path`, which is relative to the repository's root.
std::string Beside(const std::string& below, std::string_view path) {
  return std::filesystem::path(path)
      .lexically_relative((std::filesystem::path(below) / ".").lexically_normal())
      .string();
}

// Says in a sentence what lies in the repository, ignored or not, that git does not track and that is not shared: a
// checkout lacks it. What is nearest to the folder comes first. Empty if there is nothing.
std::string LackedBy(const std::string& root, const std::string& below, const std::vector<std::string>& shared) {
  const auto listed = AskGit(root, {"ls-files", "--others", "--directory", "--no-empty-directory", "-z"});
  if (!listed) return "";
  std::vector<std::string> lacked;
  for (const std::string_view path : Split(*listed, '\0')) {
    if (path.empty() || IsMadeByPython(path)) continue;
    const bool is_folder = path.ends_with('/');
    const std::string beside = Beside(below, path.substr(0, path.size() - (is_folder ? 1 : 0)));
    if (std::ranges::find(shared, beside) == shared.end()) lacked.push_back(beside + (is_folder ? "/" : ""));
  }
  if (lacked.empty()) return "";
  std::ranges::stable_sort(lacked, {}, [](const std::string& path) { return std::ranges::count(path, '/'); });
  const size_t more = lacked.size() - std::min(lacked.size(), kMaxNamed);
  lacked.resize(lacked.size() - more);
  return StrCat("it ran in a checkout, which lacks what git does not track: ", Printable(Join(lacked, ", ")),
                more > 0 ? StrCat(" and ", more, " more") : "", "; --share PATH links to it");
}

// Returns `path`, which is relative to the user's folder, in its plain form; an error if it does not exist or leads out
// of the repository.
Result<std::string> SharedPath(const std::string& root, const std::string& below, const std::string& path) {
  std::string plain = std::filesystem::path(path).lexically_normal().string();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  const std::string in_root = (std::filesystem::path(below) / plain).lexically_normal().string();
  if (path.empty() || path.front() == '/' || in_root.empty() || in_root == "." || in_root.starts_with(".."))
    return Fail(ErrorCode::kUsage, "--share takes a path of this repository, relative to this folder", Printable(path));
  std::error_code ignored;
  if (!std::filesystem::exists(StrCat(root, "/", in_root), ignored))
    return Fail(ErrorCode::kInput, "there is nothing to share", Printable(path));
  return plain;
}

// Links to what is shared, where the commit has no file or folder of the name. Both folders are the user's folder, in
// the repository and in the checkout.
Result<void> LinkShared(const std::filesystem::path& folder, const std::filesystem::path& checkout,
                        const std::vector<std::string>& shared) {
  for (const std::string& path : shared) {
    const std::filesystem::path link = (checkout / path).lexically_normal();
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(link, error))) continue;
    std::filesystem::create_directories(link.parent_path(), error);
    std::filesystem::create_symlink((folder / path).lexically_normal(), link, error);
    if (error) return Fail(ErrorCode::kEnvironment, StrCat("cannot link to it: ", error.message()), Printable(path));
  }
  return {};
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

Result<Checkouts> Checkouts::Make(const std::string& folder, std::string build, std::vector<std::string> shared) {
  GAPLESS_ASSIGN(auto root, AskGit(folder, {"rev-parse", "--show-toplevel"}));
  GAPLESS_ASSIGN(auto below, AskGit(folder, {"rev-parse", "--show-prefix"}));
  GAPLESS_ASSIGN(auto temporary, TemporaryFolder::Make());
  Checkouts made(std::move(temporary));
  made.root_ = std::move(root);
  made.below_ = std::move(below);
  made.build_ = std::move(build);
  for (std::string& path : shared) {
    GAPLESS_ASSIGN(path, SharedPath(made.root_, made.below_, path));
  }
  made.shared_ = std::move(shared);
  made.lacks_ = LackedBy(made.root_, made.below_, made.shared_);
  return made;
}

// A commit in which the directory does not exist, or whose build fails, is a Place and no error: a search through
// commits skips it.
Result<Checkouts::Place> Checkouts::At(const std::string& sha) {
  if (const auto found = places_.find(sha); found != places_.end()) return found->second;
  const std::string clone = StrCat(temporary_.path(), "/", sha);
  GAPLESS_TRY(CloneInto(root_, clone));
  GAPLESS_TRY(AskGit(clone, {"checkout", "--quiet", "--detach", sha}));
  Place place;
  place.folder = StrCat(clone, "/", below_);
  std::error_code ignored;
  if (!std::filesystem::is_directory(place.folder, ignored)) {
    place.build_status = kOwnFailure;
    place.build_tail = StrCat("this commit has no folder ", below_);
    return places_.emplace(sha, std::move(place)).first->second;
  }
  place.lacks = lacks_;
  GAPLESS_TRY(LinkShared(StrCat(root_, "/", below_), place.folder, shared_));
  if (!build_.empty()) {
    GAPLESS_ASSIGN(auto built, RunCaptured({"/bin/sh", "-c", build_}, place.folder));
    place.build_status = built.status;
    if (built.status != 0)
      place.build_tail = RedactText(built.text.substr(built.text.size() - std::min(built.text.size(), kErrorTail)));
  }
  return places_.emplace(sha, std::move(place)).first->second;
}

}  // namespace gapless::internal
