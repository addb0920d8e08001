// SPDX-License-Identifier: Apache-2.0
// The command `gapless query`: runs one SQL statement on recordings and prints the rows as table, CSV or JSON; --tables
// lists tables and columns.
//
// Rows are printed as SQLite yields them, so memory does not grow with the result. A file of -o or --json=FILE appears
// only if the statement succeeds. On standard output rows that were printed before a failure stay.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "ingest/spool.h"
#include "query/database.h"
#include "query/sinks.h"

namespace gapless::internal::query_command {
namespace documents {

struct SqlColumn {
  std::string name{};
  std::string_view type{};
  std::string unit{}, help{};
  static constexpr FieldInfo kFields[] = {
      Field<&SqlColumn::name>("name", "", "name of the column"),
      Field<&SqlColumn::type>("type", "", "integer, real or text"),
      Field<&SqlColumn::unit>("unit", "", "unit of its values", kUnlessEmpty),
      Field<&SqlColumn::help>("help", "", "what it holds"),
  };
};

// A table of --tables.
struct SqlTable {
  std::string name{}, help{};
  bool analysis = false;
  std::vector<SqlColumn> columns{};
  static constexpr FieldInfo kFields[] = {
      Field<&SqlTable::name>("name", "", "name of the table"),
      Field<&SqlTable::help>("help", "", "the table in a line"),
      Field<&SqlTable::analysis>("analysis", "", "true: an analysis, which is computed when it is asked for"),
      Field<&SqlTable::columns>("columns", "", "its columns"),
  };
};

struct Tables {
  std::vector<SqlTable> tables{};
  static constexpr FieldInfo kFields[] = {Field<&Tables::tables>("tables", "", "the tables, with --tables")};
};

// Rows of a query, which are streamed.
using QueryRows = std::vector<std::map<std::string, JsonScalar>>;

}  // namespace documents

namespace {

enum class CsvFor : uint8_t { kPrograms, kSpreadsheet };
constexpr Choosable<CsvFor> kCsvReaders[] = {{"spreadsheet", CsvFor::kSpreadsheet}};

struct QueryArguments : ReadArguments {
  bool tables = false;
  std::string sql{}, file{};  // empty: not given
  std::optional<CsvFor> csv{};
  static constexpr OptionList kOptions{
      Flag<&QueryArguments::tables>("List the tables, or the columns of the given tables"),
      Text<&QueryArguments::file>("FILE", "Read the statement from FILE").Short('f'),
      Choice<&QueryArguments::csv, OneOf<kCsvReaders>>(
          "FOR", "Print CSV; --csv=spreadsheet puts ' before texts that begin like a formula")
          .Optional(),
      Text<&ReadArguments::output>("FILE", "Write to FILE").Short('o'),
      kRankOption,
      kNoCacheOption,
  };
  static constexpr WordList kWords{
      kPathsWord.Unless<&QueryArguments::tables>(),
      Word<&QueryArguments::sql>("SQL", "one SELECT statement; - reads it from standard input")
          .Unless<&QueryArguments::tables, &QueryArguments::file>()};
};

// Hands one result to several sinks: printed, and as JSON in a file. It goes on while any of them still takes rows.
class TeeSink : public RowSink {
 public:
  explicit TeeSink(std::vector<std::unique_ptr<PrintingSink>>& sinks) : sinks_(sinks) {}
  void Columns(std::span<const std::string> names) override {
    for (auto& sink : sinks_) sink->Columns(names);
  }
  bool Row(std::span<const SqlValue> cells) override {
    bool open = false;
    for (auto& sink : sinks_) open = sink->Row(cells) || open;
    return open;
  }

 private:
  std::vector<std::unique_ptr<PrintingSink>>& sinks_;
};

// Adapts an output, which must outlive the sink.
BlockWriter WriterOf(Output& output) {
  return [&output](std::string_view text) { return output.Write(text); };
}

// Chooses the format. Only a terminal has a width that rows are cut to; a file and a pipe get whole rows.
// `formulas` counts the texts of CSV that a spreadsheet would run.
std::unique_ptr<PrintingSink> SinkFor(const QueryArguments& arguments, const Session& session, Output& output,
                                      int64_t& formulas) {
  if (arguments.JsonToStdout()) return MakeJsonSink(WriterOf(output));
  const bool to_terminal = session.terminal.is_tty && arguments.output.empty();
  if (arguments.csv)
    return MakeCsvSink(
        WriterOf(output),
        {.printable = to_terminal, .quote_formulas = arguments.csv == CsvFor::kSpreadsheet, .formulas = &formulas});
  return MakeTextSink(WriterOf(output), {.width = to_terminal ? session.terminal.width : 0,
                                         .utf8 = session.terminal.utf8 || !arguments.output.empty()});
}

// Returns the statement: as it was typed, from --file, or from standard input for "-".
Result<std::string> StatementOf(const QueryArguments& arguments) {
  if (arguments.file.empty() && arguments.sql != "-") return arguments.sql;
  const std::string& source = arguments.file.empty() ? arguments.sql : arguments.file;
  std::ifstream file;
  if (source != "-") file.open(source, std::ios::binary);
  std::istream& in = source == "-" ? std::cin : file;
  if (!in) return Fail(ErrorCode::kUsage, "cannot read the SQL file", source);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Returns the table and its columns in lines of "name  type  help [unit]".
std::string ColumnsAsText(const SqlTableInfo& table) {
  constexpr std::string_view kTypes[] = {"integer", "real", "text"};
  std::string out = StrCat(table.name, ": ", table.help, "\n");
  for (const ColumnSpec& column : table.columns) {
    std::string line = StrCat("  ", column.name);
    line.append(static_cast<size_t>(std::max(1, 24 - DisplayWidth(line))), ' ');
    line += kTypes[static_cast<size_t>(column.type)];
    line.append(static_cast<size_t>(std::max(1, 34 - DisplayWidth(line))), ' ');
    out +=
        StrCat(line, column.help, column.unit.empty() ? "" : " [", column.unit, column.unit.empty() ? "" : "]", "\n");
  }
  return out;
}

// Lists recorded tables and analyses apart, because an analysis costs time when it is first read.
std::string TablesAsText(const std::vector<SqlTableInfo>& tables) {
  std::string out;
  for (const bool analyses : {false, true}) {
    out += analyses ? "\nanalyses, each run when first read:\n"
                    : "tables (all_NAME also shows supplements and other executions):\n";
    for (const SqlTableInfo& table : tables) {
      if (table.is_analysis != analyses) continue;
      std::string line = StrCat("  ", table.name);
      line.append(static_cast<size_t>(std::max(1, 18 - DisplayWidth(line))), ' ');
      out += StrCat(line, table.help, "\n");
    }
  }
  return out + "\n`gapless query --tables NAME` shows the columns of a table\n";
}

std::string TablesAsJson(const std::vector<SqlTableInfo>& tables) {
  constexpr std::string_view kTypes[] = {"integer", "real", "text"};
  documents::Tables document;
  for (const SqlTableInfo& table : tables) {
    documents::SqlTable& described = document.tables.emplace_back();
    described.name = table.name, described.help = table.help, described.analysis = table.is_analysis;
    for (const ColumnSpec& column : table.columns)
      described.columns.push_back({std::string(column.name), kTypes[static_cast<size_t>(column.type)],
                                   std::string(column.unit), std::string(column.help)});
  }
  return DocumentOf("query", document);
}

// Lists all tables, or the columns of those that are named. No recording is read.
Result<int> ListTables(const QueryArguments& arguments) {
  const std::vector<SqlTableInfo> all = DescribeSqlTables();
  std::vector<SqlTableInfo> chosen;
  std::vector<std::string_view> names;
  for (const SqlTableInfo& table : all) names.push_back(table.name);
  for (const std::string& name : arguments.paths) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      const std::string_view nearest = Nearest(name, names);
      return Fail(ErrorCode::kUsage, StrCat("there is no table '", Printable(name), "'"), "",
                  nearest.empty() ? "gapless query --tables" : StrCat("gapless query --tables ", nearest));
    }
    chosen.push_back(all[static_cast<size_t>(found - names.begin())]);
  }
  const auto text = [&] {
    if (chosen.empty()) return TablesAsText(all);
    std::string out;
    for (const SqlTableInfo& table : chosen) out += ColumnsAsText(table);
    return out;
  };
  return PrintTextOrJson(arguments, text, [&] { return TablesAsJson(chosen.empty() ? all : chosen); });
}

// Opens both outputs before the statement runs, so that a path that cannot be written costs no time.
Result<void> RunStatement(const QueryArguments& arguments, const Session& session, const Run& run,
                          const std::string& sql) {
  Tables tables(run);
  GAPLESS_ASSIGN(auto database, Database::Open(run, tables, session.cancel));
  GAPLESS_ASSIGN(auto output, Output::Open(arguments.output));
  GAPLESS_ASSIGN(auto beside, Output::Open(arguments.json.value_or("")));
  std::vector<std::unique_ptr<PrintingSink>> sinks;
  int64_t formulas = 0;
  sinks.push_back(SinkFor(arguments, session, output, formulas));
  const bool also_json = arguments.json && !arguments.JsonToStdout();
  if (also_json) sinks.push_back(MakeJsonSink(WriterOf(beside)));
  TeeSink tee(sinks);
  GAPLESS_TRY(database.Query(sql, tee));
  // A failed write is reported by Commit().
  for (auto& sink : sinks) sink->Finish();
  GAPLESS_TRY(output.Commit());
  if (formulas > 0 && arguments.csv != CsvFor::kSpreadsheet)
    log::Warning(StrCat("texts in this CSV that a spreadsheet would run as formulas: ", FormatCount(formulas),
                        "; --csv=spreadsheet puts ' before them"));
  return also_json ? beside.Commit() : Result<void>();
}

Result<int> Execute(const QueryArguments& arguments, Session& session) {
  if (arguments.tables) return ListTables(arguments);
  const bool sql_is_piped = arguments.file == "-" || (arguments.file.empty() && arguments.sql == "-");
  if (sql_is_piped && std::ranges::any_of(arguments.paths, IsStandardInput))
    return Fail(ErrorCode::kUsage, "standard input cannot be both the recording and the statement", "",
                "type the statement, or name its file with --file");
  GAPLESS_ASSIGN(const auto sql, StatementOf(arguments));
  GAPLESS_ASSIGN(const auto loaded, LoadFor(arguments, session, arguments.paths));
  WarnOfLosses(loaded);
  GAPLESS_TRY(RunStatement(arguments, session, loaded.run, sql));
  return 0;
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::QueryRows>::kInfo, &TypeOf<documents::Tables>::kInfo};
constexpr Example kExamples[] = {
    {"gapless query trace.json.gz \"SELECT name, count(*), sum(dur_ns) FROM gpu_op WHERE kind = 'kernel' GROUP BY name "
     "ORDER BY 3 DESC LIMIT 10\"",
     "The ten kernels that take the most time"},
    {"gapless query trace.json.gz \"SELECT g.name, s.name AS call FROM gpu_op g JOIN slice s ON s.id = g.launch_id "
     "LIMIT 5\"",
     "Kernels with the calls that launched them"},
    {"gapless query run/ \"SELECT rank, idle_ns FROM ledger WHERE step IS NULL\" --csv",
     "Idle time of every rank, as CSV"},
    {"gapless query --tables gpu_op", "The columns of table gpu_op"},
};

}  // namespace

COMMAND(query) = {
    .name = "query",
    .help = "Query a recording with SQL",
    .about =
        "Runs one SQL statement (SQLite's dialect) over the events of recordings and the tables of all "
        "analyses, and prints the result as an aligned table, as CSV, or as JSON. Nothing is copied or "
        "changed.\n\nTimes are integers in nanoseconds from the start of the run. A column x_id names a row "
        "of table x. NULL means \"not recorded\"; it is never shown as 0.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::query_command
