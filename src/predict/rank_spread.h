// SPDX-License-Identifier: Apache-2.0
// The differences in work between ranks and steps, and draws of more ranks from them.
//
// The work of a rank in a step is divided as in an analysis of variance with two factors:
//
//   work(rank, step) = mean × (1 + step's own + rank's own + rest)
//
// Work that all ranks have more of in a step keeps nobody waiting; that of one rank in all steps does, and the rest
// does. The deviation of the rest has (ranks − 1)(steps − 1) degrees of freedom, that of ranks is what their means
// differ by beyond it. Values farther than kOutlying robust deviations from the others count as outliers: they are no
// part of the deviations, and drawn as often as they were seen. Of one rank the steps alone are known; all that they
// differ by counts as rest.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace gapless::internal {

inline constexpr double kOutlying = 4;

// Normal draws from a seed.
class NormalDraws {
 public:
  explicit NormalDraws(uint64_t seed) : engine_(seed) {}
  double Uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1.0p-53; }  // in (0, 1)
  double Normal();

 private:
  std::mt19937_64 engine_;
};

struct RankSpread {
  // Shares of the mean, for each step and each rank. A rank that is no outlier has what would last: the rest that is in
  // the mean of its steps is taken out of it.
  std::vector<double> step_own{}, rank_own{};
  double rank_deviation = 0, rest_deviation = 0;  // without outliers
  double rest_freedom = 0;                        // degrees of freedom of rest_deviation; 0: it is not known
  std::vector<double> rank_outliers{}, rest_outliers{};
  size_t rests = 0;  // values of which rest_outliers are some

  // A rank that was not recorded, and the rest of a step; `times`: multiple of the deviation.
  double DrawRank(NormalDraws& draws, double times) const;
  double DrawRest(NormalDraws& draws, double times) const;
};

// `work`: by rank, by step, as many steps of each; nothing negative.
RankSpread SpreadOf(std::span<const std::vector<double>> work);

}  // namespace gapless::internal
