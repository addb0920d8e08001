// SPDX-License-Identifier: Apache-2.0
// The sentences of a judgement against a history: what was asked, why there is no verdict, how often it is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proof/judged_runs.h"
#include "proof/judgement.h"

namespace gapless::internal {

// The judgement before any metric: what is asked, of which runs.
Judgement Asked(const HistoryQuestion& question, const Past& past, std::string_view place);

// Says why there is no verdict. Of a pending alarm also what would settle it.
std::string ReasonOf(const GateVerdict& verdict);

// Says how machines were told apart, and what cannot be seen between them; empty if there is nothing to say.
std::vector<std::string> MachineNotes(const GateVerdict& verdict);

// Fills in how often the judgement raises a false alarm, from the figures of its metrics.
void StateFalseAlarms(Judgement& judgement);

}  // namespace gapless::internal
