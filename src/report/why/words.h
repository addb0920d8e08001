// SPDX-License-Identifier: Apache-2.0
// Words that the text, the page and the sentence of `why` share.
#pragma once

#include <cstdlib>
#include <string>

#include "analyses/kernel_names.h"
#include "base/strings.h"
#include "report/why/report.h"

namespace gapless::internal {

// "+9.0 ms", "−2.0 ms".
inline std::string SignedTime(int64_t ns) { return StrCat(ns < 0 ? "−" : "+", FormatDuration(std::abs(ns))); }

// A number of calls of a step: "48", "0.5".
inline std::string CallsText(double calls) {
  const double rounded = static_cast<double>(static_cast<int64_t>(calls + 0.5));
  return FormatNumber(calls, std::abs(calls - rounded) < 0.05 ? 0 : 1);
}

inline bool IsOfKernels(CauseKind kind) {
  return kind == CauseKind::kKernelTime || kind == CauseKind::kKernelCount || kind == CauseKind::kOtherKernels ||
         kind == CauseKind::kClock;
}

// Returns the name of a row for people: "sgemm_128x64 in aten::mm", "aten::item", "nothing recorded".
std::string NameOfRow(CauseKind kind, const CauseRow& row);
// The same with how often it runs, where that changed, and its place in the code.
std::string SubjectOf(CauseKind kind, const CauseRow& row);

}  // namespace gapless::internal
