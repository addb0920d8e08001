// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "cli/commands/tune/report.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

void WriteRow(JsonWriter& json, const TuneRow& row) {
  json.BeginObject();
  json.Key("fixes");
  json.BeginArray();
  for (const std::string& name : row.set.Names()) json.String(name);
  json.EndArray();
  if (row.IsUsable()) {
    const Stage stage = row.Typical();
    json.Field("step_time_ms", stage.step_ms);
    json.Field("samples_per_second", stage.samples_per_second);
    json.Field("memory_bytes", stage.memory_bytes);
    json.Field("runs", row.runs.size());
  }
  if (row.against_first.size() > 0) {
    WriteRatio(json, "speedup", row.Speedup());
    json.Field("verdict", NameOf(row.against_first.Verdict()));
    json.Field("pairs", row.against_first.size());
  }
  json.FieldUnlessEmpty("reason", row.why_not);
  json.EndObject();
}

}  // namespace

std::string TuneJson(const TuneView& view) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Key("settings");
  json.BeginArray();
  for (const TuneRow& row : view.table.rows) WriteRow(json, row);
  json.EndArray();
  json.Field("best", view.table.best);
  json.Field("compared", view.table.by_samples ? "samples" : "steps");
  json.Field("rounds", view.table.rounds);
  json.Field("short_of_time", view.table.was_short_of_time);
  json.EndObject();
  return out + "\n";
}

std::string ExchangeJson(const ExchangeCost& cost, int ranks) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("ranks", ranks);
  json.Field("step_time_ms", cost.step_ms);
  json.Field("step_time_without_exchange_ms", cost.without_ms);
  json.Field("step_time_alone_ms", cost.alone_ms);
  json.Field("compute_share", cost.Compute());
  json.Field("overhead_share", cost.Overhead());
  json.Field("communication_share", cost.Communication());
  WriteRatio(json, "speedup", cost.speedup);
  json.Field("verdict", NameOf(cost.verdict));
  json.Field("rounds", cost.rounds);
  if (cost.samples_per_second > 0) json.Field("samples_per_second", cost.samples_per_second);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
