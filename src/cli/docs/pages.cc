// SPDX-License-Identifier: Apache-2.0
#include "cli/docs/pages.h"

namespace gapless::internal {

std::vector<Page> GeneratedPages() {
  return {
      {"completion/_gapless", ZshCompletion()},      {"completion/gapless.bash", BashCompletion()},
      {"completion/gapless.fish", FishCompletion()}, {"man/gapless.1", ManPage()},
      {"reference/analyses.md", AnalysesPage()},     {"reference/commands.md", CommandsPage()},
      {"reference/fixes.md", FixesPage()},           {"reference/formats.md", FormatsPage()},
      {"reference/rules.md", RulesPage()},           {"reference/tables.md", TablesPage()},
      {"reference/what_ifs.md", WhatIfsPage()},
  };
}

}  // namespace gapless::internal
