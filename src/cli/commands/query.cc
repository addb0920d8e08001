// SPDX-License-Identifier: Apache-2.0
// The command `gapless query`: runs one SQL statement on recordings and prints the rows as table, CSV or JSON, or
// writes them as Arrow or Parquet; --tables lists tables and columns.
//
// Rows are printed as SQLite yields them, so memory does not grow with the result; Arrow and Parquet need all of it. A
// file appears only if the statement succeeds. On standard output rows that were printed before a failure stay.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/commands/query/parquet.h"
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
  std::string arrow{}, parquet{};  // empty: not given
  static constexpr OptionList kOptions{
      Flag<&QueryArguments::tables>("List the tables, or the columns of the given tables"),
      Text<&QueryArguments::file>("FILE", "Read the statement from FILE").Short('f'),
      Choice<&QueryArguments::csv, OneOf<kCsvReaders>>(
          "FOR", "Print CSV; --csv=spreadsheet puts ' before texts that begin like a formula")
          .Optional(),
      Text<&QueryArguments::arrow>("FILE", "Write an Arrow stream to FILE; - is standard output"),
      Text<&QueryArguments::parquet>("FILE", "Write Parquet to FILE; needs pyarrow or Polars"),
      Text<&ReadArguments::output>("FILE", "Write to FILE").Short('o'),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{
      kPathsWord.Unless<&QueryArguments::tables>(),
      Word<&QueryArguments::sql>("SQL", "one SELECT statement, or a table; - reads it from standard input")
          .Unless<&QueryArguments::tables, &QueryArguments::file>()};
};

// Hands one result to several sinks: printed, and as JSON in a file. It goes on while any of them still takes rows.
class TeeSink : public RowSink {
 public:
  explicit TeeSink(std::vector<std::unique_ptr<PrintingSink>>& sinks) : sinks_(sinks) {}
  void Columns(std::span<const std::string> names) override {
    for (auto& sink : sinks_) sink->Columns(names);
  }
  void Origins(std::span<const std::optional<ColumnSpec>> origins) override {
    for (auto& sink : sinks_) sink->Origins(origins);
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

// Everything that a result is written to. All is opened before the statement runs, so that a path that cannot be
// written costs no time, and takes its name when all is complete.
class Outputs {
 public:
  Outputs(const QueryArguments& arguments, const Session& session) : arguments_(arguments), session_(session) {}

  Result<void> Open() {
    // Arrow and Parquet are files beside what is printed, if that was asked for.
    const bool is_printed = (arguments_.arrow.empty() && arguments_.parquet.empty()) || arguments_.csv ||
                            arguments_.JsonToStdout() || !arguments_.output.empty();
    if (is_printed) {
      GAPLESS_ASSIGN(Output* const output, Add(arguments_.output));
      sinks_.push_back(SinkFor(arguments_, session_, *output, formulas_));
    }
    if (arguments_.json && !arguments_.JsonToStdout()) {
      GAPLESS_ASSIGN(Output* const beside, Add(*arguments_.json));
      sinks_.push_back(MakeJsonSink(WriterOf(*beside)));
    }
    if (!arguments_.arrow.empty()) {
      GAPLESS_ASSIGN(Output* const stream, Add(arguments_.arrow));
      sinks_.push_back(MakeArrowSink(WriterOf(*stream)));
    }
    if (arguments_.parquet.empty()) return {};
    GAPLESS_ASSIGN(const Output* const file, Add(arguments_.parquet));
    GAPLESS_ASSIGN(parquet_, ParquetProcess::Start(file->descriptor()));
    sinks_.push_back(MakeArrowSink([this](std::string_view part) { return parquet_->Write(part); }));
    return {};
  }

  std::vector<std::unique_ptr<PrintingSink>>& sinks() { return sinks_; }

  Result<void> Commit() {
    // A failed write is reported by Commit() of its output.
    for (auto& sink : sinks_) sink->Finish();
    if (parquet_ != nullptr) GAPLESS_TRY(parquet_->Finish());
    for (auto& output : outputs_) GAPLESS_TRY(output->Close());
    for (auto& output : outputs_) GAPLESS_TRY(output->Commit());
    if (formulas_ > 0 && arguments_.csv != CsvFor::kSpreadsheet)
      log::Warning(StrCat("texts in this CSV that a spreadsheet would run as formulas: ", FormatCount(formulas_),
                          "; --csv=spreadsheet puts ' before them"));
    return {};
  }

 private:
  Result<Output*> Add(const std::string& path) {
    GAPLESS_ASSIGN(auto output, Output::Open(path));
    outputs_.push_back(std::make_unique<Output>(std::move(output)));
    return outputs_.back().get();
  }

  const QueryArguments& arguments_;
  const Session& session_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::unique_ptr<ParquetProcess> parquet_;  // writes to one of the outputs
  std::vector<std::unique_ptr<PrintingSink>> sinks_;
  int64_t formulas_ = 0;
};

Result<void> RunStatement(const QueryArguments& arguments, const Session& session, const Run& run,
                          const std::string& sql) {
  Tables tables(run);
  GAPLESS_ASSIGN(auto database, Database::Open(run, tables, session.cancel));
  Outputs outputs(arguments, session);
  GAPLESS_TRY(outputs.Open());
  TeeSink tee(outputs.sinks());
  GAPLESS_TRY(database.Query(sql, tee));
  return outputs.Commit();
}

// Refuses what cannot be written, before anything is read: a stream for a terminal, two forms on standard output.
Result<void> CheckForms(const QueryArguments& arguments, const Session& session) {
  if (arguments.parquet == "-")
    return Fail(ErrorCode::kUsage, "Parquet is written to a file, which standard output need not be", "",
                "--parquet FILE, or --arrow - for a pipe");
  if (!arguments.parquet.empty()) GAPLESS_TRY(FindParquetPackage());
  if (arguments.arrow != "-") return {};
  const bool is_printed = arguments.csv && (arguments.output.empty() || arguments.output == "-");
  if (arguments.JsonToStdout() || is_printed || arguments.output == "-")
    return Fail(ErrorCode::kUsage, "standard output can have one form of the result only", "",
                "write the Arrow stream to a file: --arrow FILE");
  if (session.terminal.is_tty)
    return Fail(ErrorCode::kUsage, "refusing to write an Arrow stream to a terminal", "",
                "write it to a file, or into a pipe: --arrow FILE");
  return {};
}

// Returns the statement that shows all of a table for the name of one.
std::string WholeTable(const std::string& sql) {
  const size_t begin = std::min(sql.find_first_not_of(" \t\r\n"), sql.size());
  const std::string_view name = std::string_view(sql).substr(begin, sql.find_last_not_of(" \t\r\n;") + 1 - begin);
  const std::string_view primary = name.starts_with("all_") ? name.substr(4) : name;
  for (const SqlTableInfo& table : DescribeSqlTables())
    if (table.name == name || (table.name == primary && !table.is_analysis)) return StrCat("SELECT * FROM ", name);
  return sql;
}

// Finds a statement that was typed before the recording.
Result<void> CheckOrder(const QueryArguments& arguments) {
  std::error_code unknown;
  if (arguments.paths.size() != 1 || !std::filesystem::exists(arguments.sql, unknown)) return {};
  if (std::filesystem::exists(arguments.paths[0], unknown) || arguments.paths[0].find(' ') == std::string::npos)
    return {};
  return Fail(ErrorCode::kUsage, "the recording comes before the statement", "",
              StrCat("gapless query ", ShellWord(arguments.sql), " ", ShellWord(arguments.paths[0])));
}

Result<int> Execute(const QueryArguments& arguments, Session& session) {
  if (arguments.tables) return ListTables(arguments);
  const bool sql_is_piped = arguments.file == "-" || (arguments.file.empty() && arguments.sql == "-");
  if (sql_is_piped && std::ranges::any_of(arguments.paths, IsStandardInput))
    return Fail(ErrorCode::kUsage, "standard input cannot be both the recording and the statement", "",
                "type the statement, or name its file with --file");
  GAPLESS_TRY(CheckForms(arguments, session));
  GAPLESS_TRY(CheckOrder(arguments));
  GAPLESS_ASSIGN(const auto sql, StatementOf(arguments));
  const std::string files[] = {arguments.arrow, arguments.parquet};
  GAPLESS_ASSIGN(const auto loaded, LoadFor(arguments, session, arguments.paths, files));
  WarnOfLosses(loaded);
  GAPLESS_TRY(RunStatement(arguments, session, loaded.run, WholeTable(sql)));
  return 0;
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::QueryRows>::kInfo, &TypeOf<documents::Tables>::kInfo};
constexpr Example kExamples[] = {
    {"gapless query trace.json.gz kernels", "A whole table; gapless query --tables lists them"},
    {"gapless query trace.json.gz \"SELECT name, count(*), sum(dur_ns) FROM gpu_op WHERE kind = 'kernel' GROUP BY name "
     "ORDER BY 3 DESC LIMIT 10\"",
     "The ten kernels that take the most time"},
    {"gapless query trace.json.gz \"SELECT g.name, s.name AS call FROM gpu_op g JOIN slice s ON s.id = g.launch_id "
     "LIMIT 5\"",
     "Kernels with the calls that launched them"},
    {"gapless query run/ \"SELECT rank, idle_ns FROM ledger WHERE step IS NULL\" --csv",
     "Idle time of every rank, as CSV"},
    {"gapless query trace.json.gz gpu_op --arrow gpu_op.arrow", "A whole table as an Arrow stream, for data frames"},
    {"gapless query --tables gpu_op", "The columns of table gpu_op"},
};

}  // namespace

COMMAND(query) = {.name = "query",
                  .place = {groups::kFind, 5},
                  .help = "Query a recording with SQL",
                  .about =
                      "Runs one SQL statement (SQLite's dialect) over the events of recordings and the tables of all "
                      "analyses, and prints the result as an aligned table, as CSV, or as JSON, or writes it as Arrow "
                      "or Parquet. The "
                      "name of a table stands for all of it. Nothing is copied or changed.\n\nTimes are integers in "
                      "nanoseconds from the start of the run. A column x_id names a row "
                      "of table x. NULL means \"not recorded\"; it is never shown as 0.",
                  .examples = kExamples,
                  .only_reads = true,
                  .documents = kDocuments,
                  .call = kCall<Execute>};

}  // namespace gapless::internal::query_command
