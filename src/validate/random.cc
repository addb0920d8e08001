// SPDX-License-Identifier: Apache-2.0
#include "validate/random.h"

#include <cmath>

namespace gapless::internal {

double Random::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0, v = 0, square = 0;
  do {
    u = 2 * Uniform() - 1;
    v = 2 * Uniform() - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

}  // namespace gapless::internal
