// SPDX-License-Identifier: Apache-2.0
// Collects all generated pages: the reference, the man page, the completions, and the JSON schemas. Each is a function
// of the registries alone, so two builds of one version give the same bytes.
#include "cli/docs/pages.h"

#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "serve/documents.h"

namespace gapless::internal {

namespace {

// The commands whose documents the pages of web/ show, and which of their documents; their TypeScript types are what
// these are built with.
struct OnPages {
  std::string_view command{};
  size_t document = 0;
};
constexpr OnPages kOnPages[] = {{.command = "analyze"},
                                {.command = "optimize"},
                                {.command = "report", .document = 1},
                                {.command = "trend"},
                                {.command = "why"}};

std::string TypesOf(const Command& command, size_t document) {
  return StrCat("// SPDX-License-Identifier: Apache-2.0\n// Written by `gapless docs`: the types of `gapless ",
                command.name, " --json`. A key that may be missing is optional; a missing\n// value is never 0.\n\n",
                TypeScriptOf(*command.documents[document]));
}

// Adds a schema per command that prints JSON.
void AddDocuments(std::vector<Page>& pages) {
  for (const Command* command : AllCommands()) {
    if (command->documents.empty()) continue;
    pages.push_back({StrCat("schema/", command->name, ".schema.json"), SchemaOf(command->name, command->documents)});
    if (const auto* on = std::ranges::find(kOnPages, command->name, &OnPages::command); on != std::end(kOnPages))
      pages.push_back({StrCat("schema/", command->name, ".ts"), TypesOf(*command, on->document)});
  }
}

// The types of what `gapless serve` answers.
std::string ServedTypesPage() {
  return StrCat(
      "// SPDX-License-Identifier: Apache-2.0\n// Written by `gapless docs`: the types of the answers of "
      "`gapless serve`. A key that may be missing is\n// optional.\n\n",
      TypeScriptOf(ServedTypes()));
}

}  // namespace

std::vector<Page> GeneratedPages() {
  std::vector<Page> pages = {
      {"completion/_gapless", ZshCompletion()},      {"completion/gapless.bash", BashCompletion()},
      {"completion/gapless.fish", FishCompletion()}, {"man/gapless.1", ManPage()},
      {"reference/analyses.md", AnalysesPage()},     {"reference/commands.md", CommandsPage()},
      {"reference/fixes.md", FixesPage()},           {"reference/formats.md", FormatsPage()},
      {"reference/rules.md", RulesPage()},           {"reference/tables.md", TablesPage()},
      {"reference/what_ifs.md", WhatIfsPage()},
  };
  AddDocuments(pages);
  pages.push_back({"schema/serve.ts", ServedTypesPage()});
  pages.push_back({"schema/serve_routes.schema.json", SchemaOfRoutes("serve", ServedRoutes())});
  return pages;
}

}  // namespace gapless::internal
