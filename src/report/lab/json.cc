// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "report/lab/lab.h"

namespace gapless::internal {
namespace {

void WriteRatioOf(JsonWriter& json, std::string_view key, const std::optional<LabRatio>& ratio) {
  if (!ratio) return;
  json.Key(key);
  json.BeginObject();
  json.Field("low", ratio->low);
  json.Field("expected", ratio->expected);
  json.Field("high", ratio->high);
  json.EndObject();
}

void WriteLosses(JsonWriter& json, const std::vector<double>& losses) {
  if (losses.empty()) return;
  json.Key("losses");
  json.BeginArray();
  for (const double loss : losses) json.Real(loss);
  json.EndArray();
}

void WriteStages(JsonWriter& json, std::string_view key, const std::vector<LabStage>& stages) {
  json.Key(key);
  json.BeginArray();
  for (const LabStage& stage : stages) {
    json.BeginObject();
    json.Field("name", stage.name);
    json.Field("step_time_ms", stage.step_ms);
    json.Field("samples_per_second", stage.samples_per_second);
    WriteRatioOf(json, "predicted", stage.predicted);
    WriteRatioOf(json, "measured", stage.measured);
    json.Field("memory_bytes", stage.memory_bytes);
    json.FieldUnlessEmpty("memory_source", stage.memory_source);
    json.Field("gpu_utilization", stage.gpu_utilization);
    json.FieldUnlessEmpty("gpu_utilization_source", stage.gpu_utilization_source);
    json.Field("loss", stage.loss);
    json.Field("metric", stage.metric);
    WriteLosses(json, stage.losses);
    if (!stage.noise.empty()) {
      json.Key("noise");
      json.BeginArray();
      for (const std::string& seen : stage.noise) json.String(seen);
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteBottlenecks(JsonWriter& json, const std::vector<Bottleneck>& bottlenecks) {
  json.Key("bottlenecks");
  json.BeginArray();
  for (const Bottleneck& found : bottlenecks) {
    json.BeginObject();
    json.Field("id", found.id);
    json.Field("type", ToString(found.type));
    json.Field("severity", found.severity);
    json.Field("title", found.title);
    json.Field("share_of_step", found.share_of_step);
    if (found.gain) WriteRatioOf(json, "gain", LabRatio{found.gain->low, found.gain->high, found.gain->expected});
    json.EndObject();
  }
  json.EndArray();
}

void WriteRecording(JsonWriter& json, const LabRecording& of) {
  json.BeginObject();
  json.Field("name", of.name);
  json.FieldUnlessEmpty("device", of.device);
  json.Field("steps", of.steps);
  json.Field("step_ns", of.step_ns);
  json.Field("step_p95_ns", of.step_p95_ns);
  json.Field("recording_added_share", of.added_share);
  json.Field("gpu_utilization", of.gpu_utilization);
  json.FieldUnlessEmpty("gpu_utilization_source", of.gpu_utilization_source);
  json.Field("cpu_utilization", of.cpu_utilization);
  json.FieldUnlessEmpty("class", of.run_class);
  json.Field("operators_per_step", of.operators);
  json.Field("launches_per_step", of.launches);
  WriteBottlenecks(json, of.bottlenecks);
  if (of.potential)
    WriteRatioOf(json, "estimated_speedup", LabRatio{of.potential->low, of.potential->high, of.potential->expected});
  json.Key("operators");
  json.BeginArray();
  for (const LabOperator& shown : of.top) {
    json.BeginObject();
    json.Field("name", shown.name);
    json.Field("calls_per_step", shown.calls);
    json.Field("self_ns_per_step", shown.self_ns);
    json.EndObject();
  }
  json.EndArray();
  WriteLosses(json, of.losses);
  json.EndObject();
}

void WriteReasons(JsonWriter& json, std::string_view key, const std::vector<LabReason>& reasons) {
  json.Key(key);
  json.BeginArray();
  for (const LabReason& reason : reasons) {
    json.BeginObject();
    json.Field("fix", reason.fix);
    json.Field("reason", reason.text);
    json.EndObject();
  }
  json.EndArray();
}

void WriteOptimization(JsonWriter& json, const LabOptimization& of) {
  json.BeginObject();
  json.Field("name", of.name);
  json.Field("command", of.command);
  json.FieldUnlessEmpty("about", of.about);
  json.Field("proved", of.proved);
  json.FieldUnlessEmpty("conclusion", of.conclusion);
  WriteRatioOf(json, "speedup", of.speedup);
  WriteStages(json, "table", of.stages);
  WriteReasons(json, "refused", of.refused);
  WriteReasons(json, "untried", of.untried);
  json.FieldUnlessEmpty("training", of.training);
  json.EndObject();
}

void WriteScaling(JsonWriter& json, const LabScaling& scaling) {
  json.BeginObject();
  json.Field("name", scaling.name);
  json.Field("scaling", scaling.kind);
  json.Key("points");
  json.BeginArray();
  for (const LabScalingPoint& point : scaling.points) {
    json.BeginObject();
    json.Field("ranks", point.ranks);
    json.Field("step_time_ms", point.step_ms);
    json.Field("samples_per_second", point.samples_per_second);
    json.Field("speedup", point.speedup);
    json.Field("efficiency", point.efficiency);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

template <class Items, class Write>
void WriteAll(JsonWriter& json, std::string_view key, const Items& items, Write write) {
  json.Key(key);
  json.BeginArray();
  for (const auto& item : items) write(json, item);
  json.EndArray();
}

}  // namespace

std::string LabJson(const LabView& view) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("style", "lab");
  WriteAll(json, "recordings", view.recordings, WriteRecording);
  WriteAll(json, "optimizations", view.optimizations, WriteOptimization);
  WriteStages(json, "stages", view.stages);
  WriteAll(json, "scaling", view.scalings, WriteScaling);
  WriteAll(json, "tuning", view.tunings, [](JsonWriter& to, const LabTuning& tuning) {
    to.BeginObject();
    to.Field("name", tuning.name);
    WriteStages(to, "settings", tuning.settings);
    to.Field("best", tuning.best);
    to.EndObject();
  });
  WriteAll(json, "history", view.histories, [](JsonWriter& to, const LabHistory& history) {
    to.BeginObject();
    to.Field("heading", history.heading);
    to.EndObject();
  });
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
