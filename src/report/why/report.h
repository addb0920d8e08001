// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless why`: what makes a step of B longer or shorter than one of A.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"
#include "diagnose/step_difference.h"
#include "report/lab/lab.h"

namespace gapless::internal {

struct WhyView {
  std::string a_name{}, b_name{};  // as given
  StepLedger a{}, b{};
  StepDifference difference{};
};

// One or two sentences: by how much, what most of it is, and what works against it.
std::string WhySentence(const WhyView& view);
// Returns notes that a reader should know before believing it: other devices, other numbers of them, single slow steps.
std::vector<std::string> WhyNotes(const WhyView& view);
// "kernels take longer", "kernels take less time".
std::string_view TitleOf(const Cause& cause);

// `rows`: how many of each cause are shown.
std::string WhyText(const WhyView& view, int width, size_t rows);
LabDocument WhyPage(const WhyView& view, size_t rows);
extern const TypeInfo kWhyDocument;
std::string WhyJson(const WhyView& view);

}  // namespace gapless::internal
