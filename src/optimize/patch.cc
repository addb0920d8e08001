// SPDX-License-Identifier: Apache-2.0
// Builds the patch from all changes: edits of the same file are merged, and edits that cannot be made become
// advice.
//
// The files are read once, when their first edit comes, and may have changed since the run: each edit is checked
// against the file as it is. Every file is parsed with a grammar of Python, and once more with all edits in it: an edit
// that breaks the file, or gives a call other arguments than were meant, is left out. Files over 8 MiB, outside the
// directory, or of installed packages are never touched.
//
// Python's own ast, tokenize and difflib, in the user's interpreter, were tried instead: they need an interpreter,
// which may be another than the one that the program runs with, and start it for every patch.
#include "optimize/patch.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "collect/files.h"
#include "optimize/patch/file_editor.h"
#include "optimize/patch/unified_diff.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxScriptBytes = size_t{8} << 20;

std::string NameOf(const Change& change) {
  return change.value.empty() ? change.fix : StrCat(change.fix, "=", change.value);
}

void AddOnce(std::vector<std::string>& sentences, const std::string& sentence) {
  const std::string text = Printable(sentence);
  if (std::ranges::find(sentences, text) == sentences.end()) sentences.push_back(text);
}

// The path below `folder`, with links followed; nothing: it is not below, or belongs to an installed package.
std::optional<std::string> PathBelow(const std::string& file, const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error), root = fs::weakly_canonical(folder, error);
  if (error || !whole.is_absolute()) return std::nullopt;
  const fs::path below = whole.lexically_relative(root);
  if (below.empty() || *below.begin() == ".." || *below.begin() == ".") return std::nullopt;
  for (const fs::path& part : below)
    if (part == "site-packages" || part == "dist-packages") return std::nullopt;
  return below.string();
}

class PatchWriter {
 public:
  explicit PatchWriter(const std::string& folder) : folder_(folder.empty() ? "." : folder) {}

  void Take(const Change& change) {
    if (change.state != ChangeState::kOn) return;
    switch (change.edit.kind) {
      case EditKind::kNone:
        if (!change.what.empty()) AddOnce(patch_.advice, StrCat(NameOf(change), ": ", change.what));
        return;
      case EditKind::kEnvironment: return TakeEnvironment(change);
      default: return TakeEdit(change);
    }
  }

  Patch Finish() {
    for (auto& [path, file] : files_) {
      if (!file) continue;
      if (!file->editor.Check()) TakeOneByOne(path, *file);
      patch_.diff += UnifiedDiff(path, file->editor.source().text(), file->editor.Splices());
    }
    return std::move(patch_);
  }

 private:
  // An OpenFile is a file with the edits that it has got, each with the name of its change.
  struct OpenFile {
    FileEditor editor;
    std::vector<std::pair<std::string, Edit>> edits{};
  };

  // Begins anew, without the edits after which the file is no Python any more.
  void TakeOneByOne(const std::string& path, OpenFile& file) {
    FileEditor editor = file.editor.Unedited();
    for (const auto& [name, edit] : file.edits) {
      const FileEditor before = editor;
      const auto added = editor.Add(edit);
      const auto good = added ? editor.Check() : added;
      if (good) continue;
      AddOnce(patch_.left_out,
              StrCat(name, ": ", path, ": the change does not fit the script: ", good.error().message));
      editor = before;
    }
    file.editor = std::move(editor);
  }

  // Variables belong to the launch command, which no file holds: they become advice.
  void TakeEnvironment(const Change& change) {
    std::vector<std::string> variables;
    for (const auto& [name, value] : change.edit.set) variables.push_back(StrCat(name, "=", value));
    if (!variables.empty())
      AddOnce(patch_.advice, StrCat(NameOf(change), ": start the command with ", Join(variables, " ")));
  }

  // Adds the edit to its file. An edit elsewhere becomes advice; one that does not fit is reported with the
  // reason.
  void TakeEdit(const Change& change) {
    const auto path = PathBelow(change.edit.file, folder_);
    if (!path) {
      const std::string place =
          change.edit.line > 0 ? StrCat(change.edit.file, ":", change.edit.line) : change.edit.file;
      return AddOnce(patch_.advice, StrCat(NameOf(change), ": ", change.what, ", in ", place));
    }
    const auto file = Open(*path);
    const auto added = file ? (*file)->editor.Add(change.edit) : Result<void>(Unexpected{file.error()});
    if (added)
      (*file)->edits.emplace_back(NameOf(change), change.edit);
    else
      AddOnce(patch_.left_out, StrCat(NameOf(change), ": ", *path, ": ", added.error().message,
                                      added.error().place.empty() ? "" : " (" + added.error().place + ")"));
  }

  Result<OpenFile*> Open(const std::string& path) {
    auto found = files_.find(path);
    if (found == files_.end()) found = files_.emplace(path, Read(path)).first;
    if (!found->second) return Unexpected{found->second.error()};
    return &*found->second;
  }

  Result<OpenFile> Read(const std::string& path) const {
    const std::string whole = (fs::path(folder_) / path).string();
    std::error_code error;
    if (!fs::is_regular_file(whole, error)) return Fail(ErrorCode::kInput, "is no file any more");
    if (fs::file_size(whole, error) > kMaxScriptBytes) return Fail(ErrorCode::kInput, "is too large for a script");
    auto source = PythonSource::Parse(ContentOf(whole, kMaxScriptBytes));
    if (!source) return Unexpected{source.error()};
    return OpenFile{.editor = FileEditor(std::make_shared<const PythonSource>(std::move(*source)))};
  }

  std::string folder_;
  Patch patch_;
  std::map<std::string, Result<OpenFile>> files_;
};

}  // namespace

Patch WritePatch(std::span<const Change> changes, const std::string& folder) {
  PatchWriter writer(folder);
  for (const Change& change : changes) writer.Take(change);
  return writer.Finish();
}

}  // namespace gapless::internal
