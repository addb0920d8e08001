// SPDX-License-Identifier: Apache-2.0
// Finds the commit that made a benchmark slower: a binary search whose every answer is noisy.
//
// The model: the logarithm of a run's time is a level plus noise; before the first bad commit one level, from it on a
// higher one. Levels, noise and the place of the change are all unknown, and stay so: the posterior of the place
// integrates over the others at every step (on a grid). Fixing the two levels after the first few runs and treating
// later runs as votes is simpler and wrong: its "95 %" is right in about three of four searches. A share of the runs
// may be outliers.
//
// The next run is that of the commit whose being bad is the most uncertain (probabilistic bisection: Horstein 1963;
// Waeber, Frazier and Henderson, "Bisection search with noisy responses", 2013); while it is open whether anything
// changed at all, the ends are run again. The search is a function of what was added, so it can be resumed from a list
// of runs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace gapless::internal {

struct CommitSearchOptions {
  double confidence = 0.99;    // confidence of the answer
  double least_change = 0.02;  // smaller ones do not count, as a share
  double none_share = 0.1;     // what is believed beforehand of there being no change
  size_t most_runs = 400;
};

// The first bad commit is one of first … last, counted from the good end, which is 0.
struct CommitRange {
  size_t first = 0, last = 0;
  double probability = 0;
};

enum class SearchState { kGoesOn, kFound, kNoChange, kCannotTell };

class CommitSearch {
 public:
  // `commits` counts both ends: 0 is good, commits − 1 is bad. At least 2.
  explicit CommitSearch(size_t commits, const CommitSearchOptions& options = {});

  // A run of a commit took exp(log_time); finite.
  void Add(size_t commit, double log_time);
  // A commit that cannot be run. The ends must be runnable.
  void Skip(size_t commit);

  SearchState state() const { return state_; }
  size_t runs() const { return runs_; }
  // The commit to run next; only while the search goes on.
  size_t next() const { return next_; }
  // The most likely place, and how sure that is, given that something changed. More than one commit when those between
  // cannot be run.
  const CommitRange& best() const { return best_; }
  double none_probability() const { return none_; }
  // Time after the change over time before, for the best place; absent before it is known.
  std::optional<double> ratio() const { return ratio_; }

 private:
  struct Gap {  // places that no run distinguishes: first bad commit in (after, until]
    size_t after, until;
    double probability;
  };
  using Logs = std::vector<double>;  // by noise and level

  void Think();
  void MakeGrid();
  void AddTo(Logs& logs, double log_time) const;
  std::vector<Gap> Gaps();
  double LogOfTwo(const Logs& before, const Logs& after) const;
  double LogOfOne(const Logs& all) const;
  void Choose(const std::vector<Gap>& gaps);
  void FindBest(const std::vector<Gap>& gaps);

  CommitSearchOptions options_;
  size_t commits_, runs_ = 0, grid_made_at_ = 0;
  std::map<size_t, std::vector<double>> times_{};  // by commit
  std::map<size_t, Logs> tables_{};
  std::set<size_t> skipped_{};
  std::vector<double> noises_{}, levels_{};
  double spacing_ = 0;
  size_t least_step_ = 1;  // smallest step of the grid's levels: the smallest change that counts
  SearchState state_ = SearchState::kGoesOn;
  size_t next_ = 0;
  CommitRange best_{};
  double none_ = 0;
  std::optional<double> ratio_{};
};

}  // namespace gapless::internal
