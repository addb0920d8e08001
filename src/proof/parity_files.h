// SPDX-License-Identifier: Apache-2.0
// Reads the recording of one rank (python/gapless/agent/README.md: events.jsonl, numbers.f64 and program.json).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "validate/parity.h"

namespace gapless::internal {

// A recording that was cut off holds the events that are whole. An error names the file and the line.
Result<ParityRecording> ReadParityRecording(const std::string& folder);

// Reads the contents of the two files; `path` is that of the events, for errors.
Result<ParityRecording> ParseParityRecording(std::string_view events, std::string_view numbers, std::string_view path);

}  // namespace gapless::internal
