// SPDX-License-Identifier: Apache-2.0
// Everything that is written from the registries: the reference, the man page, the completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

// A file that `gapless docs` writes.
struct Page {
  std::string path;  // below the folder
  std::string text;
};

// All pages, in the order of their paths. The same for every build of one version.
std::vector<Page> GeneratedPages();

// The single pages, each as the text of its file.
std::string CommandsPage();
std::string TablesPage();
std::string AnalysesPage();
std::string RulesPage();
std::string WhatIfsPage();
std::string FixesPage();
std::string FormatsPage();
std::string ManPage();
std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace gapless::internal
