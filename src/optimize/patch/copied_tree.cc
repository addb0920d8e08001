// SPDX-License-Identifier: Apache-2.0
// Copies the folders and Python files of a checkout, and links the rest. What bounds it is the number of files, not
// their size: a data set of a million pictures is one link.
#include "optimize/patch/copied_tree.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxEntries = 20'000;    // of the whole checkout
constexpr size_t kMaxOfAFolder = 1'000;   // more are data
constexpr size_t kMaxPython = 512 << 10;  // bytes of a Python file; a longer one is data

class TreeCopier {
 public:
  explicit TreeCopier(const std::map<std::string, std::string>& content) : content_(content) {}

  Result<void> Copy(const fs::path& from, const fs::path& to, const fs::path& below) {
    std::error_code error;
    fs::create_directory(to, error);
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator each(from, error), end; !error && each != end; each.increment(error))
      entries.push_back(*each);
    if (error) return Fail(ErrorCode::kEnvironment, StrCat("cannot be read: ", error.message()), from.string());
    entries_ += entries.size();
    if (entries_ > kMaxEntries) return Fail(ErrorCode::kEnvironment, "the checkout has too many files to be copied");
    for (const fs::directory_entry& entry : entries) {
      const fs::path name = entry.path().filename();
      GAPLESS_TRY(CopyEntry(entry, to / name, below / name));
    }
    return {};
  }

 private:
  Result<void> CopyEntry(const fs::directory_entry& entry, const fs::path& to, const fs::path& below) {
    std::error_code error;
    if (const auto patched = content_.find(below.string()); patched != content_.end())
      return WriteFileAtomically(to.string(), patched->second);
    if (entry.is_symlink(error)) {
      fs::create_symlink(entry.path(), to, error);
    } else if (entry.is_directory(error)) {
      if (HoldsPatched(below) || !IsLinked(entry.path())) return Copy(entry.path(), to, below);
      fs::create_directory_symlink(entry.path(), to, error);
    } else if (entry.path().extension() == ".py" && entry.file_size(error) <= kMaxPython) {
      fs::copy_file(entry.path(), to, error);
    } else {
      fs::create_symlink(entry.path(), to, error);
    }
    if (error) return Fail(ErrorCode::kEnvironment, StrCat("cannot be copied: ", error.message()), entry.path());
    return {};
  }

  bool HoldsPatched(const fs::path& below) const {
    const std::string folder = below.string() + "/";
    const auto found = content_.lower_bound(folder);
    return found != content_.end() && found->first.starts_with(folder);
  }

  static bool IsLinked(const fs::path& folder) {
    const std::string name = folder.filename().string();
    std::error_code error;
    if (name.starts_with('.') || name == "site-packages" || name == "dist-packages" || name == "node_modules" ||
        fs::exists(folder / "pyvenv.cfg", error))
      return true;
    size_t count = 0;
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
      if (++count > kMaxOfAFolder) return true;
    return false;
  }

  const std::map<std::string, std::string>& content_;
  size_t entries_ = 0;
};

}  // namespace

Result<void> CopyTree(const std::string& root, const std::string& copy,
                      const std::map<std::string, std::string>& content) {
  return TreeCopier(content).Copy(root, copy, {});
}

}  // namespace gapless::internal
