// SPDX-License-Identifier: Apache-2.0
// Reads the recording of one rank (docs/parity.md: events.jsonl and numbers.f64).
#pragma once

#include <string>

#include "base/result.h"
#include "validate/parity.h"

namespace gapless::internal {

// A recording that was cut off holds the events that are whole. An error names the file and the line.
Result<ParityRecording> ReadParityRecording(const std::string& folder);

}  // namespace gapless::internal
