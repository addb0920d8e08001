// SPDX-License-Identifier: Apache-2.0
// Metrics of slices of a GPU (MIG) are left out: their sum is not the GPU's value.
#include "ingest/readers/gpu_samples/prometheus.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal::gpu_samples {
namespace {

using Labels = std::map<std::string, std::string, std::less<>>;

bool IsMetricName(std::string_view line) { return line.starts_with("DCGM_FI_") || line.starts_with("nvidia_smi_"); }

std::optional<double> NumberIn(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Reads `name="value",…` up to the closing brace, which is passed over; false: it does not close.
bool TakeLabels(std::string_view& text, Labels& labels) {
  while (!text.empty() && text.front() != '}') {
    const size_t equals = text.find("=\"");
    if (equals == text.npos) return false;
    const std::string name(text.substr(0, equals));
    std::string value;
    size_t at = equals + 2;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    if (at >= text.size()) return false;
    labels[name] = value;
    text.remove_prefix(at + 1);
    while (!text.empty() && (text.front() == ',' || text.front() == ' ')) text.remove_prefix(1);
  }
  if (text.empty()) return false;
  return text.remove_prefix(1), true;
}

std::string LabelOf(const Labels& labels, std::string_view name) {
  const auto at = labels.find(name);
  return at == labels.end() ? std::string() : at->second;
}

// The GPU of a metric: hosts that number theirs alike have different ids.
std::optional<int32_t> DeviceOfLabels(const Labels& labels, SampleSink& sink) {
  if (!LabelOf(labels, "GPU_I_ID").empty()) return std::nullopt;
  const std::string number = LabelOf(labels, "gpu");
  std::string key = LabelOf(labels, "UUID");
  if (key.empty()) key = LabelOf(labels, "uuid");
  if (key.empty()) key = StrCat(LabelOf(labels, "Hostname"), LabelOf(labels, "instance"), "/", number);
  const auto wanted = NumberIn(number);
  if (!number.empty() && (!wanted || *wanted < 0 || *wanted > 4096)) return std::nullopt;
  const int32_t device = sink.DeviceOf(key, wanted ? static_cast<int32_t>(*wanted) : -1);
  DeviceRow& described = sink.Device(device);
  described.device = device, described.vendor = Vendor::kNvidia;
  if (const std::string name = LabelOf(labels, "modelName"); !name.empty()) described.name = name;
  if (const std::string id = LabelOf(labels, "UUID"); !id.empty()) described.uuid = id;
  return device;
}

}  // namespace

bool HasMetrics(std::string_view head) {
  for (const std::string_view line : Split(head, '\n'))
    if (IsMetricName(line) && (line.find('{') != line.npos || line.find(' ') != line.npos)) return true;
  return false;
}

bool MetricLines::TakeLine(std::string_view line) {
  if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) return true;
  if (!IsMetricName(line)) return false;
  const size_t stop = line.find_first_of("{ ");
  if (stop == line.npos) return false;
  const std::string name(line.substr(0, stop));
  std::string_view rest = line.substr(stop);
  Labels labels;
  if (rest.front() == '{' && (rest.remove_prefix(1), !TakeLabels(rest, labels)))
    return sink_.CountContradiction(), true;
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(rest, ' '))
    if (!word.empty()) words.push_back(word);
  const Column column = MetricColumn(name);
  if (column.kind == Column::Kind::kIgnored) return sink_.CountUnread(name), true;
  const auto device = DeviceOfLabels(labels, sink_);
  const auto value = words.empty() ? std::nullopt : NumberIn(words[0]);
  if (!device || !value) return true;
  const auto stamp = words.size() > 1 ? sink_.TimeIn(words[1]) : std::nullopt;
  if (stamp) {
    sink_.Add(column.series, column.unit, *device, *stamp, *value * column.factor);
    return true;
  }
  // The same metric of the same GPU again: the next answer of the exporter.
  std::set<std::string>& names = names_[*device];
  if (names.empty() || !names.insert(name).second) {
    names = {name};
    moments_[*device] = sink_.NextMoment(*device);
  }
  sink_.Add(column.series, column.unit, *device, moments_[*device], *value * column.factor);
  return true;
}

bool ReadPrometheusJson(const JsonValue& document, SampleSink& sink) {
  const JsonValue& result = document.Get("data").Get("result");
  if (!result.is_array()) return false;
  for (const JsonValue& series : result.items()) {
    const JsonValue& metric = series.Get("metric");
    Labels labels;
    for (size_t i = 0; i < metric.keys().size(); ++i)
      if (const std::string* text = metric.items()[i].Text()) labels[metric.keys()[i]] = *text;
    const std::string name = LabelOf(labels, "__name__");
    const Column column = MetricColumn(name);
    if (column.kind == Column::Kind::kIgnored) {
      sink.CountUnread(name.empty() ? "a series without a name" : name);
      continue;
    }
    const auto device = DeviceOfLabels(labels, sink);
    if (!device) continue;
    const auto add = [&](const JsonValue& pair) {
      if (pair.items().size() != 2) return sink.CountContradiction();
      const auto seconds = pair.items()[0].Number(), value = pair.items()[1].NumberIn();
      if (!seconds || !(*seconds >= 0 && *seconds < 7e9)) return sink.CountContradiction();
      if (value && std::isfinite(*value))  // "NaN": nothing was measured
        sink.Add(column.series, column.unit, *device, std::llround(*seconds * 1e9), *value * column.factor);
    };
    for (const JsonValue& pair : series.Get("values").items()) add(pair);
    if (const JsonValue* single = series.Find("value")) add(*single);
  }
  return true;
}

}  // namespace gapless::internal::gpu_samples
