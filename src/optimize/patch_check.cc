// SPDX-License-Identifier: Apache-2.0
// Tests a patch the way it will be used: git applies it, the Python of the user compiles the files, and the command
// runs.
//
// The first two look at the changed files alone and take well under a second. The run is one of those that trials make
// (RunOnce), without fixes, in a copy of the checkout; its steps are counted, nothing is timed. Words of the command
// and folders of PYTHONPATH that lie in the checkout are those of the copy. A patch of a file that is no part of the
// program that runs (an installed copy of it is, say) passes without having been run.
#include "optimize/patch_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "collect/files.h"
#include "optimize/contest.h"
#include "trial/captured.h"
#include "trial/checkout.h"

namespace gapless::internal {
namespace {

// Copies the folders and Python files of a checkout, and links the rest. What bounds it is the number of files, not
// their size: a data set of a million pictures is one link.

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

// Makes `copy`, a new folder, look like the folder `root`, but with the given content of some files (by their paths
// below `root`). Programs find their modules beside the file that they run, links followed: so Python files are copied.
// Folders of installed packages, hidden ones and folders of very many files are links as a whole. Returns an error if
// the checkout has too many files for that, or cannot be read.
Result<void> CopyTree(const std::string& root, const std::string& copy,
                      const std::map<std::string, std::string>& content) {
  return TreeCopier(content).Copy(root, copy, {});
}

namespace fs = std::filesystem;

constexpr size_t kStepsOfPatched = 5;
constexpr double kLimitFactor = 5, kLeastLimitS = 60;  // of a run that hangs
constexpr size_t kMaxFile = size_t{8} << 20;

class PatchChecker {
 public:
  PatchChecker(const PatchTrial& trial, Patch& patch) : trial_(trial), patch_(patch) {}

  Result<void> Run() {
    if (patch_.files.empty()) return {};
    GAPLESS_TRY(Apply());
    GAPLESS_TRY(Compile());
    if (patch_.files.empty()) return {};
    GAPLESS_TRY(RunPatched());
    patch_.tested = patch_.files.empty() ? "" : StrCat("on a copy: ", Join(done_, ", "));
    return {};
  }

 private:
  // Applies each section in a new repository with the files as they are, and holds the result against what was meant.
  Result<void> Apply() {
    GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
    if (const auto made = AskGit(folder.path(), {"init", "--quiet"}); !made) {
      if (made.error().code == ErrorCode::kInterrupted) return Unexpected{made.error()};
      return {};  // there is no git
    }
    for (const PatchedFile& file : std::vector(patch_.files)) {
      const fs::path path = fs::path(folder.path()) / file.path;
      GAPLESS_TRY(MakeFolders(path.parent_path().string()));
      GAPLESS_TRY(
          WriteFileAtomically(path.string(), ContentOf((fs::path(trial_.root) / file.path).string(), kMaxFile)));
      GAPLESS_TRY(WriteFileAtomically(folder.path() + "/.git/section.patch", file.diff));
      const auto applied = AskGit(folder.path(), {"apply", "--whitespace=nowarn", ".git/section.patch"});
      if (!applied && applied.error().code == ErrorCode::kInterrupted) return Unexpected{applied.error()};
      if (!applied)
        LeaveOut(patch_, file.path, StrCat("git does not apply it: ", LastWordsOf(applied.error().message)));
      else if (ContentOf(path.string(), kMaxFile) != file.text)
        LeaveOut(patch_, file.path, "git makes something else of it");
    }
    done_.emplace_back("git applies it");
    return {};
  }

  // Returns the interpreter of the command; empty: it names none.
  std::string Python() const {
    for (const std::string& word : trial_.request.command)
      if (fs::path(word).filename().string().starts_with("python")) return word;
    return "";
  }

  Result<void> Compile() {
    std::string python = Python();
    if (python.empty()) return {};
    if (python.find('/') != python.npos) python = Absolute(python);
    GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
    for (const PatchedFile& file : std::vector(patch_.files)) {
      const std::string path = StrCat(folder.path(), "/", fs::path(file.path).filename().string());
      GAPLESS_TRY(WriteFileAtomically(path, file.text));
      const auto compiled = RunCaptured({python, "-I", "-m", "py_compile", path}, folder.path());
      if (!compiled && compiled.error().code == ErrorCode::kInterrupted) return Unexpected{compiled.error()};
      if (!compiled) return {};  // it cannot be started from here
      if (compiled->status != 0)
        LeaveOut(patch_, file.path, StrCat("Python does not compile it: ", LastWordsOf(compiled->text)));
    }
    done_.emplace_back("each file compiles");
    return {};
  }

  // Returns the text with the checkout's folder, if it begins with that, replaced by the copy's.
  std::string InCopy(const std::string& path, const std::string& copy) const {
    if (path == trial_.root) return copy;
    return path.starts_with(trial_.root + "/") ? copy + path.substr(trial_.root.size()) : path;
  }

  RunRequest RequestIn(const std::string& copy) const {
    RunRequest request = trial_.request;
    std::error_code error;
    const std::string here =
        fs::weakly_canonical(request.working_folder.empty() ? "." : request.working_folder, error).string();
    request.working_folder = InCopy(here, copy);
    for (std::string& word : request.command) word = InCopy(word, copy);
    if (const char* paths = std::getenv("PYTHONPATH"); paths != nullptr) {
      std::vector<std::string> mapped;
      for (const std::string_view path : Split(paths, ':')) mapped.push_back(InCopy(std::string(path), copy));
      request.environment.emplace_back("PYTHONPATH", Join(mapped, ":"));
    }
    request.folder.clear();
    request.fixes.clear(), request.own_fixes.clear();
    request.parity = {};
    request.enough = nullptr;
    request.warmup = 0;
    request.measure = std::max<size_t>(1, WantedSteps());
    request.to_the_end = false, request.record = false;
    request.metric.clear();
    if (request.timeout_s <= 0) request.timeout_s = std::max(kLeastLimitS, kLimitFactor * trial_.run_s);
    request.timeout_s = std::min(request.timeout_s, std::max(1.0, trial_.left_s));
    return request;
  }

  size_t WantedSteps() const { return std::min(kStepsOfPatched, trial_.steps); }

  Result<void> RunPatched() {
    if (trial_.left_s < trial_.run_s) {
      done_.emplace_back("no time was left to run it");
      return {};
    }
    GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
    std::map<std::string, std::string> content;
    for (const PatchedFile& file : patch_.files) content[file.path] = file.text;
    const std::string copy = folder.path() + "/checkout";
    if (const auto copied = CopyTree(trial_.root, copy, content); !copied) {
      done_.push_back(StrCat("it was not run: ", copied.error().message));
      return {};
    }
    GAPLESS_ASSIGN(const auto sample, RunOnce(RequestIn(copy)));
    if (sample.interrupted) return Fail(ErrorCode::kInterrupted, "interrupted");
    return Judge(sample);
  }

  Result<void> Judge(const RunSample& sample) {
    const size_t seen = sample.source == SampleSource::kSteps ? sample.step_ns.size() : 0;
    std::string why;
    if (sample.timed_out)
      why = "the patched program did not end in time";
    else if (!Succeeded(sample))
      why = StrCat("the patched program fails: ", LastWordsOf(sample));
    else if (seen < WantedSteps())
      why = StrCat("the patched program took ", seen, " steps, not ", WantedSteps());
    if (why.empty()) {
      done_.push_back(seen > 0 ? StrCat("it ran ", FormatCounted(static_cast<int64_t>(seen), "step")) : "it ran");
      return {};
    }
    for (const PatchedFile& file : std::vector(patch_.files)) LeaveOut(patch_, file.path, why);
    return {};
  }

  const PatchTrial& trial_;
  Patch& patch_;
  std::vector<std::string> done_{};
};

}  // namespace

void CheckPatch(const PatchTrial& trial, Patch& patch) {
  const auto done = PatchChecker(trial, patch).Run();
  if (!done) patch.tested = StrCat("not to the end: ", done.error().message);
}

}  // namespace gapless::internal
