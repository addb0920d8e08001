// SPDX-License-Identifier: Apache-2.0
#include "serve/run_query.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "base/strings.h"
#include "query/database.h"

namespace gapless::internal {
namespace {

constexpr int kTextBytes = 1 << 17;  // a search in a text of this size takes a fifth of a second at worst

// Sets a flag when the time is up or the server ends.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds time, const std::atomic<bool>& stop)
      : end_(std::chrono::steady_clock::now() + time), stop_(stop), thread_([this] { Watch(); }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  const std::atomic<bool>* flag() const { return &flag_; }

 private:
  void Watch() {
    constexpr std::chrono::milliseconds kTick{50};
    std::unique_lock lock(mutex_);
    while (!over_ && !stop_ && std::chrono::steady_clock::now() < end_)
      wake_.wait_for(lock, kTick, [this] { return over_; });
    if (!over_) flag_ = true;
  }

  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> flag_ = false;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

std::string_view WordOf(ColumnType type) {
  return type == ColumnType::kText ? "text" : type == ColumnType::kInt ? "int" : "real";
}

class AnswerSink : public RowSink {
 public:
  explicit AnswerSink(const QueryLimits& limits) : limits_(limits) {}

  void Columns(std::span<const std::string> names) override {
    for (const std::string& name : names) answer_.columns.push_back({name, {}, {}, {}});
    answer_.cells.resize(names.size());
  }
  void Origins(std::span<const std::optional<ColumnSpec>> origins) override {
    for (size_t i = 0; i < origins.size() && i < answer_.columns.size(); ++i) {
      if (!origins[i]) continue;
      ResultColumn& column = answer_.columns[i];
      column.type = WordOf(origins[i]->type), column.unit = origins[i]->unit, column.help = origins[i]->help;
    }
  }
  bool Row(std::span<const SqlValue> cells) override {
    for (const SqlValue& cell : cells) bytes_ += cell.text.size();
    if (static_cast<size_t>(answer_.rows) >= limits_.rows || bytes_ > limits_.bytes) return answer_.complete = false;
    for (size_t i = 0; i < cells.size(); ++i) answer_.cells[i].push_back(Scalar(cells[i]));
    ++answer_.rows;
    return true;
  }

  // A column that is computed has the type of its first value.
  QueryAnswer Take() {
    for (size_t i = 0; i < answer_.columns.size(); ++i) {
      std::string_view& type = answer_.columns[i].type;
      for (const JsonScalar& cell : answer_.cells[i]) {
        if (!type.empty()) break;
        type = std::holds_alternative<int64_t>(cell)  ? "int"
               : std::holds_alternative<double>(cell) ? "real"
               : cell.index() != 0                    ? "text"
                                                      : "";
      }
      if (type.empty()) type = "text";
    }
    return std::move(answer_);
  }

 private:
  static JsonScalar Scalar(const SqlValue& cell) {
    switch (cell.kind) {
      case SqlValue::Kind::kInt: return cell.integer;
      case SqlValue::Kind::kReal: return cell.real;
      case SqlValue::Kind::kText: return std::string(cell.text);
      case SqlValue::Kind::kNull: break;
    }
    return {};
  }

  const QueryLimits& limits_;
  QueryAnswer answer_;
  size_t bytes_ = 0;
};

}  // namespace

Result<QueryAnswer> AnswerQuery(const Run& run, Tables& tables, std::string_view sql, const QueryLimits& limits,
                                const std::atomic<bool>& stop) {
  const Deadline deadline(limits.time, stop);
  AnswerSink sink(limits);
  try {
    GAPLESS_ASSIGN(auto database, Database::Open(run, tables, deadline.flag()));
    database.Bound(kTextBytes);
    const auto done = database.Query(sql, sink);
    const bool ended = !done && done.error().code == ErrorCode::kInterrupted;
    if (ended && stop) return Fail(ErrorCode::kInterrupted, "the server ends, and the query with it");
    if (ended)
      return Fail(ErrorCode::kUsage,
                  StrCat("the query was ended after ", FormatNumber(static_cast<double>(limits.time.count()) / 1e3, 0),
                         " s, the longest that one may take"),
                  "", "narrow it by time, rank or name, or run it with `gapless query`, which has no limit");
    GAPLESS_TRY(done);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kUsage, "the query needs more memory than one may take", "",
                "narrow it, or run it with `gapless query`, which has no limit");
  }
  return sink.Take();
}

}  // namespace gapless::internal
