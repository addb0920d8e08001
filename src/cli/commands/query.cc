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
#include "query/database.h"
#include "query/sinks.h"

namespace gapless::internal {
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
std::unique_ptr<PrintingSink> SinkFor(const Arguments& arguments, const Session& session, Output& output,
                                      int64_t& formulas) {
  if (arguments.JsonToStdout()) return MakeJsonSink(WriterOf(output));
  const bool to_terminal = session.terminal.is_tty && !arguments.Has("output");
  if (arguments.Has("csv"))
    return MakeCsvSink(
        WriterOf(output),
        {.printable = to_terminal, .quote_formulas = arguments.Value("csv") == "spreadsheet", .formulas = &formulas});
  return MakeTextSink(WriterOf(output), {.width = to_terminal ? session.terminal.width : 0,
                                         .utf8 = session.terminal.utf8 || arguments.Has("output")});
}

// Returns the statement: from --file, from standard input for "-", or the last of `paths`, which it removes. What
// remains are the recordings.
Result<std::string> TakeStatement(const Arguments& arguments, std::vector<std::string>& paths) {
  std::string source(arguments.Value("file"));
  if (!arguments.Has("file")) {
    const std::string last = paths.back();
    paths.pop_back();
    if (last != "-") return last;
    source = last;
  }
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
Result<int> ListTables(const Arguments& arguments) {
  const std::vector<SqlTableInfo> all = DescribeSqlTables();
  std::vector<SqlTableInfo> chosen;
  std::vector<std::string_view> names;
  for (const SqlTableInfo& table : all) names.push_back(table.name);
  for (const std::string& name : arguments.positionals()) {
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
Result<void> RunStatement(const Arguments& arguments, const Session& session, const Run& run, const std::string& sql) {
  Tables tables(run);
  GAPLESS_ASSIGN(auto database, Database::Open(run, tables, session.cancel));
  GAPLESS_ASSIGN(auto output, Output::Open(arguments.Value("output")));
  GAPLESS_ASSIGN(auto beside, Output::Open(arguments.Value("json")));
  std::vector<std::unique_ptr<PrintingSink>> sinks;
  int64_t formulas = 0;
  sinks.push_back(SinkFor(arguments, session, output, formulas));
  const bool also_json = arguments.Has("json") && !arguments.JsonToStdout();
  if (also_json) sinks.push_back(MakeJsonSink(WriterOf(beside)));
  TeeSink tee(sinks);
  GAPLESS_TRY(database.Query(sql, tee));
  // A failed write is reported by Commit().
  for (auto& sink : sinks) sink->Finish();
  GAPLESS_TRY(output.Commit());
  if (formulas > 0 && arguments.Value("csv") != "spreadsheet")
    log::Warning(StrCat("texts in this CSV that a spreadsheet would run as formulas: ", FormatCount(formulas),
                        "; --csv=spreadsheet puts ' before them"));
  return also_json ? beside.Commit() : Result<void>();
}

// The last argument is the statement, so the paths are known only after it was taken.
Result<int> Execute(const Arguments& arguments, Session& session) {
  if (arguments.Has("tables")) return ListTables(arguments);
  std::vector<std::string> paths = arguments.positionals();
  GAPLESS_ASSIGN(const auto sql, TakeStatement(arguments, paths));
  if (paths.empty())
    return Fail(ErrorCode::kUsage, "query needs a PATH before the statement", "", "gapless query --help");
  GAPLESS_ASSIGN(const auto loaded, LoadFor(arguments, session, paths));
  WarnOfLosses(loaded);
  GAPLESS_TRY(RunStatement(arguments, session, loaded.run, sql));
  return 0;
}

std::vector<std::string_view> CsvReaders() { return {"spreadsheet"}; }

constexpr std::string_view kNoPath[] = {"tables"};
constexpr std::string_view kNoSql[] = {"tables", "file"};
constexpr PositionalSpec kPaths = [] {
  PositionalSpec paths = kPathsPositional;
  paths.unless = kNoPath;
  return paths;
}();
constexpr PositionalSpec kPositionals[] = {kPaths,
                                           {.name = "SQL",
                                            .help = "one SELECT statement; - reads it from standard input",
                                            .min = 1,
                                            .max = 1,
                                            .unless = kNoSql}};
constexpr OptionSpec kOptions[] = {
    {.name = "tables", .help = "List the tables, or the columns of the given tables"},
    {.name = "file",
     .letter = 'f',
     .takes = OptionSpec::Takes::kValue,
     .value = "FILE",
     .help = "Read the statement from FILE"},
    {.name = "csv",
     .takes = OptionSpec::Takes::kOptionalValue,
     .value = "FOR",
     .help = "Print CSV; --csv=spreadsheet puts ' before texts that begin like a formula",
     .choices = CsvReaders},
    {.name = "output", .letter = 'o', .takes = OptionSpec::Takes::kValue, .value = "FILE", .help = "Write to FILE"},
    kRankOption,
    kNoCacheOption,
};
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
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .run = Execute};

}  // namespace gapless::internal
