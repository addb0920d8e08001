// SPDX-License-Identifier: Apache-2.0
// The rows of a launch come in the order of ncu's table: what describes it, metrics by name, then rules by section.
#include "ingest/readers/ncu_rep/results.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/strings.h"
#include "ingest/readers/ncu_csv/printed.h"
#include "ingest/readers/ncu_rep/samples.h"
#include "ingest/readers/ncu_rep/units.h"

namespace gapless::internal::ncu_rep {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// "(64, 1, 1)", as ncu prints the size of a grid or a block.
std::string SizeOf(std::string_view message) {
  int64_t sizes[3] = {0, 0, 0};
  for (WireReader fields(message); fields.Next();)
    if (fields.number() <= 3 && !fields.is_bytes()) sizes[fields.number() - 1] = fields.Int();
  return StrCat('(', sizes[0], ", ", sizes[1], ", ", sizes[2], ')');
}

// A value: a text, or a number of one of four types.
struct Value {
  double number = kNan;
  std::string_view text{};
};
bool TakeValue(std::string_view message, Value& value) {
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1 && fields.is_bytes()) value.text = fields.bytes();
    if (fields.is_bytes()) continue;
    if (fields.number() == 2 || fields.number() == 3) value.number = fields.Real();
    if (fields.number() == 4 || fields.number() == 5) value.number = static_cast<double>(fields.Unsigned());
  }
  return !fields.damaged();
}

struct Section {
  std::string id{}, name{};
  int64_t order = 0;
};
bool TakeSection(std::string_view message, Section& section) {
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1 && fields.is_bytes()) section.id = fields.bytes();
    if (fields.number() == 2 && fields.is_bytes()) section.name = fields.bytes();
    if (fields.number() == 3 && !fields.is_bytes()) section.order = fields.Int();
  }
  return !fields.damaged();
}

std::string_view NameOfFile(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

struct Results::Launch {
  std::string mangled{}, function{}, demangled{}, grid{}, block{}, context{}, stream{};
  std::vector<Metric> metrics{};
  std::vector<Rule> rules{};
  std::map<std::string, int64_t, std::less<>> order_of_section{};
  Samples samples{};
  uint64_t program = 0;  // whose code it runs
  bool damaged = false;

  std::string_view Kernel() const { return !demangled.empty() ? demangled : !function.empty() ? function : mangled; }
  double NumberOf(std::string_view metric) const {
    const auto found = std::ranges::find(metrics, metric, &Metric::name);
    return found == metrics.end() ? kNan : found->value;
  }
};

std::string PlainText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t at = text.find('@'), end = at == std::string_view::npos ? at : text.find('@', at + 1);
    if (end == std::string_view::npos) break;
    const std::string_view link = text.substr(at + 1, end - at - 1);
    const size_t kind = link.find(':'), name = kind == std::string_view::npos ? kind : link.find(':', kind + 1);
    const bool section = link.starts_with("section:"), url = link.starts_with("url:");
    if (name == std::string_view::npos || (!section && !url)) {  // no link: the next @ may begin one
      out += text.substr(0, end);
      text.remove_prefix(end);
      continue;
    }
    out += text.substr(0, at);
    if (section) out += link.substr(name + 1);
    if (url) out += StrCat(link.substr(kind + 1, name - kind - 1), " (", link.substr(name + 1), ')');
    text.remove_prefix(end + 1);
  }
  return out + std::string(text);
}

void Results::Begin(const Block& block) {
  for (const std::string& name : block.names) {
    names_.push_back(name);
    units_.emplace_back();
  }
  if (block.pid >= 0) pid_ = block.pid;
  if (!block.process.empty()) process_ = NameOfFile(block.process);
}

void Results::Take(std::string_view message) {
  Launch launch;
  WireReader fields(message);
  while (fields.Next()) TakeField(fields, launch);
  damaged_ += fields.damaged() || launch.damaged;
  AddLaunch(launch);
  launch.samples.AddRows({.kernel = launch.Kernel(),
                          .mangled = launch.mangled,
                          .function = launch.function,
                          .launch = launches_,
                          .program = launch.program},
                         code_, builder_);
  ++launches_;
}

void Results::TakeField(const WireReader& field, Launch& launch) {
  const std::string_view bytes = field.bytes();
  switch (field.number()) {
    case 5: launch.mangled = bytes; break;
    case 6: launch.function = bytes; break;
    case 7: launch.demangled = bytes; break;
    case 10: launch.grid = SizeOf(bytes); break;
    case 11: launch.block = SizeOf(bytes); break;
    case 13: TakeMetric(bytes, launch); break;
    case 15:
      for (WireReader source(bytes); source.Next();)
        if (source.number() == 1 && !source.is_bytes()) launch.program = source.Unsigned();
      break;
    case 17:
      if (Section section; TakeSection(bytes, section)) {
        launch.order_of_section[section.id] = section.order;
        sections_.insert(section.name);
      } else {
        launch.damaged = true;
      }
      break;
    case 19: TakeRule(bytes, launch); break;
    case 22: launch.context = StrCat(field.Unsigned()); break;
    case 23: launch.stream = StrCat(field.Unsigned()); break;
    default: break;
  }
}

// A metric without a value was not collected, or has values of single instances only.
void Results::TakeMetric(std::string_view message, Launch& launch) {
  WireReader fields(message);
  uint64_t id = 0;
  Value value;
  bool there = false, whole = true;
  std::vector<std::string_view> values;  // of single instances
  while (fields.Next()) {
    if (fields.number() == 1 && !fields.is_bytes()) id = fields.Unsigned();
    if (fields.number() == 2 && fields.is_bytes()) there = true, whole = whole && TakeValue(fields.bytes(), value);
    if (fields.number() == 3 && fields.is_bytes()) values.push_back(fields.bytes());
  }
  if (fields.damaged() || !whole || id >= names_.size()) return void(launch.damaged = true);
  const bool read = IsOfInstructions(names_[id]);
  if (read && !launch.samples.Take(names_[id], values)) launch.damaged = true;
  if (!read) instances_ += static_cast<int64_t>(values.size());
  if (units_[id].empty()) units_[id] = UnitOf(names_[id]);
  if (!value.text.empty() && ncu::IsAbsentValue(value.text)) there = false;
  if (!value.text.empty()) value.number = ncu::ParseValue(value.text, {});
  if (value.text.empty() && !std::isfinite(value.number)) there = false;
  absent_ += !there;
  if (!there) return;
  launch.metrics.push_back({.name = names_[id],
                            .unit = units_[id],
                            .text = std::isnan(value.number) ? value.text : std::string_view(),
                            .value = value.number});
}

// Takes one thing that a rule says: its message, and the speedup that it estimates. False: there is no message.
bool Results::TakeSaid(std::string_view message, Rule& rule) {
  bool said = false;
  for (WireReader parts(message); parts.Next();) {
    const bool is_message = parts.number() == 1, is_speedup = parts.number() == 10;
    if (!parts.is_bytes() || (!is_message && !is_speedup)) continue;
    for (WireReader part(parts.bytes()); part.Next();) {
      if (is_message && part.number() == 1 && part.is_bytes()) said = true, rule.text = PlainText(part.bytes());
      if (is_speedup && part.number() == 2 && !part.is_bytes()) rule.speedup = part.Real();
    }
  }
  return said;
}

// A rule says nothing, one thing or several. Its notes about lines of code are counted.
void Results::TakeRule(std::string_view message, Launch& launch) {
  std::string name, section;
  std::vector<std::string_view> bodies;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1 && fields.is_bytes()) name = fields.bytes();
    if (fields.number() == 3 && fields.is_bytes()) bodies.push_back(fields.bytes());
    if (fields.number() == 4 && fields.is_bytes()) section = fields.bytes();
    lines_ += fields.number() == 5;
  }
  launch.damaged = launch.damaged || fields.damaged();
  for (const std::string_view body : bodies) {
    for (WireReader items(body); items.Next();) {
      Rule rule{.section = section, .name = name, .text = "", .speedup = kNan};
      if (items.number() == 1 && items.is_bytes() && TakeSaid(items.bytes(), rule))
        launch.rules.push_back(std::move(rule));
    }
  }
}

void Results::Add(const Launch& launch, std::string_view metric, double value, std::string_view text,
                  std::string_view unit) {
  builder_.AddKernelMetric({.kernel_name = launch.Kernel(),
                            .launch_index = launches_,
                            .metric = metric,
                            .value = value,
                            .text = text,
                            .unit = unit});
  ++metrics_;
}

void Results::AddLaunch(Launch& launch) {
  const auto about = [&](std::string_view metric, std::string_view text) {
    if (!text.empty()) Add(launch, metric, kNan, text, "");
  };
  const auto whole = [](double number) {
    return number >= 0 && number < 1e9 ? StrCat(static_cast<int64_t>(number)) : std::string();
  };
  const std::string major = whole(launch.NumberOf("device__attribute_compute_capability_major")),
                    minor = whole(launch.NumberOf("device__attribute_compute_capability_minor"));
  about("block", launch.block);
  about("grid", launch.grid);
  about("context", launch.context);
  about("stream", launch.stream);
  about("device", whole(launch.NumberOf("device__attribute_device_index")));
  about("compute_capability", major.empty() || minor.empty() ? "" : StrCat(major, '.', minor));
  about("process_id", pid_ < 0 ? "" : StrCat(pid_));
  if (!process_.empty()) builder_.AddEnvironment("ncu.process", process_);
  std::ranges::stable_sort(launch.metrics, {}, &Metric::name);
  for (const Metric& metric : launch.metrics) Add(launch, metric.name, metric.value, metric.text, metric.unit);
  std::ranges::stable_sort(launch.rules, {}, [&](const Rule& rule) {
    const auto section = launch.order_of_section.find(rule.section);
    return section == launch.order_of_section.end() ? INT64_MAX : section->second;
  });
  for (const Rule& rule : launch.rules) {
    const bool finite = std::isfinite(rule.speedup);
    Add(launch, StrCat("rule:", rule.name), finite ? rule.speedup : kNan, rule.text, finite ? "%" : "");
  }
}

void Results::Finish() {
  if (!sections_.empty())
    builder_.AddEnvironment("ncu.sections", Join(std::vector<std::string>(sections_.begin(), sections_.end()), ", "));
  builder_.info().event_count = metrics_;
  builder_.Count("absent_values", Severity::kInfo, absent_, kAbsent, "metrics without a value were left out");
  builder_.Count("instance_values", Severity::kInfo, instances_, kAbsent,
                 "values of single units, moments or instructions were left out; the totals are there");
  builder_.Count("line_notes", Severity::kInfo, lines_, kAbsent,
                 "notes of rules about single lines of code were left out");
  builder_.Count("damaged_results", Severity::kLoss, damaged_, kAbsent,
                 "launches are damaged; what could be read of them is there");
}

}  // namespace gapless::internal::ncu_rep
