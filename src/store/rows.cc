// SPDX-License-Identifier: Apache-2.0
// Implements records as rows of the tables, and back.
//
// Statements are few and wide: a record with its metrics and samples goes out in three, whatever their number, because
// each one is a round trip to a server. Reading goes page by page, with the metrics and samples of a page at once.
// Pages are found by the key (time, id) of the last record, not by OFFSET, so that reading n records costs O(n log n).
// Samples of a metric are one cell of packed doubles: no query looks into them.
#include "store/rows.h"

#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "store/backend.h"
#include "store/history.h"
#include "store/migrations.h"

namespace gapless::internal {
namespace {

// An Inserter collects rows and inserts many at a time. The last rows are inserted by Flush().
class Inserter {
 public:
  Inserter(Connection& connection, std::string_view into, size_t columns)
      : connection_(connection), into_(into), columns_(columns) {}

  Result<void> Add(std::vector<SqlCell> row) {
    for (SqlCell& cell : row) {
      if (const auto* bytes = std::get_if<Bytes>(&cell)) size_ += bytes->content.size();
      cells_.push_back(std::move(cell));
    }
    return cells_.size() >= kRowsAtOnce * columns_ || size_ > kBytesAtOnce ? Flush() : Result<void>();
  }

  Result<void> Flush() {
    if (cells_.empty()) return {};
    std::string sql = StrCat("INSERT INTO ", into_, " VALUES ");
    for (size_t i = 0; i < cells_.size(); ++i) {
      const bool first = i % columns_ == 0;
      sql += StrCat(first ? (i == 0 ? "($" : "), ($") : ", $", i + 1);
    }
    const auto done = connection_.Run(sql + ")", cells_);
    cells_.clear();
    size_ = 0;
    return done ? Result<void>() : Unexpected{done.error()};
  }

 private:
  static constexpr size_t kRowsAtOnce = 1000;  // databases limit the number of parameters of a statement
  static constexpr size_t kBytesAtOnce = size_t{16} << 20;

  Connection& connection_;
  std::string_view into_;
  size_t columns_;
  std::vector<SqlCell> cells_;
  size_t size_ = 0;  // total size of the texts in bytes
};

// One list of columns serves writing and reading.

SqlCell TextOrNull(const std::string& text) { return text.empty() ? SqlCell() : SqlCell(text); }
SqlCell FlagOrNull(std::optional<bool> flag) { return flag ? SqlCell(static_cast<int64_t>(*flag)) : SqlCell(); }

// A RunColumn has exactly one member that is not null.
struct RunColumn {
  std::string_view name;
  std::string BenchmarkRecord::*text = nullptr;
  std::optional<int64_t> BenchmarkRecord::*number = nullptr;
  std::optional<bool> BenchmarkRecord::*flag = nullptr;
};
constexpr RunColumn kRunColumns[] = {
    {.name = "uid", .text = &BenchmarkRecord::uid},
    {.name = "recorded_at_ns", .number = &BenchmarkRecord::recorded_unix_ns},
    {.name = "commit_sha", .text = &BenchmarkRecord::commit_sha},
    {.name = "branch", .text = &BenchmarkRecord::branch},
    {.name = "dirty", .flag = &BenchmarkRecord::dirty},
    {.name = "author_time_ns", .number = &BenchmarkRecord::author_unix_ns},
    {.name = "benchmark", .text = &BenchmarkRecord::benchmark},
    {.name = "command", .text = &BenchmarkRecord::command},
    {.name = "host", .text = &BenchmarkRecord::host},
    {.name = "fingerprint", .text = &BenchmarkRecord::fingerprint},
    {.name = "gpu_type", .text = &BenchmarkRecord::gpu_type},
    {.name = "num_gpus", .number = &BenchmarkRecord::num_gpus},
    {.name = "batch_size", .number = &BenchmarkRecord::batch_size},
    {.name = "framework", .text = &BenchmarkRecord::framework},
    {.name = "driver", .text = &BenchmarkRecord::driver},
    {.name = "environment", .text = &BenchmarkRecord::environment},
    {.name = "source", .text = &BenchmarkRecord::source},
    {.name = "ledger", .text = &BenchmarkRecord::ledger},
};

// Returns the names of the columns without the id, separated by commas.
std::string RunColumns() {
  std::string names;
  for (const RunColumn& column : kRunColumns) names += StrCat(names.empty() ? "" : ", ", column.name);
  return names;
}

// The same for a history of an older version, which may only be read: what it does not have is left out at the end.
Result<std::string> ReadableColumns(Connection& connection) {
  GAPLESS_ASSIGN(const auto version, SchemaVersion(connection));
  std::string names = RunColumns();
  if (version < kLedgerSince) names.resize(names.rfind(", "));
  return names;
}

// Returns the cells of a record in the order of RunColumns().
std::vector<SqlCell> CellsOf(const BenchmarkRecord& record) {
  std::vector<SqlCell> cells;
  for (const RunColumn& column : kRunColumns) {
    if (column.text != nullptr) cells.push_back(TextOrNull(record.*column.text));
    if (column.number != nullptr)
      cells.push_back(record.*column.number ? SqlCell(*(record.*column.number)) : SqlCell());
    if (column.flag != nullptr) cells.push_back(FlagOrNull(record.*column.flag));
  }
  return cells;
}

// Reads a row whose first column is the id, followed by RunColumns(). Metrics and verdicts are not part of the row.
BenchmarkRecord RunFrom(const DbRow& row) {
  BenchmarkRecord record;
  record.id = row.Int(0).value_or(0);
  size_t at = 1;
  for (const RunColumn& column : kRunColumns) {
    if (column.text != nullptr) record.*column.text = row.Text(at);
    if (column.number != nullptr) record.*column.number = row.Int(at);
    if (column.flag != nullptr) record.*column.flag = row.Flag(at);
    ++at;
  }
  return record;
}

constexpr int64_t kPage = 200;  // records

// Inserts the metrics before the samples, which refer to them. A metric of unknown sampling without samples has no row
// in `sample`.
Result<void> InsertMetrics(Connection& connection, int64_t run, const BenchmarkRecord& record) {
  Inserter metrics(connection, "metric (run, ordinal, name, value, unit, higher_is_better)", 6);
  for (size_t i = 0; i < record.metrics.size(); ++i) {
    const MetricRecord& m = record.metrics[i];
    const auto ordinal = static_cast<int64_t>(i);
    GAPLESS_TRY(metrics.Add({run, ordinal, m.name, m.value, TextOrNull(m.unit), FlagOrNull(m.higher_is_better)}));
  }
  GAPLESS_TRY(metrics.Flush());
  Inserter samples(connection, "sample (run, metric, sampling, count, content)", 5);
  for (size_t i = 0; i < record.metrics.size(); ++i) {
    const MetricRecord& m = record.metrics[i];
    if (m.samples.empty() && m.sampling == Sampling::kUnknown) continue;
    const auto ordinal = static_cast<int64_t>(i), count = static_cast<int64_t>(m.samples.size());
    GAPLESS_TRY(samples.Add({run, ordinal, std::string(NameOf(m.sampling)), count, Bytes{PackSamples(m.samples)}}));
  }
  return samples.Flush();
}

// Inserts a record, or finds the one of the same uid. Verdicts are added in both cases, so that importing a history
// again brings the new ones.
Result<Recorded> InsertRecord(Connection& connection, const BenchmarkRecord& record) {
  static const std::string kInsert = [] {
    std::string sql = StrCat("INSERT INTO run (", RunColumns(), ") VALUES (");
    for (size_t i = 1; i <= CellsOf(BenchmarkRecord()).size(); ++i) sql += StrCat(i == 1 ? "$" : ", $", i);
    return sql + ") ON CONFLICT (uid) DO NOTHING RETURNING id";
  }();
  GAPLESS_ASSIGN(const auto added, connection.Run(kInsert, CellsOf(record)));
  Recorded recorded;
  if (!added.empty()) {
    recorded.id = added.front().Int(0).value_or(0);
    GAPLESS_TRY(InsertMetrics(connection, recorded.id, record));
  } else {
    const SqlCell uid[] = {record.uid};
    GAPLESS_ASSIGN(const auto there, connection.Run("SELECT id FROM run WHERE uid = $1", uid));
    recorded = {there.empty() ? 0 : there.front().Int(0).value_or(0), false};
  }
  for (const VerdictRecord& verdict : record.verdicts) GAPLESS_TRY(InsertVerdict(connection, recorded.id, verdict));
  return recorded;
}

// The WHERE clause of a filter and its parameters, which are numbered in the order in which conditions are added.
struct Conditions {
  std::string sql = "WHERE 1 = 1";
  std::vector<SqlCell> cells;

  void Add(std::string_view condition, SqlCell cell) {
    cells.push_back(std::move(cell));
    sql += StrCat(" AND ", condition, " $", cells.size());
  }
  // Compares the pair as a whole, which both databases do by the index run_by_time.
  void After(int64_t time_ns, int64_t id, std::string_view how) {
    cells.insert(cells.end(), {time_ns, id});
    sql += StrCat(" AND (recorded_at_ns, id) ", how, " ($", cells.size() - 1, ", $", cells.size(), ")");
  }
};

Conditions WhereOf(const HistoryFilter& filter) {
  Conditions conditions;
  if (filter.branch) conditions.Add("branch =", *filter.branch);
  if (filter.benchmark) conditions.Add("benchmark =", *filter.benchmark);
  if (filter.commit_sha) conditions.Add("commit_sha =", *filter.commit_sha);
  if (filter.since_unix_ns) conditions.Add("recorded_at_ns >=", *filter.since_unix_ns);
  if (filter.until_unix_ns) conditions.Add("recorded_at_ns <=", *filter.until_unix_ns);
  return conditions;
}

// Narrows the conditions to the newest `limit` records: records are visited oldest first, so the oldest of them is
// looked up and becomes a lower bound.
Result<void> LimitTo(Connection& connection, int64_t limit, Conditions& conditions) {
  const std::string sql = StrCat("SELECT recorded_at_ns, id FROM run ", conditions.sql,
                                 " ORDER BY recorded_at_ns DESC, id DESC LIMIT 1 OFFSET ", limit - 1);
  GAPLESS_ASSIGN(const auto oldest, connection.Run(sql, conditions.cells));
  if (!oldest.empty()) conditions.After(oldest.front().Int(0).value_or(0), oldest.front().Int(1).value_or(0), ">=");
  return {};
}

using Page = std::map<int64_t, BenchmarkRecord*>;  // by id

// Returns the run of a row; null if another program left a row without a run.
BenchmarkRecord* OwnerOf(const Page& page, const DbRow& row) {
  const auto found = page.find(row.Int(0).value_or(0));
  return found == page.end() ? nullptr : found->second;
}

// Reads the metrics and verdicts of all records of a page in two statements. The ids are numbers of ours and need no
// parameters.
Result<void> AddMetrics(Connection& connection, const std::string& ids, bool with_samples, const Page& page) {
  GAPLESS_ASSIGN(
      const auto metrics,
      connection.Run(
          StrCat("SELECT m.run, m.name, m.value, m.unit, m.higher_is_better, s.sampling, ",
                 with_samples ? "s.content" : "NULL",
                 " FROM metric m LEFT JOIN sample s ON s.run = m.run AND s.metric = m.ordinal WHERE m.run IN (", ids,
                 ") ORDER BY m.run, m.ordinal"),
          {}));
  for (const DbRow& row : metrics)
    if (BenchmarkRecord* const owner = OwnerOf(page, row))
      owner->metrics.push_back({.name = row.Text(1),
                                .value = row.Real(2).value_or(0),
                                .unit = row.Text(3),
                                .higher_is_better = row.Flag(4),
                                .sampling = SamplingFrom(row.Text(5)),
                                .samples = UnpackSamples(row.Blob(6))});
  GAPLESS_ASSIGN(const auto verdicts,
                 connection.Run(StrCat("SELECT run, recorded_at_ns, metric, kind, detail FROM verdict WHERE run IN (",
                                       ids, ") ORDER BY recorded_at_ns, id"),
                                {}));
  for (const DbRow& row : verdicts)
    if (BenchmarkRecord* const owner = OwnerOf(page, row))
      owner->verdicts.push_back({row.Int(1).value_or(0), row.Text(2), row.Text(3), row.Text(4)});
  return {};
}

// The next records after `last`; none: that were all.
Result<std::vector<BenchmarkRecord>> ReadPage(Connection& connection, Conditions conditions,
                                              const BenchmarkRecord* last, bool with_samples) {
  if (last != nullptr) conditions.After(last->recorded_unix_ns.value_or(0), last->id, ">");
  GAPLESS_ASSIGN(const auto columns, ReadableColumns(connection));
  GAPLESS_ASSIGN(const auto rows, connection.Run(StrCat("SELECT id, ", columns, " FROM run ", conditions.sql,
                                                        " ORDER BY recorded_at_ns, id LIMIT ", kPage),
                                                 conditions.cells));
  std::vector<BenchmarkRecord> records;
  for (const DbRow& row : rows) records.push_back(RunFrom(row));
  std::string ids;
  Page page;
  for (BenchmarkRecord& record : records) {
    ids += StrCat(ids.empty() ? "" : ", ", record.id);
    page[record.id] = &record;
  }
  if (!records.empty()) GAPLESS_TRY(AddMetrics(connection, ids, with_samples, page));
  return records;
}

}  // namespace

std::optional<bool> DbRow::Flag(size_t column) const {
  const auto number = Int(column);
  return number ? std::optional<bool>(*number != 0) : std::nullopt;
}

std::string PackSamples(std::span<const double> samples) {
  static_assert(std::endian::native == std::endian::little);
  std::string out(samples.size_bytes(), '\0');
  if (!samples.empty()) std::memcpy(out.data(), samples.data(), samples.size_bytes());
  return out;
}

std::vector<double> UnpackSamples(std::string_view content) {
  std::vector<double> samples(content.size() / sizeof(double));
  if (!samples.empty()) std::memcpy(samples.data(), content.data(), samples.size() * sizeof(double));
  return samples;
}

Result<void> InsertVerdict(Connection& connection, int64_t run, const VerdictRecord& verdict) {
  const SqlCell cells[] = {run, verdict.recorded_unix_ns, verdict.metric, verdict.kind, TextOrNull(verdict.detail)};
  const auto done = connection.Run(
      "INSERT INTO verdict (run, recorded_at_ns, metric, kind, detail) VALUES ($1, $2, $3, $4, $5) "
      "ON CONFLICT (run, recorded_at_ns, metric, kind) DO NOTHING",
      cells);
  return done ? Result<void>() : Unexpected{done.error()};
}

Result<std::vector<Recorded>> InsertRecords(Connection& connection, std::span<const BenchmarkRecord> records) {
  std::vector<Recorded> recorded;
  for (const BenchmarkRecord& record : records) {
    GAPLESS_ASSIGN(const auto one, InsertRecord(connection, record));
    recorded.push_back(one);
  }
  return recorded;
}

// Visits page by page; a page that is not full is the last one.
Result<void> VisitRecords(Connection& connection, const HistoryFilter& filter,
                          const std::function<Result<void>(const BenchmarkRecord&)>& visitor) {
  Conditions conditions = WhereOf(filter);
  if (filter.limit) {
    if (*filter.limit <= 0) return {};
    GAPLESS_TRY(LimitTo(connection, *filter.limit, conditions));
  }
  std::optional<BenchmarkRecord> last;
  for (;;) {
    GAPLESS_ASSIGN(const auto records, ReadPage(connection, conditions, last ? &*last : nullptr, filter.with_samples));
    for (const BenchmarkRecord& record : records) GAPLESS_TRY(visitor(record));
    if (static_cast<int64_t>(records.size()) < kPage) return {};
    last = records.back();
  }
}

}  // namespace gapless::internal
