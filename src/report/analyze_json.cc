// SPDX-License-Identifier: Apache-2.0
#include "report/analyze_json.h"

#include "base/strings.h"
#include "base/timings.h"
#include "report/json_parts.h"

namespace gapless::internal {
namespace {

void Optional(JsonWriter& json, std::string_view key, int64_t value) {
  if (value != kAbsent) json.Field(key, value);
}

void WriteRun(JsonWriter& json, const RunSummary& summary) {
  json.Key("run");
  json.BeginObject();
  json.Key("ranks");
  json.BeginArray();
  for (const int64_t rank : summary.ranks) json.Int(rank);
  json.EndArray();
  json.FieldUnlessEmpty("workload", summary.workload);
  if (summary.steps > 0) json.Field("steps", summary.steps);
  if (summary.step_ns) {
    json.Key("step_ns");
    json.BeginObject();
    json.Field("median", summary.step_ns->median);
    json.Field("p50", summary.step_ns->p50);
    json.Field("p95", summary.step_ns->p95);
    json.Field("p99", summary.step_ns->p99);
    json.EndObject();
  }
  json.Field("gpu_busy_share", summary.gpu_busy_share);
  json.Field("gpu_utilization", summary.gpu_utilization);
  json.FieldUnlessEmpty("gpu_utilization_source", summary.gpu_utilization_source);
  json.Field("mean_step_ns", summary.mean_step_ns);
  json.FieldUnlessEmpty("class", summary.run_class);
  json.FieldUnlessEmpty("limit", summary.limit);
  json.FieldUnlessEmpty("class_evidence", summary.class_evidence);
  json.Field("matrix_time_share", summary.matrix_time_share);
  json.Field("matrix_unit_share", summary.matrix_unit_share);
  json.Field("pageable_share", summary.pageable_share);
  json.Field("mfu", summary.mfu);
  if (summary.mfu) json.Field("mfu_coverage", summary.mfu_coverage);
  if (summary.scaling) {
    json.Key("scaling");
    json.BeginObject();
    json.Field("devices", summary.scaling->devices);
    if (summary.scaling->step_ns > 0) json.Field("step_ns", summary.scaling->step_ns);
    json.Field("efficiency", summary.scaling->efficiency);
    json.Field("estimated", summary.scaling->estimated);
    json.EndObject();
  }
  json.EndObject();
}

void WriteBreakdown(JsonWriter& json, const RunSummary& summary) {
  if (summary.breakdown.empty()) return;
  json.Key("breakdown");
  json.BeginArray();
  for (const DeviceBreakdown& device : summary.breakdown) {
    json.BeginObject();
    json.Field("trace", device.trace);
    json.Field("rank", device.rank);
    json.Field("device", device.device);
    json.FieldUnlessEmpty("device_name", device.device_name);
    json.Field("wall_ns", device.wall_ns);
    json.Field("compute_ns", device.compute_ns);
    json.Field("exposed_comm_ns", device.exposed_comm_ns);
    json.Field("exposed_copy_ns", device.exposed_copy_ns);
    json.Field("idle_ns", device.idle_ns);
    json.Field("idle_data_ns", device.idle_data_ns);
    json.Field("idle_launch_ns", device.idle_launch_ns);
    json.Field("idle_sync_ns", device.idle_sync_ns);
    json.Field("idle_host_ns", device.idle_host_ns);
    json.Field("idle_unknown_ns", device.idle_unknown_ns);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTraces(JsonWriter& json, const Run& run) {
  json.Key("traces");
  json.BeginArray();
  for (const RunTrace& trace : run.traces()) {
    const TraceInfo& info = trace.trace->info;
    json.BeginObject();
    json.Field("trace", trace.index);
    Optional(json, "rank", trace.rank());
    json.Field("execution", trace.execution);
    json.Field("role", ToString(trace.role));
    json.Field("format", info.format);
    json.Field("path", info.path);
    json.Field("dur_ns", info.dur_ns);
    json.Field("event_count", info.event_count);
    json.EndObject();
  }
  json.EndArray();
}

void WriteReadStats(JsonWriter& json, const Run& run) {
  json.Key("read_stats");
  json.BeginArray();
  for (const RunTrace& trace : run.traces()) {
    const ReadStatsTable& stats = trace.trace->read_stats;
    for (size_t row = 0; row < stats.size(); ++row) {
      json.BeginObject();
      json.Field("trace", trace.index);
      Optional(json, "rank", trace.rank());
      json.Field("kind", trace.trace->Text(stats.kind[row]));
      json.Field("severity", ToString(stats.severity[row]));
      json.Field("count", stats.count[row]);
      Optional(json, "first_offset", stats.first_offset[row]);
      json.Field("text", trace.trace->Text(stats.text[row]));
      json.EndObject();
    }
  }
  json.EndArray();
}

void WriteError(JsonWriter& json, const Error& error) {
  json.BeginObject();
  json.Field("message", error.message);
  json.FieldUnlessEmpty("place", error.place);
  json.FieldUnlessEmpty("hint", error.hint);
  json.EndObject();
}

void WriteFailures(JsonWriter& json, const Report& report) {
  if (!report.failures.empty()) {
    json.Key("failures");
    json.BeginArray();
    for (const Error& error : report.failures) WriteError(json, error);
    json.EndArray();
  }
  if (report.diagnosis.failures.empty()) return;
  json.Key("failed_rules");
  json.BeginArray();
  for (const Diagnosis::Failure& failure : report.diagnosis.failures) {
    json.BeginObject();
    json.Field("rule", failure.rule);
    json.Field("message", failure.error.message);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& one : texts) json.String(one);
  json.EndArray();
}

void WritePlan(JsonWriter& json, const std::vector<PlanStep>& plan) {
  json.Key("plan");
  json.BeginArray();
  for (const PlanStep& step : plan) {
    json.BeginObject();
    json.Field("bottleneck", step.id);
    json.FieldUnlessEmpty("fix", step.fix);
    WriteTexts(json, "cures", step.cures);
    WriteGain(json, "gain", step.gain);
    WriteGain(json, "so_far", step.so_far);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTogether(JsonWriter& json, const Combination& together) {
  json.Key("together");
  json.BeginObject();
  WriteTexts(json, "bottlenecks", together.ids);
  WriteTexts(json, "fixes", together.fixes);
  WriteGain(json, "gain", together.gain);
  WriteGain(json, "replayed", together.replayed);
  WriteTexts(json, "estimated", together.estimated);
  WriteTexts(json, "left_out", together.left_out);
  WriteTexts(json, "untested", together.untested);
  json.EndObject();
}

void WriteTimings(JsonWriter& json, const std::vector<Timing>& timings) {
  if (timings.empty()) return;
  json.Key("timings");
  json.BeginArray();
  for (const Timing& timing : timings) {
    json.BeginObject();
    json.Field("part", timing.part);
    json.FieldUnlessEmpty("name", timing.name);
    json.Field("calls", timing.calls);
    json.Field("ms", static_cast<double>(timing.ns) / 1e6);
    json.Field("fresh_bytes", timing.fresh_bytes);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteAnalyzeJson(JsonWriter& json, const Report& report) {
  json.BeginObject();
  WriteJsonHeader(json);
  WriteRun(json, report.summary);
  WriteBreakdown(json, report.summary);
  json.Key("bottlenecks");
  json.BeginArray();
  for (const Bottleneck& bottleneck : report.diagnosis.bottlenecks) WriteBottleneck(json, bottleneck, report);
  json.EndArray();
  WritePlan(json, report.summary.plan);
  WriteGain(json, "estimated_speedup", report.summary.estimated_speedup);
  if (report.summary.together) WriteTogether(json, *report.summary.together);
  if (report.cost) WriteCost(json, *report.cost);
  WriteTraces(json, report.run);
  WriteReadStats(json, report.run);
  WriteFailures(json, report);
  WriteTimings(json, CollectTimings());
  json.EndObject();
}

}  // namespace gapless::internal
