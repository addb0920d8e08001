// SPDX-License-Identifier: Apache-2.0
// Measures power limits, or clocks, on one training that goes on: windows of whole steps at a limit, each held against
// a window next to it at the usual limit, so that a machine that drifts affects both alike.
//
//   usual  limit limit  usual  limit limit  usual …      two pairs for each limit: (usual, limit) and (limit, usual)
//
// A window begins and ends where a step ends. Its energy is the difference of the boards' counters at these two
// moments, interpolated between the updates of a counter; a window is as long as ten updates, so that what happens
// between two of them does not matter. Steps until the boards obey a new limit are left out.
//
// The search (optimize/power_search.h) names the limits. The one that it chooses is measured again, and only these new
// pairs are its proof: the least of several noisy readings looks better than it is.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "gapless/speedup.h"
#include "optimize/power_search.h"

namespace gapless::internal {

struct PowerPlan {
  PowerRange range{};
  PowerGoal goal{};
  size_t devices = 1;
  size_t warmup = 10;                 // steps of each process before the first window
  size_t window_steps = 4;            // of a window at least
  int window_updates = 10;            // of the slowest counter, that a window lasts at least
  double settle_s = 0.3;              // after a new limit
  size_t proof_pairs = 6;             // fewer have no 95 % interval by signed ranks
  size_t most_settings = 8;           // limits, the usual one included
  std::optional<double> highest_w{};  // the highest power limit; absent: the range has it
};

// One limit with all its pairs. Logarithms of its window over the usual one.
struct PowerSetting {
  double value = 0;
  std::vector<double> energy{}, time{};  // per step
};

// A ratio to the usual limit with its 95 % interval; the ends are absent where the pairs are too few.
struct PowerRatio {
  RatioInterval energy{}, time{};
};

class PowerBlocks {
 public:
  // `set_limit` sets the limit of all boards; its error ends the measurement.
  using SetLimit = std::function<Result<void>(double value)>;
  PowerBlocks(const PowerPlan& plan, SetLimit set_limit);

  // A process begins to train: what was begun in another is measured anew.
  void BeginProcess();
  // The counter of a device was seen to change. Of each device in order of time.
  void AddEnergy(size_t device, int64_t unix_ns, double joules);
  // A step of the first rank ended. In order.
  void AddStep(int64_t begin_unix_ns, int64_t dur_ns);
  // Measures as far as counters and steps reach, and sets the next limit.
  void Advance(int64_t now_unix_ns);

  bool IsDone() const { return is_done_ || error_.has_value(); }
  bool FoundAll() const { return is_done_; }
  const std::optional<Error>& error() const { return error_; }
  // No time is left: what has been measured stands.
  void Stop() { is_done_ = true; }

  std::span<const PowerSetting> settings() const { return settings_; }  // in the order in which they were tried
  const PowerSetting& proof() const { return proof_; }                  // new pairs of the chosen one
  std::optional<double> chosen() const { return chosen_; }              // by the search, before its proof
  // Per step of all boards at the usual limit, medians over its windows; absent before the first window.
  std::optional<double> usual_joules() const;
  std::optional<double> usual_seconds() const;
  // Time between two changes of the slowest counter, s; absent until it changed six times.
  std::optional<double> update_s() const;
  size_t steps() const { return steps_; }  // that were taken, without warm-up
  double limit() const { return limit_; }  // that is set now, as far as we know
  const PowerPlan& plan() const { return plan_; }
  double draw() const;  // mean power of a board at the usual limit over the highest power limit; 1 before it is known

 private:
  struct Counter {
    std::deque<std::pair<int64_t, double>> points{};  // time and joules of each change
    std::vector<double> gaps_s{};
  };
  struct Reading {
    double joules = 0, seconds = 0;  // a step
  };
  double JoulesAt(int64_t unix_ns) const;
  int64_t CoveredNs() const;
  void Take(int64_t step_end_ns, int64_t now_ns);
  void CloseWindow(int64_t end_ns, int64_t now_ns);
  void Paired(const Reading& usual);
  void NextSetting();
  void Want(double value, int64_t now_ns);
  bool IsProving() const { return chosen_.has_value(); }

  PowerPlan plan_;
  SetLimit set_limit_;
  PowerSearch search_;
  std::vector<Counter> counters_;
  std::deque<int64_t> ends_{};   // of steps that are not taken yet
  size_t steps_ = 0, seen_ = 0;  // seen_: steps of this process

  double limit_ = 0;
  int64_t set_ns_ = 0;                  // when it was set
  std::optional<int64_t> window_ns_{};  // begin of the window under way
  size_t window_count_ = 0;             // its steps
  std::optional<Reading> before_{};     // latest window at the usual limit
  std::vector<Reading> between_{};      // windows at a limit since then
  std::optional<double> next_{};        // the limit that is measured now
  std::vector<Reading> usual_{};
  std::vector<PowerSetting> settings_{};
  PowerSetting proof_{};
  std::optional<double> chosen_{};
  bool is_done_ = false;
  std::optional<Error> error_{};
};

// The ratios of a setting, from its own pairs alone by signed ranks where they are at least six; else the ends are
// those of Student's distribution with the scatter of all settings' pairs together.
PowerRatio RatioOf(const PowerSetting& setting, std::span<const PowerSetting> all);

}  // namespace gapless::internal
