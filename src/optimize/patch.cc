// SPDX-License-Identifier: Apache-2.0
// Builds the patch from all changes: edits of the same file are merged, and edits that cannot be made become
// advice.
//
// The files are read once, when their first edit comes, and may have changed since the run: each edit is checked
// against the file as it is. A patch is only written for a file that still scans as Python with all edits in it.
// Files over 8 MiB, outside the directory, or of installed packages are never touched.
//
// Python's own ast, tokenize and difflib, in the user's interpreter, were tried instead of the scanner in patch/: 700
// lines of code rather than 1,470. On 5,352 scripts with one to three random edits each both wrote the same bytes and
// left out the same edits. The scanner is 15 to 37 times as fast, needs no interpreter, and edits files that the
// interpreter at hand cannot parse, so it stayed. It does not parse what it writes as Python does: a generator with two
// targets, commas of a lambda's parameters and `**a or b` as arguments of the edited call give a patch that is wrong,
// which is to be mended.
#include "optimize/patch.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/strings.h"
#include "collect/files.h"
#include "optimize/patch/file_editor.h"
#include "optimize/patch/unified_diff.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestScript = size_t{8} << 20;

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
    for (const auto& [path, editor] : editors_) {
      if (!editor) continue;
      const auto splices = editor->Splices();
      // The edited file must still parse as Python; an error of gapless must not reach the user's script.
      if (PythonSource::Scan(Spliced(editor->source().text(), splices))) {
        patch_.diff += UnifiedDiff(path, editor->source().text(), splices);
      } else {
        AddOnce(patch_.left_out, StrCat(path, ": the changes do not fit together; make them by hand"));
      }
    }
    return std::move(patch_);
  }

 private:
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
    const auto editor = Open(*path);
    const auto added = editor ? (*editor)->Add(change.edit) : Result<void>(Unexpected{editor.error()});
    if (!added)
      AddOnce(patch_.left_out, StrCat(NameOf(change), ": ", *path, ": ", added.error().message,
                                      added.error().place.empty() ? "" : " (" + added.error().place + ")"));
  }

  Result<FileEditor*> Open(const std::string& path) {
    auto found = editors_.find(path);
    if (found == editors_.end()) found = editors_.emplace(path, Read(path)).first;
    if (!found->second) return Unexpected{found->second.error()};
    return &*found->second;
  }

  Result<FileEditor> Read(const std::string& path) const {
    const std::string whole = (fs::path(folder_) / path).string();
    std::error_code error;
    if (!fs::is_regular_file(whole, error)) return Fail(ErrorCode::kInput, "is no file any more");
    if (fs::file_size(whole, error) > kLargestScript) return Fail(ErrorCode::kInput, "is too large for a script");
    auto source = PythonSource::Scan(ContentOf(whole, kLargestScript));
    if (!source) return Unexpected{source.error()};
    return FileEditor(std::move(*source));
  }

  std::string folder_;
  Patch patch_;
  std::map<std::string, Result<FileEditor>> editors_;
};

}  // namespace

Patch WritePatch(std::span<const Change> changes, const std::string& folder) {
  PatchWriter writer(folder);
  for (const Change& change : changes) writer.Take(change);
  return writer.Finish();
}

}  // namespace gapless::internal
