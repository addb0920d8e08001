// SPDX-License-Identifier: Apache-2.0
// A document in a file: Markdown, with its pictures in a folder beside it, or a page of HTML.
#pragma once

#include <functional>
#include <string>

#include "cli/loading.h"
#include "report/lab/lab.h"

namespace gapless::internal {

inline constexpr auto kDocumentOption =
    Text<&ReadArguments::output>("FILE", "Write to FILE.md, with its pictures in a folder beside it, or to FILE.html")
        .Short('o');

// An error of usage where the file's name ends in neither .md nor .html.
Result<void> CheckDocument(const ReadArguments& arguments);
// Writes the document to the path; "" and "-": Markdown without pictures to standard output.
Result<void> WriteDocument(const LabDocument& document, const std::string& path);
// Finishes a command with -o: writes the document, and JSON where that was asked for.
Result<int> WriteDocumentOrJson(const ReadArguments& arguments, const std::function<LabDocument()>& document,
                                const std::function<std::string()>& json);

}  // namespace gapless::internal
