// SPDX-License-Identifier: Apache-2.0
// Prints the result of `gapless validate`: accepted or not, with each reason, then the reports of `compare` and `gate`,
// which it is made of. The document contains theirs in the same way.
#include "report/validate/report.h"

#include "base/strings.h"
#include "report/compare/document.h"
#include "report/gate/document.h"
#include "report/next.h"

namespace gapless::internal {
namespace documents {

// The whole document.
struct Validate {
  bool accepted = false;
  std::vector<std::string> reasons_against{};
  Compare comparison{};
  std::optional<Gate> regression{};
  std::optional<int64_t> recorded_run{};
  static constexpr FieldInfo kFields[] = {
      Field<&Validate::accepted>("accepted", "", "B is faster, and no reason against it was found"),
      Field<&Validate::reasons_against>("reasons_against", "", "why it was refused"),
      Spliced<&Validate::comparison>(),
      Field<&Validate::regression>("regression", "",
                                   "B against the history; missing: nothing differs, so that nothing was run"),
      Field<&Validate::recorded_run>("recorded_run", "", "id of B in the history; missing: it was refused"),
  };
};

}  // namespace documents

constinit const TypeInfo kValidateDocument = describe::MakeType<documents::Validate>();

std::string ValidationText(const Validation& validation, const PairPlan& plan) {
  if (!validation.nothing_differs.empty())
    return StrCat("nothing differs: ", validation.nothing_differs, "; nothing was run, and nothing recorded\n");
  const std::string head = validation.IsAccepted() ? "accepted: faster, and no reason against it was found"
                                                   : StrCat("refused: ", Join(validation.against, "; "));
  return StrCat(head, "\n\n", CompareText(validation.comparison, plan), "\n", GateText(validation.judgement),
                validation.recorded       ? StrCat("recorded as run ", *validation.recorded, "\n")
                : validation.IsAccepted() ? ""
                                          : "not recorded: it was refused\n",
                validation.IsAccepted() ? NextText(NextOf(validation.comparison, plan)) : "");
}

// Warnings are the disturbances of the runs and the notes of the judgement.
std::string ValidationJson(const Validation& validation, const PairPlan& plan) {
  std::vector<std::string> warnings = NoiseOf(validation.comparison);
  documents::Compare comparison = CompareDocument(validation.comparison, plan);
  std::optional<documents::Gate> regression;
  if (!validation.nothing_differs.empty()) {  // what is one takes as long, and as much memory
    comparison.pairs.verdict = SpeedVerdict::kEquivalent;
    comparison.memory_saved_gb = comparison.memory_saved_bytes = 0;
  } else {
    regression = GateDocument(validation.judgement);
  }
  warnings.insert(warnings.end(), validation.judgement.notes.begin(), validation.judgement.notes.end());
  return DocumentOf("validate",
                    documents::Validate{.accepted = validation.IsAccepted(),
                                        .reasons_against = validation.against,
                                        .comparison = std::move(comparison),
                                        .regression = std::move(regression),
                                        .recorded_run = validation.recorded},
                    warnings);
}

}  // namespace gapless::internal
