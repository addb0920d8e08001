// SPDX-License-Identifier: Apache-2.0
// A decision about two trainings as JSON, the same fields in every verb. Its sentence is ParityReport::reason.
#pragma once

#include <optional>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "validate/parity.h"

namespace gapless::internal {

// Writes the fields of documents::Parity into the open object.
void WriteParityFields(JsonWriter& json, const ParityReport& report);
// Reads them; absent where there is no verdict.
std::optional<ParityReport> ParityFrom(const JsonValue& value);

}  // namespace gapless::internal
