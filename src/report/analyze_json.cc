// SPDX-License-Identifier: Apache-2.0
// The documents of `gapless analyze`: the report, and one rule of it (--explain).
//
// A document is a struct whose list of fields is also its schema (base/describe.h), so the JSON and
// schema/analyze.schema.json cannot differ. Large parts are borrowed from the report, not copied. A member that is
// absent is left out; an empty list stays, unless its field says otherwise.
#include "report/analyze_json.h"

#include "base/strings.h"
#include "base/timings.h"
#include "report/about.h"
#include "report/described.h"
#include "report/explain.h"
#include "report/notes.h"

namespace gapless::internal {
namespace documents {

// A bottleneck with what its fix saves.
struct ListedBottleneck {
  Borrowed<Bottleneck> found{};
  std::optional<Saving> saving_per_month{};
  static constexpr FieldInfo kFields[] = {
      Spliced<&ListedBottleneck::found>(),
      Field<&ListedBottleneck::saving_per_month>("saving_per_month", "",
                                                 "what its fix saves; with --price, --carbon or --watts"),
  };
};

// Pointers are null where the report has no such amount.
struct Cost {
  int64_t gpus = 0;
  double hours_per_month = 0;
  std::optional<double> watts_per_gpu{};
  std::string watts_source{};
  const Amount* step = nullptr;
  const Amount* epoch = nullptr;
  Amount month{};
  static constexpr FieldInfo kFields[] = {
      Field<&Cost::gpus>("gpus", "count", "GPUs of the job"),
      Field<&Cost::hours_per_month>("hours_per_month", "h", "hours of training a month"),
      Field<&Cost::watts_per_gpu>("watts_per_gpu", "W", "power of a GPU"),
      Field<&Cost::watts_source>("watts_source", "", "given, or board limit: an upper bound", kUnlessEmpty),
      Field<&Cost::step>("step", "", "cost of a step; missing: no step is complete"),
      Field<&Cost::epoch>("epoch", "", "cost of an epoch; with --epoch-steps"),
      Field<&Cost::month>("month", "", "cost of a month"),
  };
};

// A recording of the run, as it was read.
struct RunPart {
  int64_t trace = 0;
  std::optional<int64_t> rank{};
  int64_t execution = 0;
  Role role = Role::kPrimary;
  std::string format{}, path{};
  int64_t dur_ns = 0, event_count = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&RunPart::trace>("trace", "count", "key of table trace"),
      Field<&RunPart::rank>("rank", "count", "rank of the process; missing: none was recorded"),
      Field<&RunPart::execution>("execution", "count", "execution of the program that was recorded"),
      Field<&RunPart::role>("role", "", "primary recordings are counted, supplements complete them"),
      Field<&RunPart::format>("format", "", "format of the file"),
      Field<&RunPart::path>("path", "", "file that was read"),
      Field<&RunPart::dur_ns>("dur_ns", "ns", "from the first to the last event"),
      Field<&RunPart::event_count>("event_count", "count", "events that were read"),
  };
};

// A row of table read_stats.
struct ReadNote {
  int64_t trace = 0;
  std::optional<int64_t> rank{};
  std::string_view kind{};
  Severity severity = Severity::kInfo;
  int64_t count = 0;
  std::optional<int64_t> first_offset{};
  std::string_view text{};
  static constexpr FieldInfo kFields[] = {
      Field<&ReadNote::trace>("trace", "count", "key of table trace"),
      Field<&ReadNote::rank>("rank", "count", "rank of the process; missing: none was recorded"),
      Field<&ReadNote::kind>("kind", "", "kind of the note"),
      Field<&ReadNote::severity>("severity", "", "info, or that events were lost, or that the file is wrong"),
      Field<&ReadNote::count>("count", "count", "events that the note is about"),
      Field<&ReadNote::first_offset>("first_offset", "bytes", "position of the first of them in the file"),
      Field<&ReadNote::text>("text", "", "the note as a sentence"),
  };
};

struct FailedRule {
  std::string rule{}, message{};
  static constexpr FieldInfo kFields[] = {
      Field<&FailedRule::rule>("rule", "", "id of the rule"),
      Field<&FailedRule::message>("message", "", "why it could not run"),
  };
};

// A part of the program's own time, in ms of wall time.
struct PartTiming {
  std::string part{}, name{};
  int64_t calls = 0;
  double ms = 0;
  int64_t fresh_bytes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&PartTiming::part>("part", "", "kind of work"),
      Field<&PartTiming::name>("name", "", "analysis, rule or what-if", kUnlessEmpty),
      Field<&PartTiming::calls>("calls", "count", "number of calls"),
      Field<&PartTiming::ms>("ms", "ms", "wall time of the calls, without the parts that they contain"),
      Field<&PartTiming::fresh_bytes>("fresh_bytes", "bytes", "memory that the system gave to the thread meanwhile"),
  };
};

// The whole document, in the order in which it is written.
struct Analyze {
  Borrowed<RunSummary> run{};
  Borrowed<std::vector<DeviceBreakdown>> breakdown{};
  Borrowed<std::vector<HostBreakdown>> host_breakdown{};
  std::vector<ListedBottleneck> bottlenecks{};
  Borrowed<std::vector<PlanStep>> plan{};
  const Gain* estimated_speedup = nullptr;
  const Combination* together = nullptr;
  std::optional<Cost> cost{};
  std::vector<RunPart> traces{};
  std::vector<ReadNote> read_stats{};
  std::vector<Error> failures{};
  std::vector<FailedRule> failed_rules{};
  std::vector<std::string> next{};
  std::vector<PartTiming> timings{};
  static constexpr FieldInfo kFields[] = {
      Field<&Analyze::run>("run", "", "the run as a whole"),
      Field<&Analyze::breakdown>("breakdown", "",
                                 "one item per recording and device: compute_ns + exposed_comm_ns + exposed_copy_ns + "
                                 "idle_ns = wall_ns, and the idle_…_ns add up to idle_ns",
                                 kUnlessEmpty),
      Field<&Analyze::host_breakdown>("host_breakdown", "",
                                      "one item per process, where none used a device: the parts add up to wall_ns",
                                      kUnlessEmpty),
      Field<&Analyze::bottlenecks>("bottlenecks", "", "ranked by expected gain, then severity"),
      Field<&Analyze::plan>("plan", "", "the fixes worth making, each once, in the order of the list"),
      Field<&Analyze::estimated_speedup>("estimated_speedup", "", "gain of `together`"),
      Field<&Analyze::together>("together", "", "what the whole plan saves"),
      Field<&Analyze::cost>("cost", "", "of all GPUs of the job; with --price, --carbon or --watts"),
      Field<&Analyze::traces>("traces", "", "recordings of the run"),
      Field<&Analyze::read_stats>("read_stats", "", "what was noted while they were read"),
      Field<&Analyze::failures>("failures", "", "inputs that could not be read, while others could", kUnlessEmpty),
      Field<&Analyze::failed_rules>("failed_rules", "", "rules that could not run", kUnlessEmpty),
      Field<&Analyze::next>("next", "", "command lines that continue from here, the first one first", kUnlessEmpty),
      Field<&Analyze::timings>("timings", "", "the program's own time, the longest part first; with --timings",
                               kUnlessEmpty),
  };
};

struct RuleInput {
  std::string_view table{};
  size_t rows = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&RuleInput::table>("table", "", "analysis that the rule reads"),
      Field<&RuleInput::rows>("rows", "count", "rows that it has in this run"),
  };
};

// A rule as it is defined, independent of the run.
struct ExplainedRule {
  std::string_view id{};
  BottleneckType type = BottleneckType::kKernelEfficiency;
  std::string_view title{}, definition{};
  std::vector<RuleInput> reads{};
  static constexpr FieldInfo kFields[] = {
      Field<&ExplainedRule::id>("id", "", "id of the rule"),
      Field<&ExplainedRule::type>("type", "", "kind of bottleneck that it reports"),
      Field<&ExplainedRule::title>("title", "", "the rule in a few words"),
      Field<&ExplainedRule::definition>("definition", "", "what is measured, and from when it is reported"),
      Field<&ExplainedRule::reads>("reads", "", "its inputs"),
  };
};

// The document of --explain. An empty list of bottlenecks means that the rule was not reported.
struct Explain {
  ExplainedRule rule{};
  std::vector<ListedBottleneck> bottlenecks{};
  static constexpr FieldInfo kFields[] = {
      Field<&Explain::rule>("rule", "", "the rule that was asked for"),
      Field<&Explain::bottlenecks>("bottlenecks", "", "what it reports in this run"),
  };
};

}  // namespace documents

namespace {

using namespace documents;

// Returns the value's address, which a document may hold while the report lives; null if it is absent.
template <class T>
const T* PointerTo(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

// A saving needs a price and a gain; it is of what the fixes above leave.
ListedBottleneck Listed(const Bottleneck& found, const Report& report) {
  ListedBottleneck listed{.found = {&found}};
  if (report.cost && found.gain) listed.saving_per_month = SavingPerMonth(*report.cost, *found.gain, found.step_left);
  return listed;
}

Cost CostOf(const RunCost& cost) {
  return {.gpus = cost.gpus,
          .hours_per_month = cost.hours_per_month,
          .watts_per_gpu = cost.watts_per_gpu,
          .watts_source = !cost.watts_per_gpu    ? ""
                          : cost.watts_are_limit ? "board limit"
                                                 : "given",
          .step = PointerTo(cost.step),
          .epoch = PointerTo(cost.epoch),
          .month = cost.month};
}

// Describes one recording of the run; its rank stays absent if none was recorded.
RunPart PartOf(const RunTrace& trace) {
  const TraceInfo& info = trace.trace->info;
  RunPart part{.trace = trace.index,
               .execution = trace.execution,
               .role = trace.role,
               .format = std::string(info.format),
               .path = info.path,
               .dur_ns = info.dur_ns,
               .event_count = static_cast<int64_t>(info.event_count)};
  if (trace.rank() != kAbsent) part.rank = trace.rank();
  return part;
}

// Adds everything that the reader noted, mere information included, as data; `warnings` has the sentences.
void AddReadNotes(const RunTrace& trace, std::vector<ReadNote>& notes) {
  const ReadStatsTable& stats = trace.trace->read_stats;
  for (size_t row = 0; row < stats.size(); ++row) {
    ReadNote& note = notes.emplace_back(ReadNote{.trace = trace.index,
                                                 .kind = trace.trace->Text(stats.kind[row]),
                                                 .severity = stats.severity[row],
                                                 .count = stats.count[row],
                                                 .text = trace.trace->Text(stats.text[row])});
    if (trace.rank() != kAbsent) note.rank = trace.rank();
    if (stats.first_offset[row] != kAbsent) note.first_offset = stats.first_offset[row];
  }
}

// Returns the notes on losses and errors, for the member `warnings`.
std::vector<std::string> WarningsOf(const Report& report) {
  std::vector<std::string> warnings;
  for (const Note& note : NotesOf(report))
    if (note.severity != Severity::kInfo) warnings.push_back(note.text);
  return warnings;
}

}  // namespace

constinit const TypeInfo kAnalyzeDocument = describe::MakeType<Analyze>();
constinit const TypeInfo kExplainDocument = describe::MakeType<Explain>();

// Timings are empty unless the program measures itself (--timings).
void WriteAnalyzeJson(JsonWriter& json, const Report& report,
                      const std::function<bool(const RunTrace&)>& shows_recording) {
  const RunSummary& summary = report.summary;
  Analyze document{.run = {&summary},
                   .breakdown = {&summary.breakdown},
                   .host_breakdown = {&summary.host_breakdown},
                   .plan = {&summary.plan},
                   .estimated_speedup = PointerTo(summary.estimated_speedup),
                   .together = PointerTo(summary.together),
                   .failures = {report.failures.begin(), report.failures.end()}};
  for (const Bottleneck& found : report.diagnosis.bottlenecks) document.bottlenecks.push_back(Listed(found, report));
  if (report.cost) document.cost = CostOf(*report.cost);
  for (const RunTrace& trace : report.run.traces()) {
    if (shows_recording && !shows_recording(trace)) continue;
    document.traces.push_back(PartOf(trace));
    AddReadNotes(trace, document.read_stats);
  }
  for (const Diagnosis::Failure& failure : report.diagnosis.failures)
    document.failed_rules.push_back({std::string(failure.rule), failure.error.message});
  document.next = NextOf(report).lines;
  for (const Timing& timing : CollectTimings())
    document.timings.push_back(
        {timing.part, timing.name, timing.calls, static_cast<double>(timing.ns) / 1e6, timing.fresh_bytes});
  WriteDocument(json, "analyze", kAnalyzeDocument, &document, WarningsOf(report));
}

// Counts the rows of each input: an input without rows is why a rule could not report anything.
std::string ExplainJson(const Report& report, const Rule& rule) {
  Explain document{.rule = {.id = rule.id, .type = rule.type, .title = rule.title, .definition = rule.why}};
  for (const std::string_view need : rule.needs) document.rule.reads.push_back({need, report.tables.Get(need).rows()});
  for (const Bottleneck& found : report.diagnosis.bottlenecks)
    if (found.id == rule.id) document.bottlenecks.push_back(Listed(found, report));
  return DocumentOf("analyze", kExplainDocument, &document, WarningsOf(report));
}

}  // namespace gapless::internal
