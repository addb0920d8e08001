// SPDX-License-Identifier: Apache-2.0
// Prints the report's first lines and its notes. At most six notes are shown without -v, so that a recording with many
// faults does not push its findings off the screen.
//
//   resnet50_v100.pt.trace.json.gz
//   1 × Tesla V100-DGXS-32GB · 6 complete steps
//   median step 177.4 ms (p95 186.5 ms) · GPU busy 56.6 % · MFU 27.9 %
#include <algorithm>

#include "base/strings.h"
#include "report/about.h"
#include "report/notes.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxNotes = 6;

}  // namespace

std::string HeaderSection(const Report& report, const Paint& paint) {
  const std::string subject = Ellipsize(SubjectOf(report.run), paint.width());
  const std::vector<std::string> facts = FactsOf(report);
  std::vector<std::string> items = facts;
  items.insert(items.begin(), subject);
  std::vector<std::string> lines = WrapItems(items, paint.width());
  if (lines.size() > 1) {  // not on one line: the subject has its own
    lines = WrapItems(facts, paint.width());
    lines.insert(lines.begin(), subject);
  }
  lines[0] = paint.In(Tone::kBold, subject) + lines[0].substr(subject.size());
  return Join(lines, "\n") + "\n";
}

std::string NotesSection(const Report& report, const Paint& paint) {
  const std::vector<Note> notes = NotesOf(report);
  const size_t shown = paint.verbose() ? notes.size() : std::min(notes.size(), kMaxNotes);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const Tone tone = notes[i].severity == Severity::kError ? Tone::kCritical : Tone::kWarning;
    const std::vector<std::string> lines = WrapCut(Printable(notes[i].text), paint.width() - 2);
    for (size_t line = 0; line < lines.size(); ++line)
      out += (line == 0 ? paint.In(tone, "!") + " " : "  ") + lines[line] + "\n";
  }
  if (shown < notes.size()) out += StrCat("  and ", notes.size() - shown, " more notes (-v shows them)\n");
  return out;
}

}  // namespace gapless::internal
