// SPDX-License-Identifier: Apache-2.0
// The report as a JSON document: docs/schema/analyze.schema.json says what is in it. Absent is a missing key.
#pragma once

#include "base/json_writer.h"
#include "report/renderer.h"

namespace gapless::internal {

// One object.
void WriteAnalyzeJson(JsonWriter& json, const Report& report);

}  // namespace gapless::internal
