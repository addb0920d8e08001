// SPDX-License-Identifier: Apache-2.0
// Selects the largest rows of tables, and formats names, lines and counts for evidence.
#include "diagnose/evidence.h"

#include <algorithm>
#include <cmath>

#include "analyses/idle_gaps.h"
#include "analyses/rows/idle.h"
#include "analyses/rows/whole_run.h"
#include "base/strings.h"
#include "fixes/names.h"
#include "trace/processors.h"
#include "trace/run.h"
#include "trace/workload.h"

namespace gapless::internal {

std::vector<size_t> LargestRows(const Table& table, int column, size_t count) {
  std::vector<std::pair<int64_t, size_t>> rows;
  for (size_t row = 0; row < table.rows(); ++row)
    if (const int64_t value = table.Int(row, column); value > 0) rows.emplace_back(-value, row);
  count = std::min(count, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end());
  std::vector<size_t> largest;
  for (size_t i = 0; i < count; ++i) largest.push_back(rows[i].second);
  return largest;
}

std::vector<int64_t> IdsOf(const Table& table, const std::vector<size_t>& rows, int id_column) {
  std::vector<int64_t> ids;
  for (const size_t row : rows)
    if (!table.IsNull(row, id_column)) ids.push_back(table.Int(row, id_column));
  return ids;
}

Evidence RecordingOf(std::string_view name, const Run& run, int64_t trace) {
  const RunTrace& of = run.traces()[static_cast<size_t>(trace)];
  const std::string_view host = IdentityOf(*of.trace).host;
  return {.text = StrCat(name, host.empty() ? "" : StrCat(" ran on ", host, " and"), " is the recording ",
                         RecordingName(run, of))};
}

std::string TimesAStep(double times) {
  constexpr double kNearlyOnce = 0.75;  // from here on "once a step" is nearer than "once in 2 steps"
  if (times <= 0 || times >= kNearlyOnce) return StrCat(FormatTimes(times < 1 && times > 0 ? 1 : times), " a step");
  return StrCat("once in ", FormatCount(std::llround(1 / times)), " steps");
}

std::string_view TypeText(std::string_view recorded) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"float", "float32"},  {"double", "float64"},   {"c10::Half", "float16"},  {"c10::BFloat16", "bfloat16"},
      {"long int", "int64"}, {"long", "int64"},       {"int", "int32"},          {"short int", "int16"},
      {"short", "int16"},    {"signed char", "int8"}, {"unsigned char", "uint8"}};
  for (const auto& [name, text] : kNames)
    if (recorded == name) return text;
  return recorded;
}

std::string InLine(std::string_view source_line) {
  return source_line.empty() ? std::string() : StrCat(" in ", source_line);
}

std::string InLoaderLine(std::string_view source_line) {
  const bool is_prepared = source_line.starts_with("accelerate/data_loader.py");
  return StrCat(InLine(source_line),
                is_prepared ? " (with a Trainer: dataloader_num_workers of its TrainingArguments)" : "");
}

std::string FrameText(std::string_view name) {
  const size_t close = name.find("): "), open = close == name.npos ? close : name.rfind('(', close);
  const bool is_frame = open != name.npos && open > 0 && open + 1 < close &&
                        name.substr(open + 1, close - open - 1).find_first_not_of("0123456789") == name.npos;
  if (!is_frame) return std::string(name);
  const std::string_view function = name.substr(close + 3);
  return StrCat(function, function.starts_with('<') ? " (" : "() (", name.substr(0, open), ")");
}

IdleRows LongestIdle(Tables& tables) {
  static_assert(kLongestOfCause >= kMaxRows);
  if (tables.of_summaries()) return tables.Get<IdleRows>();  // nothing else is in there
  return IdleRows{tables.OnceForRun(LongestIdleRows)};
}

Evidence LargestGaps(const IdleRows& idle, IdleRows::IntColumn column, std::string_view what) {
  Evidence evidence;
  const std::vector<size_t> rows = LargestRows(idle, column);
  if (rows.empty()) return evidence;
  const int64_t longest = idle.Int(rows[0], column);
  evidence.text = StrCat("longest ", what, ": ", FormatDuration(longest));
  if (!idle.IsNull(rows[0], "step")) evidence.text += StrCat(" in step ", idle.Int(rows[0], "step"));
  evidence.value = static_cast<double>(longest);
  evidence.unit = "ns";
  evidence.table = "idle";
  evidence.rows = IdsOf(idle, rows, "id");
  evidence.source = TextOr(idle, rows[0], "source_line", "");
  return evidence;
}

int64_t SumOf(const Table& table, int column) {
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) sum += table.Int(row, column);
  return sum;
}

namespace {

// Returns the number of workers of the loaders that the agent saw, the most; nullopt if it saw none.
std::optional<int64_t> WorkersOf(const WholeRunRows& run) {
  std::optional<int64_t> workers;
  for (size_t row = 0; row < run.rows(); ++row)
    if (!run.IsNull(row, "workers")) workers = std::max(workers.value_or(0), run.Int(row, "workers"));
  return workers;
}

constexpr int64_t kMaxWorkers = 16;
constexpr int64_t kMinStarts = 3;  // one for each pass over the data

// Returns how often the workers were started; 0 where they stay from pass to pass, or where it is not known.
int64_t StartsOf(const Run& run, int64_t workers) {
  int64_t processes = 0;
  bool is_anew = false;
  for (const RunTrace& of : run.traces()) {
    if (!of.counts()) continue;
    processes += LoadsData(*of.trace) ? 1 : 0;
    const std::string_view loader = TrainingLoaderOf(*of.trace);
    is_anew = is_anew || loader.find("\"persistent_workers\": false") != loader.npos ||
              loader.find("\"persistent_workers\":false") != loader.npos;
  }
  return is_anew && workers > 0 ? processes / workers : 0;
}

}  // namespace

Recommendation OtherWorkers(Tables& tables, const std::string& line) {
  const auto workers = WorkersOf(tables.Get<WholeRunRows>());
  const auto processors = ProcessorsOf(tables.run());
  if (const int64_t starts = StartsOf(tables.run(), workers.value_or(0)); starts >= kMinStarts)
    return {
        StrCat("the workers are started anew for every pass over the data, ", starts,
               " times in this run: keep them (persistent_workers=True), or load in the training process where that "
               "is quick (num_workers=0)",
               InLoaderLine(line)),
        "", StrCat("DataLoader(dataset, ..., num_workers=", *workers, ", persistent_workers=True)"), "minutes"};
  if (!workers || !processors || *workers + 1 == *processors)  // either way may help
    return {
        StrCat("the workers do not keep up: raise num_workers and prefetch_factor where processors are idle, lower "
               "num_workers (0, too) where there are as many workers as processors, or make a batch cheaper to load",
               InLoaderLine(line)),
        fixes::kWorkers.Item(),
        "DataLoader(dataset, ..., num_workers=<more or fewer>, prefetch_factor=4, persistent_workers=True)", "minutes"};
  if (*workers >= *processors)
    return {
        StrCat(*workers, " workers and the training share ", *processors,
               *processors == 1 ? " processor" : " processors", InLoaderLine(line),
               ": lower num_workers (num_workers=0 loads in the training process), or make a batch cheaper to load"),
        fixes::kWorkers.Item("0"), "DataLoader(dataset, ..., num_workers=0)", "minutes"};
  const int64_t more = std::clamp(*processors - 1, *workers + 1, std::max(kMaxWorkers, *workers + 1));
  return {StrCat("the ", *workers, *workers == 1 ? " worker does" : " workers do", " not keep up, and the machine has ",
                 *processors, " processors: raise num_workers to ", more, " and prefetch_factor to 4, or make a batch ",
                 "cheaper to load", InLoaderLine(line)),
          fixes::kWorkers.Item(more),
          StrCat("DataLoader(dataset, ..., num_workers=", more, ", prefetch_factor=4, persistent_workers=True)"),
          "minutes"};
}

}  // namespace gapless::internal
