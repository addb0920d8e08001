// SPDX-License-Identifier: Apache-2.0
// Builds the patch from all changes: edits of the same file are merged, and edits that cannot be made become
// advice.
//
// The files are read once, when their first edit comes, and may have changed since the run: each edit is checked
// against the file as it is. Every file is parsed with a grammar of Python, and once more with all edits in it: an edit
// that breaks the file, or gives a call other arguments than were meant, is left out. Files over 8 MiB, outside the
// checkout, of installed packages, or of gapless are never touched.
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
#include "optimize/patch/checkout_root.h"
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

std::string PlaceOf(const Edit& edit) { return edit.line > 0 ? StrCat(edit.file, ":", edit.line) : edit.file; }

void JoinSections(Patch& patch) {
  patch.diff.clear();
  for (const PatchedFile& file : patch.files) patch.diff += file.diff;
}

class PatchWriter {
 public:
  explicit PatchWriter(const std::string& root) : root_(root.empty() ? "." : root) {}

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
      const auto splices = file->editor.Splices();
      const std::string_view before = file->editor.source().text();
      std::string diff = UnifiedDiff(path, before, splices);
      if (diff.empty()) continue;
      patch_.files.push_back({path, std::move(diff), Spliced(before, splices), {}});
      for (const Change& change : file->changes) AddOnce(patch_.files.back().changes, DescriptionOf(change, path));
    }
    JoinSections(patch_);
    return std::move(patch_);
  }

 private:
  // An OpenFile is a file with the edits that it has got, each with its change.
  struct OpenFile {
    FileEditor editor;
    std::vector<Change> changes{};
  };

  static std::string DescriptionOf(const Change& change, const std::string& path) {
    const std::string line = change.edit.line > 0 ? StrCat(":", change.edit.line) : "";
    return StrCat(NameOf(change), ": ", change.what, ", in ", path, line);
  }

  // Begins anew, without the edits after which the file is no Python any more.
  void TakeOneByOne(const std::string& path, OpenFile& file) {
    FileEditor editor = file.editor.Unedited();
    std::vector<Change> kept;
    for (const Change& change : file.changes) {
      const FileEditor before = editor;
      const auto added = editor.Add(change.edit);
      const auto good = added ? editor.Check() : added;
      if (good) {
        kept.push_back(change);
        continue;
      }
      AddOnce(patch_.left_out,
              StrCat(NameOf(change), ": ", path, ": the change does not fit the script: ", good.error().message));
      editor = before;
    }
    file.editor = std::move(editor);
    file.changes = std::move(kept);
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
    const auto path = PathInCheckout(change.edit.file, root_);
    if (!path)
      return AddOnce(patch_.advice, StrCat(NameOf(change), ": ", change.what, ", in ", PlaceOf(change.edit), ", ",
                                           WhyNotPatched(change.edit.file, root_)));
    const auto file = Open(*path);
    const auto added = file ? (*file)->editor.Add(change.edit) : Result<void>(Unexpected{file.error()});
    if (added)
      (*file)->changes.push_back(change);
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
    const std::string whole = (fs::path(root_) / path).string();
    std::error_code error;
    if (!fs::is_regular_file(whole, error)) return Fail(ErrorCode::kInput, "is no file any more");
    if (fs::file_size(whole, error) > kMaxScriptBytes) return Fail(ErrorCode::kInput, "is too large for a script");
    GAPLESS_ASSIGN(auto source, PythonSource::Parse(ContentOf(whole, kMaxScriptBytes)));
    return OpenFile{.editor = FileEditor(std::make_shared<const PythonSource>(std::move(source)))};
  }

  std::string root_;
  Patch patch_;
  std::map<std::string, Result<OpenFile>> files_;
};

}  // namespace

Patch WritePatch(std::span<const Change> changes, const std::string& root) {
  PatchWriter writer(root);
  for (const Change& change : changes) writer.Take(change);
  return writer.Finish();
}

void LeaveOut(Patch& patch, const std::string& path, const std::string& why) {
  const auto file = std::ranges::find(patch.files, path, &PatchedFile::path);
  if (file == patch.files.end()) return;
  for (const std::string& change : file->changes) AddOnce(patch.left_out, StrCat(change, ": ", why));
  patch.files.erase(file);
  JoinSections(patch);
}

}  // namespace gapless::internal
