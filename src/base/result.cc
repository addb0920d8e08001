// SPDX-License-Identifier: Apache-2.0
// Formats errors and maps their codes to exit statuses, which are part of the command line's contract.
#include "base/result.h"

namespace gapless {

std::string Error::ToString() const {
  std::string text = place.empty() ? message : place + ": " + message;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

}  // namespace gapless

namespace gapless::internal {

int ExitStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage: return 2;
    case ErrorCode::kInput: return 3;
    case ErrorCode::kEnvironment: return 4;
    case ErrorCode::kCommand: return 5;
    case ErrorCode::kInterrupted: return 130;
  }
  return 3;
}

}  // namespace gapless::internal
