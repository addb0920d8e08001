// SPDX-License-Identifier: Apache-2.0
#include "report/json_parts.h"

namespace gapless::internal {
namespace {

void WriteEvidence(JsonWriter& json, const Evidence& evidence) {
  json.BeginObject();
  json.Field("text", evidence.text);
  json.Field("value", evidence.value);
  json.FieldUnlessEmpty("unit", evidence.unit);
  json.FieldUnlessEmpty("table", evidence.table);
  if (!evidence.rows.empty()) {
    json.Key("rows");
    json.BeginArray();
    for (const int64_t row : evidence.rows) json.Int(row);
    json.EndArray();
  }
  json.FieldUnlessEmpty("source", evidence.source);
  json.EndObject();
}

void WriteAmount(JsonWriter& json, std::string_view key, const Amount& amount) {
  json.Key(key);
  json.BeginObject();
  json.Field("money", amount.money);
  json.Field("kwh", amount.kwh);
  json.Field("carbon_kg", amount.carbon_kg);
  json.EndObject();
}

void WriteSaving(JsonWriter& json, const Saving& saving) {
  json.Key("saving_per_month");
  json.BeginObject();
  WriteAmount(json, "low", saving.low);
  WriteAmount(json, "expected", saving.expected);
  WriteAmount(json, "high", saving.high);
  json.EndObject();
}

}  // namespace

void WriteGain(JsonWriter& json, std::string_view key, const std::optional<Gain>& gain) {
  if (!gain) return;
  json.Key(key);
  json.BeginObject();
  json.Field("low", gain->low);
  json.Field("expected", gain->expected);
  json.Field("high", gain->high);
  json.Field("confidence", gain->confidence);
  json.FieldUnlessEmpty("method", gain->method);
  if (gain->tested_programs) json.Field("tested_programs", *gain->tested_programs);
  json.EndObject();
}

void WriteBottleneck(JsonWriter& json, const Bottleneck& bottleneck, const Report& report) {
  json.BeginObject();
  json.Field("id", bottleneck.id);
  json.Field("type", ToString(bottleneck.type));
  json.Field("severity", bottleneck.severity);
  json.Field("title", bottleneck.title);
  json.Field("description", bottleneck.description);
  json.Field("share_of_step", bottleneck.share_of_step);
  json.Key("evidence");
  json.BeginArray();
  for (const Evidence& evidence : bottleneck.evidence) WriteEvidence(json, evidence);
  json.EndArray();
  json.Key("recommendations");
  json.BeginArray();
  for (const Recommendation& advice : bottleneck.recommendations) {
    json.BeginObject();
    json.Field("text", advice.text);
    json.FieldUnlessEmpty("fix", advice.fix);
    json.FieldUnlessEmpty("code", advice.code);
    json.FieldUnlessEmpty("effort", advice.effort);
    json.EndObject();
  }
  json.EndArray();
  WriteGain(json, "gain", bottleneck.gain);
  json.FieldUnlessEmpty("part_of", bottleneck.part_of);
  json.FieldUnlessEmpty("cured_by", bottleneck.cured_by);
  json.Field("step_left", bottleneck.step_left);
  json.FieldUnlessEmpty("also", bottleneck.also);
  if (bottleneck.apart) json.Field("apart", true);
  if (report.cost && bottleneck.gain)
    WriteSaving(json, SavingPerMonth(*report.cost, *bottleneck.gain, bottleneck.step_left));
  json.EndObject();
}

void WriteCost(JsonWriter& json, const RunCost& cost) {
  json.Key("cost");
  json.BeginObject();
  json.Field("gpus", cost.gpus);
  json.Field("hours_per_month", cost.hours_per_month);
  json.Field("watts_per_gpu", cost.watts_per_gpu);
  if (cost.watts_per_gpu) json.Field("watts_source", cost.watts_are_limit ? "board limit" : "given");
  if (cost.step) WriteAmount(json, "step", *cost.step);
  if (cost.epoch) WriteAmount(json, "epoch", *cost.epoch);
  WriteAmount(json, "month", cost.month);
  json.EndObject();
}

}  // namespace gapless::internal
