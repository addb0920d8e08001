// SPDX-License-Identifier: Apache-2.0
// Costs and gains as reports word them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/bottleneck.h"
#include "diagnose/cost.h"

namespace gapless::internal {

// "1.33×", "12.4×".
std::string FactorText(double value);
// "1.33× (1.20–1.49)": what is expected, and its bounds.
std::string GainText(const Gain& gain);
// Fixing it brings something, or nobody knows what: it is listed to be fixed.
bool IsToFix(const Bottleneck& bottleneck);
// Returns each bottleneck's number in the list of what to fix; 0 if another one's fix removes it, or nothing is to be
// fixed.
std::vector<int> PlacesOf(const std::vector<Bottleneck>& bottlenecks);
// "fixing 1, 2 and 4 together", by their places.
std::string TogetherText(const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks);
// Returns the limits of the combined figure: "without 3, which changes the training; 4 by an estimate".
std::string TrustText(const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks);
// "changes the training": why a fix is a choice beside the plan.
std::string_view ApartText(const RunSummary& summary);
// "untested on GPUs", of a gain of which no prediction of its kind was tested on such a machine; else "".
std::string UntestedText(const RunSummary& summary, const Gain& gain);

// "critical" above 0.7, "warning" from 0.4, else "minor".
std::string_view SeverityWord(double severity);
// The same of a bottleneck, but "minor" where fixing it is expected to bring nothing: 1.00×.
std::string_view SeverityWord(const Bottleneck& found);

// "MFU 41.3 %", or "MFU ≥ 31.5 %" where not all work could be counted; "" where less than half of it could.
std::string MfuText(const RunSummary& summary);
// "GPU busy 56.6 %", "GPU busy at least 26.7 %" where operations are missing; "" where no device is known.
std::string BusyText(const RunSummary& summary);
// "33.1 % of the step"; of a recording without steps "33.1 % of the time".
std::string ShareText(const RunSummary& summary, double share);
// The class of the run in words: "input bound", "idle, cause not recorded"; "" without one.
std::string VerdictText(const RunSummary& summary);
// Returns "scaling efficiency 78.0 %", with "at most" if there is no run on one GPU; "" for one rank.
std::string ScalingText(const RunSummary& summary);

// "$ 41,300" from 100 up, "$ 12.30", "$ 0.0021": at least two digits that mean something.
std::string MoneyText(double money);
// Returns the known parts of an amount: {"$ 41,300", "12,400 kWh", "4,960 kg CO₂"}.
std::vector<std::string> AmountTexts(const Amount& amount);

}  // namespace gapless::internal
