// SPDX-License-Identifier: Apache-2.0
// Writes documents; the name of the file decides the format.
#include "cli/document_file.h"

#include <filesystem>

#include "base/strings.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

// Writes each picture of the document into a folder beside the Markdown file, named after it.
Result<void> WritePictures(const LabDocument& document, const std::filesystem::path& folder) {
  for (const LabSection& section : document.sections)
    for (const LabBlock& block : section.blocks) {
      if (block.kind != LabBlock::Kind::kPicture) continue;
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      GAPLESS_TRY(WriteFile((folder / StrCat(block.text, ".svg")).string(), block.svg));
    }
  return {};
}

}  // namespace

Result<void> CheckDocument(const ReadArguments& arguments) {
  const std::string& path = arguments.output;
  const std::string extension = std::filesystem::path(path).extension().string();
  if (path.empty() || path == "-" || extension == ".md" || extension == ".html") return {};
  return Fail(ErrorCode::kUsage, StrCat("cannot write ", Printable(path), ": its name ends in neither .md nor .html"));
}

// Writes the pictures first: a text that refers to them then never misses them.
Result<void> WriteDocument(const LabDocument& document, const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() == ".html") return WriteFile(path, LabPage(document));
  if (path.empty() || path == "-") return WriteFile(path, LabMarkdown(document, ""));
  GAPLESS_TRY(WritePictures(document, file.parent_path() / file.stem()));
  return WriteFile(path, LabMarkdown(document, file.stem().string()));
}

Result<int> WriteDocumentOrJson(const ReadArguments& arguments, const std::function<LabDocument()>& document,
                                const std::function<std::string()>& json) {
  if (!arguments.JsonToStdout()) GAPLESS_TRY(WriteDocument(document(), arguments.output));
  if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, json()));
  return 0;
}

}  // namespace gapless::internal
