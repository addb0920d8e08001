// SPDX-License-Identifier: Apache-2.0
// The C functions of gapless/c.h: each one hands its call to the C++ library, and turns errors and exceptions into a
// status and a text.
//
// A cancel ends the calls that run at that time, and no later one: the flag that they look at is taken back by the last
// of them.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "api/run_state.h"
#include "base/json_writer.h"
#include "gapless/arrow.h"
#include "gapless/c.h"
#include "gapless/version.h"
#include "report/predict/report.h"

struct gapless_run {
  std::optional<gapless::Run> opened{};
  std::atomic<bool> cancelled{false};
  std::atomic<int> calls{0};
};

struct gapless_table {
  gapless::Table table{};
};

namespace gapless::internal {
namespace {

struct ErrorTexts {
  std::string message, place, hint;
};

int Tell(const Error& error, gapless_error* out) {
  if (out != nullptr) {
    auto* texts = new (std::nothrow) ErrorTexts{error.message, error.place, error.hint};
    *out = texts == nullptr ? gapless_error{"there is not enough memory", "", "", nullptr}
                            : gapless_error{texts->message.c_str(), texts->place.c_str(), texts->hint.c_str(), texts};
  }
  return ExitStatus(error.code);
}

// Runs `act`, which returns a Result<void>.
template <class F>
int Answer(gapless_error* error, F&& act) {
  try {
    const Result<void> done = act();
    return done ? 0 : Tell(done.error(), error);
  } catch (const std::bad_alloc&) {
    return Tell({ErrorCode::kEnvironment, "there is not enough memory", "", ""}, error);
  } catch (const std::exception& failure) {
    return Tell({ErrorCode::kEnvironment, failure.what(), "", ""}, error);
  }
}

// A call that gapless_cancel() ends.
class Cancellable {
 public:
  explicit Cancellable(gapless_run& run) : run_(run) { ++run_.calls; }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
  ~Cancellable() {
    if (--run_.calls == 0) run_.cancelled = false;
  }

 private:
  gapless_run& run_;
};

// Runs `act` on what was opened.
template <class F>
int Ask(gapless_run* run, gapless_error* error, F&& act) {
  if (!run->opened)
    return Tell({ErrorCode::kUsage, "the run has no recordings yet", "", "call gapless_open() first"}, error);
  const Cancellable call(*run);
  return Answer(error, [&] { return act(*run->opened); });
}

std::vector<std::string> Texts(const char* const* texts, size_t count) {
  return count == 0 ? std::vector<std::string>() : std::vector<std::string>(texts, texts + count);
}

Result<void> Give(const std::string& text, char** out) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return {};
}

OpenOptions OptionsOf(const gapless_open_options* given, const std::atomic<bool>* cancelled) {
  OpenOptions options;
  options.cancel_flag = cancelled;
  if (given == nullptr) return options;
  options.ranks.assign(given->ranks, given->ranks + given->rank_count);
  options.threads = given->threads;
  options.use_cache = given->no_cache == 0;
  options.all_steps = given->all_steps != 0;
  if (given->history != nullptr) options.history = given->history;
  if (given->source_root != nullptr) options.source_root = given->source_root;
  options.redact = given->redact != 0;
  if (given->progress != nullptr)
    options.progress = [call = given->progress, data = given->progress_data](const LoadProgress& progress) {
      call(data, std::string(progress.path).c_str(), progress.bytes_done, progress.bytes_total);
    };
  return options;
}

void WriteColumns(JsonWriter& json, const std::vector<gapless::Column>& columns) {
  json.BeginArray();
  for (const gapless::Column& column : columns) {
    json.BeginObject();
    json.Field("name", column.name);
    json.Field("type", ToString(column.type));
    json.Field("unit", column.unit);
    json.Field("help", column.help);
    json.EndObject();
  }
  json.EndArray();
}

std::string TablesAsJson() {
  std::string text;
  JsonWriter json(text);
  json.BeginArray();
  for (const TableInfo& table : gapless::Run::Tables()) {
    json.BeginObject();
    json.Field("name", table.name);
    json.Field("help", table.help);
    json.Field("analysis", table.is_analysis);
    json.Key("columns");
    WriteColumns(json, table.columns);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

std::string FailuresAsJson(const std::vector<Error>& failures) {
  std::string text;
  JsonWriter json(text);
  json.BeginArray();
  for (const Error& failure : failures) {
    json.BeginObject();
    json.Field("message", failure.message);
    json.Field("place", failure.place);
    json.Field("hint", failure.hint);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

Result<void> GiveTable(const Result<gapless::Table>& table, gapless_table** out) {
  if (!table) return Unexpected{table.error()};
  *out = new gapless_table{*table};
  return {};
}

Result<void> GivePredictions(const RunAnalysis& analysis, const std::vector<std::string>& texts, char** json) {
  std::vector<std::vector<WhatIfItem>> combinations;
  for (const std::string& text : texts) {
    GAPLESS_ASSIGN(auto items, ParseItems(text));
    combinations.push_back(std::move(items));
  }
  const auto predictor = PredictorOf(analysis);
  PredictView view{.predictor = predictor ? &*predictor : nullptr};
  // A recording that fails the check is still shown with the reason.
  if (!view.is_accepted()) {
    view.why_not = predictor ? predictor->check().refusal : predictor.error().message;
    view.predictions = PredictMemory(analysis, view.why_not, combinations);
    if (!predictor && view.predictions.empty()) return Unexpected{predictor.error()};
  } else {
    GAPLESS_ASSIGN(view.predictions, PredictEach(analysis, *predictor, combinations));
  }
  return Give(PredictJson(view), json);
}

}  // namespace

// The same functions as those of the header, though in a namespace; the compiler forgets that they are exported.
#pragma GCC visibility push(default)
extern "C" {

const char* gapless_version(void) { return Version().data(); }

void gapless_error_release(gapless_error* error) {
  delete static_cast<ErrorTexts*>(error->private_data);
  *error = {};
}

void gapless_text_free(char* text) { std::free(text); }

gapless_run* gapless_run_new(void) { return new (std::nothrow) gapless_run; }

// A run is many blocks of all sizes, which the C library keeps for later where threads made them: a server that opens
// one recording after the other grew by half within a hundred.
void gapless_run_free(gapless_run* run) {
  delete run;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

int gapless_open(gapless_run* run, const char* const* paths, size_t count, const gapless_open_options* options,
                 gapless_error* error) {
  if (run->opened) return Tell({ErrorCode::kUsage, "the run was opened already", "", "make another one"}, error);
  const Cancellable call(*run);
  return Answer(error, [&]() -> Result<void> {
    GAPLESS_ASSIGN(auto opened, gapless::Run::Open(Texts(paths, count), OptionsOf(options, &run->cancelled)));
    run->opened = std::move(opened);
    return {};
  });
}

void gapless_cancel(gapless_run* run) {
  if (run->calls > 0) run->cancelled = true;
}

int gapless_failures(gapless_run* run, char** json, gapless_error* error) {
  return Ask(run, error, [&](const gapless::Run& of) { return Give(FailuresAsJson(of.Failures()), json); });
}

int gapless_tables(char** json, gapless_error* error) {
  return Answer(error, [&] { return Give(TablesAsJson(), json); });
}

int gapless_find(gapless_run* run, const char* name, gapless_table** table, gapless_error* error) {
  return Ask(run, error, [&](const gapless::Run& of) { return GiveTable(of.Table(name), table); });
}

int gapless_query(gapless_run* run, const char* sql, gapless_table** table, gapless_error* error) {
  return Ask(run, error, [&](const gapless::Run& of) { return GiveTable(of.Query(sql), table); });
}

void gapless_table_free(gapless_table* table) { delete table; }

size_t gapless_table_rows(const gapless_table* table) { return table->table.rows(); }

int gapless_table_columns(const gapless_table* table, char** json, gapless_error* error) {
  return Answer(error, [&] {
    std::string text;
    JsonWriter writer(text);
    WriteColumns(writer, table->table.columns());
    return Give(text, json);
  });
}

int gapless_table_export(const gapless_table* table, const char* const* columns, size_t count,
                         struct ArrowArrayStream* stream, gapless_error* error) {
  return Answer(error, [&] { return ExportArrow(table->table, stream, Texts(columns, count)); });
}

int gapless_table_slice(const gapless_table* table, size_t first, size_t rows, gapless_table** slice,
                        gapless_error* error) {
  return Answer(error, [&] { return GiveTable(table->table.Slice(first, rows), slice); });
}

int gapless_render(gapless_run* run, const char* format, const gapless_report_options* options, char** text,
                   gapless_error* error) {
  return Ask(run, error, [&](const gapless::Run& of) -> Result<void> {
    RenderOptions look;
    AnalyzeOptions wanted;
    if (options != nullptr) {
      if (options->width > 0) look.width = options->width;
      look.colour = options->colour != 0, look.utf8 = options->ascii == 0, look.verbose = options->verbose != 0;
      wanted.only = Texts(options->only, options->only_count);
      wanted.without = Texts(options->without, options->without_count);
    }
    GAPLESS_ASSIGN(const auto report, of.Render(format, look, wanted));
    return Give(report, text);
  });
}

int gapless_predict(gapless_run* run, const char* const* combinations, size_t count, char** json,
                    gapless_error* error) {
  return Ask(run, error, [&](const gapless::Run& of) {
    return GivePredictions(RunState::Of(of).analysis, Texts(combinations, count), json);
  });
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace gapless::internal
