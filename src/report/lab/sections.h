// SPDX-License-Identifier: Apache-2.0
// Sections of the write-up that are made from recordings, and its end.
#pragma once

#include "report/lab/parts.h"

namespace gapless::internal::lab {

// The baseline: utilisation, the three main bottlenecks with their prices, and what fixing them promises.
void AddBaseline(const LabView& view, LabDocument& document);
// Operators and launches of a step, and its timeline, before and after.
void AddStep(const LabView& view, LabDocument& document);
// The fix with the most effect, and what is left to do.
void AddConclusions(const LabView& view, LabDocument& document);

}  // namespace gapless::internal::lab
