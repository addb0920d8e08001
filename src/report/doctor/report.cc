// SPDX-License-Identifier: Apache-2.0
// Prints the findings of `gapless doctor`. Problems and warnings have their effect and a command; other findings take
// one line.
#include "report/doctor/report.h"

#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"
#include "report/renderers/terminal/paint.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<Health> = static_cast<int64_t>(Health::kUnknown) + 1;

template <>
struct Described<HealthFinding> {
  static constexpr FieldInfo kFields[] = {
      Field<&HealthFinding::subject>("subject", "", "what was looked at"),
      Field<&HealthFinding::health>("health", "", "the judgement"),
      Field<&HealthFinding::saw>("saw", "", "what was found"),
      Field<&HealthFinding::why>("why", "", "why it matters", kUnlessEmpty),
      Field<&HealthFinding::fix>("fix", "", "what to do", kUnlessEmpty),
  };
};

namespace documents {

struct DoctorCheck {
  std::string check{};
  Borrowed<HealthFinding> finding{};
  static constexpr FieldInfo kFields[] = {
      Field<&DoctorCheck::check>("check", "", "name of the check"),
      Spliced<&DoctorCheck::finding>(),
  };
};

// The whole document. Problems and warnings are also among its warnings, as sentences.
struct Doctor {
  bool healthy = true;
  std::vector<DoctorCheck> checks{};
  static constexpr FieldInfo kFields[] = {
      Field<&Doctor::healthy>("healthy", "", "no check found a problem"),
      Field<&Doctor::checks>("checks", "", "each finding"),
  };
};

}  // namespace documents

namespace {

// Columns of the first two fields; the text begins after them.
constexpr int kHealthWidth = 9, kSubjectWidth = 18;
constexpr int kTextColumn = kHealthWidth + kSubjectWidth;

Tone ToneOf(Health health) {
  switch (health) {
    case Health::kOk: return Tone::kGood;
    case Health::kWarning: return Tone::kWarning;
    case Health::kProblem: return Tone::kCritical;
    case Health::kUnknown: return Tone::kDim;
  }
  return Tone::kPlain;
}

int64_t CountOf(std::span<const CheckedFinding> findings, Health health) {
  return std::ranges::count(findings, health,
                            [](const CheckedFinding& checked_finding) { return checked_finding.finding.health; });
}

// Counts problems and warnings. What could not be checked is not counted: it may be fine.
std::string Headline(std::span<const CheckedFinding> findings, const Paint& paint) {
  const auto number = [](int64_t count, std::string_view what) {
    return StrCat(count, ' ', what, count == 1 ? "" : "s");
  };
  const int64_t problems = CountOf(findings, Health::kProblem), warnings = CountOf(findings, Health::kWarning);
  if (problems + warnings == 0) return paint.In(Tone::kGood, "nothing stands in the way") + "\n";
  std::vector<std::string> parts;
  if (problems > 0) parts.push_back(paint.In(Tone::kCritical, number(problems, "problem")));
  if (warnings > 0) parts.push_back(paint.In(Tone::kWarning, number(warnings, "warning")));
  return Join(parts, ", ") + "\n";
}

// Appends the text broken over lines, all below the text column; `first` stands before the first of them.
void AppendWrapped(std::string& out, std::string_view first, std::string_view text, const Paint& paint, Tone tone) {
  const int room = std::max(20, paint.width() - kTextColumn - DisplayWidth(first));
  bool begun = false;
  for (const std::string& line : WrapCut(text, room)) {
    out += PadRight("", kTextColumn);
    out += begun ? PadRight("", DisplayWidth(first)) : paint.In(tone, first);
    out += paint.In(tone, line) + "\n";
    begun = true;
  }
}

// Appends one finding. A problem or warning takes several lines, anything else one line that is cut at the width.
void AppendFinding(std::string& out, const HealthFinding& finding, const Paint& paint) {
  const bool bad = finding.health == Health::kProblem || finding.health == Health::kWarning;
  out += paint.In(ToneOf(finding.health), PadRight(ToString(finding.health), kHealthWidth));
  out += PadRight(Ellipsize(finding.subject, kSubjectWidth - 1), kSubjectWidth);
  const int room = std::max(20, paint.width() - kTextColumn);
  const std::string saw = Printable(finding.saw);
  if (!bad) {
    const std::string line = finding.fix.empty() ? saw : StrCat(saw, " → ", finding.fix);
    out += paint.In(finding.health == Health::kUnknown ? Tone::kDim : Tone::kPlain, Ellipsize(line, room)) + "\n";
    return;
  }
  bool begun = false;
  for (const std::string& line : WrapCut(saw, room)) {
    out += StrCat(begun ? PadRight("", kTextColumn) : "", paint.In(Tone::kBold, line), "\n");
    begun = true;
  }
  AppendWrapped(out, "", finding.why, paint, Tone::kPlain);
  if (!finding.fix.empty()) AppendWrapped(out, "→ ", finding.fix, paint, Tone::kAction);
}

}  // namespace

bool IsHealthy(std::span<const CheckedFinding> findings) { return CountOf(findings, Health::kProblem) == 0; }

// Prints the count of problems, then the findings in the order of the checks.
std::string DoctorText(std::span<const CheckedFinding> findings, const RenderOptions& options) {
  const Paint paint(options);
  std::string out = Headline(findings, paint) + "\n";
  for (const CheckedFinding& checked_finding : findings) AppendFinding(out, checked_finding.finding, paint);
  return options.utf8 ? out : ToAscii(out);
}

constinit const TypeInfo kDoctorDocument = describe::MakeType<documents::Doctor>();

std::string DoctorJson(std::span<const CheckedFinding> findings) {
  documents::Doctor document{.healthy = IsHealthy(findings)};
  std::vector<std::string> warnings;
  for (const auto& [check, finding] : findings) {
    document.checks.push_back({std::string(check), {&finding}});
    if (finding.health == Health::kProblem || finding.health == Health::kWarning)
      warnings.push_back(StrCat(finding.subject, ": ", finding.saw));
  }
  return DocumentOf("doctor", document, warnings);
}

}  // namespace gapless::internal
