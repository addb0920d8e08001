// SPDX-License-Identifier: Apache-2.0
// What all copies of a public Run, and the tables taken from it, share. Safe from several threads: the recordings never
// change, what is computed on demand is computed once, and every running query has a database of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "gapless/run.h"
#include "predict/advice.h"
#include "query/database.h"
#include "trace/run.h"

namespace gapless::internal {

// A wish to stop, as the flag that reading and SQLite look at.
class CancelFlag {
 public:
  explicit CancelFlag(const std::stop_token& token) : callback_(token, Raise{&flag_}) {}
  const std::atomic<bool>* get() const { return &flag_; }

 private:
  struct Raise {
    std::atomic<bool>* flag;
    void operator()() const noexcept { flag->store(true); }
  };
  std::atomic<bool> flag_{false};
  std::stop_callback<Raise> callback_;
};

struct RunState {
  RunState(Run given, std::vector<Error> failed, size_t threads, std::unique_ptr<CancelFlag> stop)
      : cancel(std::move(stop)), run(std::move(given)), failures(std::move(failed)), tables(run, threads) {}
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  static const RunState& Of(const gapless::Run& of) { return *of.state_; }

  // What all rules find, with what fixes would buy.
  const Advice& Advised() const;
  const Diagnosis& Diagnosed() const;
  // Runs one statement. The sink may ask this run again, and may throw.
  Result<void> Query(std::string_view sql, RowSink& sink) const;

  std::unique_ptr<CancelFlag> cancel;
  Run run;
  std::vector<Error> failures;
  mutable Tables tables;

 private:
  Result<Database> TakeDatabase() const;

  mutable std::once_flag advised_, diagnosed_;
  mutable std::optional<Advice> advice_;
  mutable std::mutex databases_mutex_;
  mutable std::vector<Database> databases_;  // open and not in use
};

}  // namespace gapless::internal
