// SPDX-License-Identifier: Apache-2.0
// The last lines: commands that lead on from this report, ready to be pasted.
#include "base/strings.h"
#include "report/about.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {

std::string NextSection(const Report& report, const Paint& paint) {
  const Next next = NextOf(report);
  std::string out;
  if (!next.advice.empty())
    for (const std::string& line : WrapCut(next.advice, paint.width() - 6))
      out += StrCat(out.empty() ? "next: " : "      ", line, "\n");
  const std::string_view lead = out.empty() ? "next: " : "      ";
  out += StrCat(lead, paint.In(Tone::kAction, next.query), "\n");
  if (!paint.verbose()) out += "      -v shows all evidence and the code to paste; -o report.html writes a page\n";
  return out;
}

}  // namespace gapless::internal
