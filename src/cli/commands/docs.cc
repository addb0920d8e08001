// SPDX-License-Identifier: Apache-2.0
// The command `gapless docs`: writes the generated pages, or with --check compares them with the files. Files in
// docs/reference without a page are reported, because a page that was renamed would leave its old file behind. With
// --check the exit status is 1 if a page is not up to date; a test and `make lint` run it.
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

namespace gapless::internal {
namespace documents {

struct PageState {
  std::string path{};
  std::string_view state{};
  static constexpr FieldInfo kFields[] = {
      Field<&PageState::path>("path", "", "path below the folder"),
      Field<&PageState::state>("state", "", "same, written, stale, missing or extra"),
  };
};

struct Docs {
  std::vector<PageState> pages{};
  static constexpr FieldInfo kFields[] = {Field<&Docs::pages>("pages", "", "each page")};
};

}  // namespace documents

namespace {

struct DocsArguments : Arguments {
  bool check = false;
  std::string folder = "docs";
  static constexpr OptionList kOptions{
      Flag<&DocsArguments::check>("Write nothing; exit with status 1 if a page is not up to date"),
  };
  static constexpr WordList kWords{
      Word<&DocsArguments::folder>("FOLDER", "folder of the pages (docs)").Optional().Path()};
};

namespace fs = std::filesystem;

using State = documents::PageState;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files in docs/reference and docs/schema that no page is for.
void AddExtras(const fs::path& root, const std::vector<Page>& pages, std::vector<State>& states) {
  for (const auto& [folder, extension] : {std::pair{"reference", ".md"}, std::pair{"schema", ".json"}}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root / folder, ignored)) {
      const std::string path = StrCat(folder, "/", entry.path().filename().string());
      const bool known = std::ranges::any_of(pages, [&](const Page& page) { return page.path == path; });
      // Only reported, never removed: the folder may hold somebody's own page.
      if (!known && entry.path().extension() == extension) states.push_back({path, "extra"});
    }
  }
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

// Lists only the pages that changed or must change.
std::string AsText(const std::vector<State>& states, bool check) {
  std::string out;
  size_t changed = 0;
  for (const State& state : states) {
    if (state.state == "same") continue;
    ++changed;
    out += StrCat(state.state, "  ", Printable(state.path), "\n");
  }
  if (changed == 0) return StrCat("all ", states.size(), " pages are fresh\n");
  return check ? out + "run `gapless docs` to write them again (an extra page is to be removed)\n" : out;
}

// Writes a page only if it differs, so that the times of the others stay as they are.
Result<int> Execute(const DocsArguments& arguments, Session&) {
  const bool check = arguments.check;
  const fs::path root = arguments.folder;
  std::error_code ignored;
  if (!fs::is_directory(root, ignored)) {
    return Fail(ErrorCode::kUsage, "cannot write the pages: the folder does not exist", root.string(),
                "gapless docs FOLDER");
  }
  const std::vector<Page> pages = GeneratedPages();
  std::vector<State> states;
  for (const Page& page : pages) {
    const fs::path path = root / page.path;
    const bool exists = fs::exists(path, ignored);
    const bool same = exists && ReadAll(path) == page.text;
    if (!same && !check) GAPLESS_TRY(WritePage(path, page.text));
    states.push_back({page.path, same ? "same" : !check ? "written" : exists ? "stale" : "missing"});
  }
  AddExtras(root, pages, states);
  bool fresh = true;
  for (const State& state : states) fresh = fresh && state.state == "same";
  auto printed = PrintTextOrJson(
      arguments, [&] { return AsText(states, check); }, [&] { return AsJson(states); });
  if (!printed) return printed;
  return check && !fresh ? 1 : 0;
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Docs>::kInfo};
constexpr Example kExamples[] = {{"gapless docs --check", "Are the pages of docs/ fresh?"}};

}  // namespace

COMMAND(docs) = {.name = "docs",
                 .help = "Write the reference pages, man page and completions",
                 .about =
                     "Writes the pages that are made from the program itself into a folder: the reference of commands, "
                     "tables, analyses, rules and formats, the man page, and the completions of bash, zsh and fish.",
                 .examples = kExamples,
                 .documents = kDocuments,
                 .call = kCall<Execute>};

}  // namespace gapless::internal
