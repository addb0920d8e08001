// SPDX-License-Identifier: Apache-2.0
// The report for people: one screen, the answer first, every line earns its place. Made for 80 columns and more.
#include "report/renderers/terminal/sections.h"

namespace gapless::internal::terminal_renderer {
namespace {

constexpr int kWidest = 120;  // longer lines are hard to follow; a wide window does not change the picture

// Joins the sections by an empty line; notes follow the header directly. ASCII is made at the very end, when every
// width is fixed.
std::string Render(const Report& report, const RenderOptions& given) {
  RenderOptions options = given;
  if (options.width > kWidest) options.width = kWidest;
  const Paint paint(options);
  std::string out;
  for (const auto section : {HeaderSection, NotesSection, BreakdownSection, HostBreakdownSection, RanksSection,
                             RolesSection, BottlenecksSection, TopSection, NextSection}) {
    const std::string text = section(report, paint);
    if (!text.empty() && !out.empty() && section != NotesSection) out += "\n";
    out += text;
  }
  return options.utf8 ? out : ToAscii(out);
}

}  // namespace

RENDERER(terminal) = {
    .name = "terminal", .help = "One screen for people (the default)", .extension = ".txt", .render = Render};

}  // namespace gapless::internal::terminal_renderer
