// SPDX-License-Identifier: Apache-2.0
// `gapless predict --json`; docs/PREDICTION.md says what each field means.
#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/predict/report.h"

namespace gapless::internal {
namespace {

void WriteShares(JsonWriter& json, std::string_view key, const StepShares& shares) {
  json.Key(key);
  json.BeginObject();
  json.Field("low", shares.low);
  json.Field("expected", shares.expected);
  json.Field("high", shares.high);
  json.EndObject();
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& one : texts) json.String(one);
  json.EndArray();
}

void WritePrediction(JsonWriter& json, const Predictor& predictor, const Prediction& prediction) {
  json.BeginObject();
  json.Key("what");
  json.BeginArray();
  for (const WhatIfItem& item : prediction.what) json.String(item.ToString());
  json.EndArray();
  json.FieldUnlessEmpty("reason", prediction.refusal);
  if (prediction.refusal.empty()) {
    const StepShares& share = prediction.share;
    json.Key("step_ns");
    json.BeginObject();
    json.Field("low", StepNs(predictor, share.low));
    json.Field("expected", StepNs(predictor, share.expected));
    json.Field("high", StepNs(predictor, share.high));
    json.EndObject();
    WriteShares(json, "speedup", {.low = 1 / share.high, .expected = 1 / share.expected, .high = 1 / share.low});
    WriteShares(json, "model", prediction.model);
    if (prediction.work != 1) json.Field("work", prediction.work);
    json.Field("safety", ToString(prediction.safety));
    WriteTexts(json, "assumptions", prediction.assumptions);
    WriteTexts(json, "no_effect", prediction.nothing);
    json.Key("tested");
    json.BeginArray();
    for (const WhatIfItem& item : prediction.what) {
      const auto tested = predictor.calibration().TestedOf(item.name);
      json.BeginObject();
      json.Field("kind", item.name);
      json.Field("machine", NameOf(predictor.machine()));
      json.Field("programs", static_cast<int64_t>(tested.programs));
      json.Field("within_share", tested.within);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

void WritePath(JsonWriter& json, const RankGraph& rank, const CriticalPath& path) {
  json.Key("critical_path");
  json.BeginObject();
  json.Field("total_ns", path.total_ns);
  json.Key("by_bound");
  json.BeginObject();
  for (size_t bound = 0; bound < kBounds; ++bound) json.Field(NameOf(static_cast<Bound>(bound)), path.by_bound[bound]);
  json.EndObject();
  for (size_t owner = 0; owner < kPathOwners; ++owner) {
    json.Key(StrCat("by_", NameOf(static_cast<PathOwner>(owner))));
    json.BeginArray();
    for (const PathShare& share : SharesBy(rank, path, static_cast<PathOwner>(owner))) {
      json.BeginObject();
      json.Field("name", share.name);
      json.Field("ns", share.ns);
      json.Field("parts", share.parts);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

void WriteSweep(JsonWriter& json, const PredictView& view) {
  json.Key("sweep");
  json.BeginObject();
  json.Field("by", view.sweep_by);
  json.Key("costs");
  json.BeginArray();
  for (const double cost : kSweepCosts) json.Real(cost);
  json.EndArray();
  json.Key("parts");
  json.BeginArray();
  for (const SweptPart& part : view.sweep) {
    json.BeginObject();
    json.Field("name", part.name);
    json.Field("time_ns", part.time_ns);
    json.Key("step_shares");
    json.BeginArray();
    for (const double share : part.shares) json.Real(share);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string PredictJson(const PredictView& view) {
  const Predictor& predictor = view.predictor;
  const SelfCheck& check = predictor.check();
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("accepted", check.accepted());
  json.FieldUnlessEmpty("reason", check.refusal);
  json.Field("replay_error_share", check.error);
  json.Field("step_ns", check.recorded_step_ns);
  json.Field("ranks", static_cast<int64_t>(predictor.job().ranks.size()));
  json.FieldUnlessEmpty("ranks_apart_reason", predictor.apart());
  json.Key("self_check");
  json.BeginArray();
  for (const Response& response : check.responses) {
    json.BeginObject();
    json.Field("what", response.what);
    json.Field("share", response.share);
    json.Field("low", response.low);
    json.Field("high", response.high);
    json.EndObject();
  }
  json.EndArray();
  json.Key("predictions");
  json.BeginArray();
  for (const Prediction& prediction : view.predictions) WritePrediction(json, predictor, prediction);
  json.EndArray();
  if (view.measured) {
    const Prediction& prediction = view.predictions[0];
    json.Key("measured");
    json.BeginObject();
    json.Field("step_ns", StepNs(predictor, *view.measured));
    json.Field("speedup", 1 / *view.measured);
    if (prediction.refusal.empty()) {
      json.Field("error_share", prediction.share.expected / *view.measured - 1);
      json.Field("within", IsWithin(prediction.share, *view.measured));
    }
    json.EndObject();
  }
  if (view.path) WritePath(json, predictor.main_rank(), *view.path);
  if (!view.sweep.empty()) WriteSweep(json, view);
  json.EndObject();
  return out + "\n";
}

std::string WhatIfsJson() {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginArray();
  for (const WhatIf* one : AllWhatIfs()) {
    json.BeginObject();
    json.Field("name", one->name);
    json.FieldUnlessEmpty("value", std::string(one->value));
    json.Field("safety", ToString(SafetyOf(*one)));
    json.Field("help", one->help);
    json.EndObject();
  }
  json.EndArray();
  return out + "\n";
}

}  // namespace gapless::internal
