// SPDX-License-Identifier: Apache-2.0
// The command `gapless docs`: writes the generated pages. The build runs it for what is installed, the checks of the
// sources for the site and the types of web/; the pages are not kept with the sources.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/output.h"

namespace gapless::internal::docs_command {
namespace documents {

struct PageState {
  std::string path{};
  std::string_view state{};
  static constexpr FieldInfo kFields[] = {
      Field<&PageState::path>("path", "", "path below the folder"),
      Field<&PageState::state>("state", "", "same or written"),
  };
};

struct Docs {
  std::vector<PageState> pages{};
  static constexpr FieldInfo kFields[] = {Field<&Docs::pages>("pages", "", "each page")};
};

}  // namespace documents

namespace {

struct DocsArguments : Arguments {
  std::string folder;
  static constexpr WordList kWords{
      Word<&DocsArguments::folder>("FOLDER", "folder of the pages; made if it is missing").Path()};
};

namespace fs = std::filesystem;

using State = documents::PageState;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Writes one page, and its folder where it is new.
Result<void> WritePage(const fs::path& path, const std::string& text) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  if (code)
    return Fail(ErrorCode::kEnvironment, "cannot make the folder: " + code.message(), path.parent_path().string());
  return WriteFile(path.string(), text);
}

std::string AsJson(const std::vector<State>& states) { return DocumentOf("docs", documents::Docs{states}); }

std::string AsText(const std::vector<State>& states) {
  const auto written = std::ranges::count(states, "written", &State::state);
  return StrCat(states.size(), " pages, ", written, " of them new or changed\n");
}

// Writes a page only if it differs, so that the times of the others stay as they are.
Result<int> Execute(const DocsArguments& arguments, Session&) {
  std::vector<State> states;
  for (const Page& page : GeneratedPages()) {
    const fs::path path = fs::path(arguments.folder) / page.path;
    const bool same = ReadAll(path) == page.text;
    if (!same) GAPLESS_TRY(WritePage(path, page.text));
    states.push_back({page.path, same ? "same" : "written"});
  }
  return PrintTextOrJson(
      arguments, [&] { return AsText(states); }, [&] { return AsJson(states); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Docs>::kInfo};
constexpr Example kExamples[] = {{"gapless docs pages", "Writes pages/reference, pages/man and so on"}};

}  // namespace

COMMAND(docs) = {
    .name = "docs",
    .place = {groups::kMore, 7},
    .help = "Write the reference pages, man page and completions",
    .about =
        "Writes the pages that are made from the program itself into a folder: the reference of commands, "
        "tables, analyses, rules and formats, the man page, the schemas of all documents, and the completions of "
        "bash, zsh and fish.",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::docs_command
