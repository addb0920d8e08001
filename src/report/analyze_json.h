// SPDX-License-Identifier: Apache-2.0
// The report as a JSON document. The schema of `gapless docs` is made from the same description.
#pragma once

#include "base/described_json.h"
#include "report/renderer.h"

namespace gapless::internal {

// `gapless analyze --json`, and with --explain RULE.
extern const TypeInfo kAnalyzeDocument, kExplainDocument;

// Writes one object.
void WriteAnalyzeJson(JsonWriter& json, const Report& report);

}  // namespace gapless::internal
