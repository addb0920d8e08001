// SPDX-License-Identifier: Apache-2.0
// Finds the checkout from the command and from where things lie on the disk. The files of a program lie together: in
// its repository, or in the folder that it is started from. Installed packages may lie there as well, and gapless
// itself: their files belong to somebody else.
#include "optimize/patch/checkout_root.h"

#include <algorithm>
#include <filesystem>

#include "base/strings.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

fs::path Followed(const fs::path& path) {
  std::error_code error;
  fs::path followed = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : followed;
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The path of `file` below `root`; empty: it lies elsewhere.
fs::path Below(const fs::path& file, const fs::path& root) {
  const fs::path below = file.lexically_relative(root);
  return below.empty() || *below.begin() == ".." || *below.begin() == "." ? fs::path() : below;
}

// Returns the folder of the script that the command starts; empty: it names none. The module behind `-m` is a script if
// it lies here; a launcher, such as torch.distributed.run, does not.
fs::path ScriptFolder(const std::vector<std::string>& command, const fs::path& here) {
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i - 1] == "-m") {
      const std::string package = command[i].substr(0, command[i].find('.'));
      if (Exists(here / package) || Exists(here / (package + ".py"))) return here;
    }
    std::error_code error;
    const fs::path script = here / command[i];
    if (command[i].ends_with(".py") && fs::is_regular_file(script, error)) return Followed(script).parent_path();
  }
  return {};
}

fs::path FolderOfChanges(const fs::path& here, std::span<const Change> changes) {
  fs::path elsewhere;
  for (const Change& change : changes) {
    if (change.edit.file.empty()) continue;
    const fs::path file = Followed(change.edit.file);
    if (!Below(file, here).empty()) return here;
    if (elsewhere.empty()) elsewhere = file.parent_path();
  }
  return elsewhere.empty() ? here : elsewhere;
}

fs::path GitRootAround(fs::path folder) {
  for (;; folder = folder.parent_path()) {
    if (IsGitRoot(folder.string())) return folder;
    if (folder == folder.parent_path()) return {};
  }
}

// Returns true if gapless itself lies in one of the folders of the path, from its checkout or unpacked for a run.
bool IsOfGapless(const fs::path& below, fs::path folder) {
  for (const fs::path& part : below) {
    folder /= part;
    if (part == "gapless_agent" || (part == "gapless" && Exists(folder / "agent_path.py"))) return true;
  }
  return false;
}

}  // namespace

bool IsGitRoot(const std::string& folder) { return Exists(fs::path(folder) / ".git"); }

std::string CheckoutRoot(const std::vector<std::string>& command, const std::string& here,
                         std::span<const Change> changes) {
  const fs::path from = Followed(here);
  fs::path folder = ScriptFolder(command, from);
  if (folder.empty()) folder = FolderOfChanges(from, changes);
  if (const fs::path git = GitRootAround(folder); !git.empty()) return git.string();
  if (folder == from || !Below(folder, from).empty()) return from.string();
  while (Exists(folder / "__init__.py") && folder.has_relative_path()) folder = folder.parent_path();
  return folder.string();
}

std::string WhyNotPatched(const std::string& file, const std::string& root) {
  const fs::path whole = Followed(file), folder = Followed(root), below = Below(whole, folder);
  if (!whole.is_absolute() || below.empty()) return StrCat("which lies outside of the checkout ", folder.string());
  for (const fs::path& part : below)
    if (part == "site-packages" || part == "dist-packages") return "which belongs to an installed package";
  return IsOfGapless(below, folder) ? "which belongs to gapless" : "";
}

std::optional<std::string> PathInCheckout(const std::string& file, const std::string& root) {
  if (!WhyNotPatched(file, root).empty()) return std::nullopt;
  return Below(Followed(file), Followed(root)).string();
}

}  // namespace gapless::internal
