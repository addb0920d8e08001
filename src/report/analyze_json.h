// SPDX-License-Identifier: Apache-2.0
// The report as a JSON document. The schema of `gapless docs` is made from the same description.
#pragma once

#include <functional>

#include "base/described_json.h"
#include "report/renderer.h"

namespace gapless::internal {

// `gapless analyze --json`, and with --explain RULE.
extern const TypeInfo kAnalyzeDocument, kExplainDocument;

// Writes one object. `shows_recording`: leaves out recordings for which it is false; none: all are listed.
void WriteAnalyzeJson(JsonWriter& json, const Report& report,
                      const std::function<bool(const RunTrace&)>& shows_recording = {});

}  // namespace gapless::internal
