// SPDX-License-Identifier: Apache-2.0
// Objects that several JSON documents hold; docs/schema/analyze.schema.json describes them.
#pragma once

#include <optional>
#include <string_view>

#include "base/json_writer.h"
#include "report/renderer.h"

namespace gapless::internal {

// A key and its object; nothing when there is no gain.
void WriteGain(JsonWriter& json, std::string_view key, const std::optional<Gain>& gain);
// An object, as an item of an array. With costs, it says what fixing it would save.
void WriteBottleneck(JsonWriter& json, const Bottleneck& bottleneck, const Report& report);
// The key "cost" and its object.
void WriteCost(JsonWriter& json, const RunCost& cost);

}  // namespace gapless::internal
