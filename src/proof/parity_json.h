// SPDX-License-Identifier: Apache-2.0
// A decision about two trainings as JSON, the same fields in every verb. Its sentence is ParityReport::reason.
#pragma once

#include <optional>

#include "base/json_writer.h"
#include "store/results/json/value.h"
#include "validate/parity.h"

namespace gapless::internal {

// Writes the fields into the open object: `verdict`, `unit`?, `reason`, `steps`, `test`?, `step`?, `tensor`?, `value`?,
// `limit`?.
void WriteParityFields(JsonWriter& json, const ParityReport& report);
// Reads them; absent where there is no verdict.
std::optional<ParityReport> ParityFrom(const JsonValue& value);

}  // namespace gapless::internal
