// SPDX-License-Identifier: Apache-2.0
// The size of the data is bounded, not proportional to the recording: 250 rows per table (8,000 of those that are
// drawn), chosen by page_rows.h, the spans of an excerpt of the timeline (lanes/excerpt.h), and texts of at most 1,000
// columns. Texts are stored once and referred to by place, because kernel names are long and repeat. Cells are stored
// by column.
#include "report/page_data.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyses/drawn_traces.h"
#include "base/described_json.h"
#include "base/strings.h"
#include "lanes/excerpt.h"
#include "report/about.h"
#include "report/analyze_json.h"
#include "report/energy/report.h"
#include "report/notes.h"
#include "report/page_rows.h"
#include "report/rank_map.h"

namespace gapless::internal {
namespace {

constexpr int kLongestText = 1000;                        // columns; a query gives the whole
constexpr std::string_view kInTimeline = "slowest_step";  // the timeline shows what it holds

// Collects each distinct text once; its place is the order in which it was first seen.
class Texts {
 public:
  int64_t PlaceOf(std::string_view text) {
    const auto next = static_cast<int64_t>(places_.size());
    if (text.size() <= static_cast<size_t>(kLongestText)) return places_.emplace(text, next).first->second;
    return places_.emplace(Ellipsize(text, kLongestText), next).first->second;
  }
  void Write(JsonWriter& json) const {
    std::vector<std::string_view> texts(places_.size());
    for (const auto& [text, place] : places_) texts[static_cast<size_t>(place)] = text;
    json.Key("texts");
    json.BeginArray();
    for (const std::string_view text : texts) json.String(text);
    json.EndArray();
  }

 private:
  std::map<std::string, int64_t, std::less<>> places_;
};

// Writes all analyses that have rows. Prepare() computes them side by side first.
void WriteTables(JsonWriter& json, const Report& report, Texts& texts) {
  json.Key("tables");
  json.BeginArray();
  std::vector<std::string_view> names;
  for (const Analysis* analysis : AllAnalyses()) names.push_back(analysis->name);
  report.tables.Prepare(names);
  const auto ranks = report.tables.Get<RanksRows>();
  for (const Analysis* analysis : AllAnalyses()) {
    const Table& table = report.tables.Get(analysis->name);
    if (table.rows() == 0 || analysis->name == kInTimeline) continue;
    json.BeginObject();
    json.Field("name", analysis->name);
    json.Field("help", analysis->help);
    json.Field("rows", table.rows());
    if (const int sort = SortColumn(table); sort >= 0)
      json.Field("sort", table.columns()[static_cast<size_t>(sort)].name);
    WritePageColumns(json, table.columns());
    WritePageCells(json, table, RowsToShow(table, ranks),
                   [&](std::string_view text) { json.Int(texts.PlaceOf(text)); });
    json.EndObject();
  }
  json.EndArray();
}

bool HasManyRanks(const Report& report) { return report.summary.breakdown.size() >= kManyRanks; }

// Writes the words that all formats of the report share.
void WritePage(JsonWriter& json, const Report& report) {
  json.Key("page");
  json.BeginObject();
  json.Field("subject", SubjectOf(report.run));
  json.Field("path", PathToType(report.run));
  const Next next = NextOf(report);
  json.FieldUnlessEmpty("advice", next.advice);
  json.Field("query", next.query);
  if (HasManyRanks(report)) {
    int64_t events = 0;
    for (const RunTrace& of : report.run.traces()) events += of.trace->info.event_count;
    json.Field("recordings", report.run.traces().size());
    json.Field("events", events);
  }
  json.Key("facts");
  json.BeginArray();
  for (const std::string& fact : FactsOf(report)) json.String(fact);
  json.EndArray();
  json.Key("notes");
  json.BeginArray();
  for (const Note& note : NotesOf(report)) {
    json.BeginObject();
    json.Field("severity", ToString(note.severity));
    json.Field("text", note.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

// Writes the lanes of a step; a span is [start_ns, dur_ns, "bound"], as there can be thousands.
void WritePicture(JsonWriter& json, std::string_view key, const StepPicture& picture) {
  json.Key(key);
  json.BeginObject();
  json.Field("dur_ns", picture.dur_ns);
  json.Key("lanes");
  json.BeginArray();
  for (const PictureLane& lane : picture.lanes) {
    json.BeginObject();
    json.Field("name", lane.name);
    json.Key("spans");
    json.BeginArray();
    for (const PictureSpan& span : lane.spans) {
      json.BeginArray();
      json.Int(span.start_ns);
      json.Int(span.dur_ns);
      json.String(NameOf(span.bound));
      json.EndArray();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

// Writes how the step would shrink with cheaper kernels: pairs of a kernel's cost and the step's share.
void WriteSweep(JsonWriter& json, const std::vector<SweptPart>& sweep) {
  json.Key("sweep");
  json.BeginArray();
  for (const SweptPart& part : sweep) {
    json.BeginObject();
    json.Field("name", Ellipsize(part.name, kLongestText));
    json.Field("time_ns", part.time_ns);
    json.Key("points");  // pairs: cost of the kernel, step time that results
    json.BeginArray();
    for (size_t i = 0; i < kSweepCosts.size(); ++i) {
      json.BeginArray();
      json.Real(kSweepCosts[i]);
      json.Real(part.shares[i]);
      json.EndArray();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

// Writes the critical path: pairs of a name, by its place in the texts, and its time, by what it is spent on and by
// owner, the most first.
void WritePath(JsonWriter& json, const DividedPath& divided, Texts& texts) {
  constexpr size_t kShownOwners = 40;
  const auto pair = [&](std::string_view name, int64_t ns) {
    json.BeginArray();
    json.Int(texts.PlaceOf(name));
    json.Int(ns);
    json.EndArray();
  };
  json.Key("path");
  json.BeginObject();
  json.Field("total_ns", divided.path.total_ns);
  json.Key("bounds");
  json.BeginArray();
  for (size_t bound = 0; bound < kBounds; ++bound)
    if (divided.path.by_bound[bound] > 0) pair(NameOf(static_cast<Bound>(bound)), divided.path.by_bound[bound]);
  json.EndArray();
  json.Key("owners");
  json.BeginObject();
  for (size_t owner = 0; owner < kPathOwners; ++owner) {
    const std::vector<PathShare>& shares = divided.by_owner[owner];
    if (shares.empty()) continue;
    json.Key(NameOf(static_cast<PathOwner>(owner)));
    json.BeginArray();
    for (size_t i = 0; i < std::min(shares.size(), kShownOwners); ++i) pair(shares[i].name, shares[i].ns);
    json.EndArray();
  }
  json.EndObject();
  json.EndObject();
}

// Writes the energy where the power is known: a board's limit only says what it can be at most.
void WriteEnergyOf(JsonWriter& json, const Report& report) {
  CostRates rates;
  if (report.cost) rates.gpus = report.cost->gpus;
  if (report.cost && !report.cost->watts_are_limit) rates.watts_per_gpu = report.cost->watts_per_gpu;
  const auto account = EnergyOf(report.tables, report.summary, report.diagnosis.bottlenecks, rates);
  if (!account || account->source == PowerSource::kLimit) return;
  json.Key("energy");
  WriteEnergyObject(json, {.account = *account, .rates = rates});
}

// The document of --json. Of a job of many ranks it says of each what the map of the ranks says in a hundredth of the
// space: the page then holds the sum of its devices, and the recordings of which it draws something.
void WriteAnalysis(JsonWriter& json, const Report& report) {
  if (!HasManyRanks(report)) return WriteAnalyzeJson(json, report);
  RunSummary summary = report.summary;
  summary.breakdown = {summary.total};
  std::set<int64_t> drawn;
  for (const TraceTimeline* timeline : DrawnTraces(report.tables)) drawn.insert(timeline->of->index);
  const Table& ledger = report.tables.Get("ledger");
  for (const size_t row : RowsToShow(ledger, report.tables.Get<RanksRows>()))
    drawn.insert(ledger.Int(row, ledger.Find("trace")));
  WriteAnalyzeJson(json,
                   {.run = report.run,
                    .tables = report.tables,
                    .diagnosis = report.diagnosis,
                    .summary = summary,
                    .failures = report.failures,
                    .cost = report.cost},
                   [&](const RunTrace& of) { return drawn.contains(of.index); });
}

// The timeline as far as it fits, where there is somebody to draw it.
void WriteTimeline(JsonWriter& json, const Report& report) {
  const TimelineExcerpt excerpt = ExcerptOf(report.tables);
  if (excerpt.tiles.empty()) return;
  json.Key("timeline");
  WriteJson(json, excerpt);
}

}  // namespace

void WritePageColumns(JsonWriter& json, std::span<const ColumnSpec> columns) {
  json.Key("columns");
  json.BeginArray();
  for (const ColumnSpec& column : columns) {
    json.BeginObject();
    json.Field("name", column.name);
    json.Field("type", column.type == ColumnType::kText ? "text" : column.type == ColumnType::kInt ? "int" : "real");
    json.Field("unit", column.unit);
    json.Field("help", column.help);
    json.EndObject();
  }
  json.EndArray();
}

void WritePageCells(JsonWriter& json, const Table& table, const std::vector<size_t>& rows,
                    const std::function<void(std::string_view)>& write_text) {
  json.Key("cells");
  json.BeginArray();
  for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
    const ColumnType type = table.columns()[static_cast<size_t>(column)].type;
    json.BeginArray();
    for (const size_t row : rows) {
      if (table.IsNull(row, column)) {
        json.Null();
      } else if (type == ColumnType::kText) {
        write_text(table.Text(row, column));
      } else if (type == ColumnType::kInt) {
        json.Int(table.Int(row, column));
      } else {
        json.Real(table.Real(row, column));
      }
    }
    json.EndArray();
  }
  json.EndArray();
}

// The texts come last, because the tables decide which there are.
std::string PageData(const Report& report, const std::function<void(JsonWriter&)>& write_served) {
  std::string out;
  JsonWriter json(out);
  Texts texts;
  json.BeginObject();
  WritePage(json, report);
  json.Key("analyze");
  WriteAnalysis(json, report);
  if (report.pictures) {
    json.Key("predicted");
    json.BeginObject();
    WritePicture(json, "before", report.pictures->before);
    WritePicture(json, "after", report.pictures->after);
    WriteSweep(json, report.sweep);
    json.EndObject();
  }
  if (report.path) WritePath(json, *report.path, texts);
  WriteEnergyOf(json, report);
  WriteTables(json, report, texts);
  WriteRankMap(json, RankMapOf(report.tables));
  if (write_served)
    write_served(json);
  else
    WriteTimeline(json, report);
  texts.Write(json);
  json.EndObject();
  return out;
}

}  // namespace gapless::internal
