// SPDX-License-Identifier: Apache-2.0
// Writes the document as Markdown and as a page. Names come from recordings and files: all texts are escaped. Pictures
// are files beside the Markdown, and part of the page.
#include "base/strings.h"
#include "report/lab/lab.h"
#include "report/markdown_text.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1c2330;--quiet:#667085;--line:#e3e7ee;--page:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--quiet:#98a2b3;--line:#2b3240;--page:#141820}}
body{font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:2.5rem auto;max-width:58rem;padding:0 1.5rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}svg{max-width:100%;height:auto}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{padding:.4rem .6rem;text-align:right;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th,td{white-space:nowrap}th{font-weight:500;color:var(--quiet)}
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:11rem}
)";

// The first row is the head; the first column is left-aligned, numbers right.
void AppendMarkdownTable(const LabBlock& block, std::string& out) {
  for (size_t i = 0; i < block.rows.size(); ++i) {
    out += "|";
    for (const std::string& cell : block.rows[i]) out += StrCat(" ", MarkdownEscaped(cell), " |");
    out += "\n";
    if (i > 0) continue;
    out += "|---|";
    for (size_t column = 1; column < block.rows[0].size(); ++column) out += "---:|";
    out += "\n";
  }
  out += "\n";
}

// Appends a block and an empty line after it.
void AppendMarkdown(const LabBlock& block, std::string_view pictures, std::string& out) {
  switch (block.kind) {
    case LabBlock::Kind::kParagraph: out += StrCat(MarkdownEscaped(block.text), "\n\n"); break;
    case LabBlock::Kind::kTable: AppendMarkdownTable(block, out); break;
    case LabBlock::Kind::kPicture:
      if (!pictures.empty()) out += StrCat("![", block.text, "](", pictures, "/", block.text, ".svg)\n\n");
      break;
    case LabBlock::Kind::kList:
      for (const auto& row : block.rows) out += StrCat("- ", MarkdownEscaped(row[0]), "\n");
      out += "\n";
      break;
  }
}

// A table may be wider than the page and scrolls by itself; pictures are put in as they are, as they were made here.
void AppendHtml(const LabBlock& block, std::string& out) {
  switch (block.kind) {
    case LabBlock::Kind::kParagraph: out += StrCat("<p>", XmlEscaped(block.text), "</p>\n"); break;
    case LabBlock::Kind::kPicture: out += block.svg; break;
    case LabBlock::Kind::kList:
      out += "<ul>\n";
      for (const auto& row : block.rows) out += StrCat("<li>", XmlEscaped(row[0]), "</li>\n");
      out += "</ul>\n";
      break;
    case LabBlock::Kind::kTable:
      out += "<div class=\"scroll\"><table>\n";
      for (size_t i = 0; i < block.rows.size(); ++i) {
        const std::string_view tag = i == 0 ? "th" : "td";
        out += "<tr>";
        for (const std::string& cell : block.rows[i]) out += StrCat("<", tag, ">", XmlEscaped(cell), "</", tag, ">");
        out += "</tr>\n";
      }
      out += "</table></div>\n";
      break;
  }
}

}  // namespace

// A picture is referred to as FOLDER/NAME.svg; whoever writes the text also writes these files.
std::string LabMarkdown(const LabDocument& document, std::string_view pictures) {
  std::string out = StrCat("# ", MarkdownEscaped(document.title), "\n\n");
  bool left_out = false;
  for (const LabSection& section : document.sections) {
    out += StrCat("## ", MarkdownEscaped(section.heading), "\n\n");
    for (const LabBlock& block : section.blocks) {
      AppendMarkdown(block, pictures, out);
      left_out = left_out || (pictures.empty() && block.kind == LabBlock::Kind::kPicture);
    }
  }
  if (left_out)
    out += "Pictures are left out here: `-o report.md` writes them beside the text, `-o report.html` into it.\n\n";
  out.pop_back();
  return out;
}

std::string LabPage(const LabDocument& document) {
  const std::string title = XmlEscaped(document.title);
  std::string out = StrCat("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", title,
                           "</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>", kStyle,
                           "</style></head><body>\n<h1>", title, "</h1>\n");
  for (const LabSection& section : document.sections) {
    out += StrCat("<h2>", XmlEscaped(section.heading), "</h2>\n");
    for (const LabBlock& block : section.blocks) AppendHtml(block, out);
  }
  return out + "</body></html>\n";
}

}  // namespace gapless::internal
