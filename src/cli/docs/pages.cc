// SPDX-License-Identifier: Apache-2.0
// Collects all generated pages: the reference, the man page, the completions, and the JSON schemas. Each is a function
// of the registries alone, so two builds of one version give the same bytes, and a test can compare them with docs/.
#include "cli/docs/pages.h"

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"

namespace gapless::internal {

namespace {

constexpr std::string_view kTypesHead =
    "// SPDX-License-Identifier: Apache-2.0\n// Written by `gapless docs`: the types of `gapless analyze --json`. A "
    "key that "
    "may be missing is optional; a missing\n// value is never 0.\n\n";

// Adds a schema per command that prints JSON. Only `analyze` has TypeScript types, which the page of web/ is built
// with.
void AddDocuments(std::vector<Page>& pages) {
  for (const Command* command : AllCommands()) {
    if (command->documents.empty()) continue;
    pages.push_back({StrCat("schema/", command->name, ".schema.json"), SchemaOf(command->name, command->documents)});
    if (command->name == "analyze")
      pages.push_back({"schema/analyze.ts", StrCat(kTypesHead, TypeScriptOf(*command->documents[0]))});
  }
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
  return pages;
}

}  // namespace gapless::internal
