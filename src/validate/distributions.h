// SPDX-License-Identifier: Apache-2.0
// The distributions that the statistics need, from Boost.Math, whose headers stay behind this source. Arguments outside
// a distribution's domain, and what cannot be computed, give NaN, never an exception.
#pragma once

#include <cstdint>

namespace gapless::internal {

double NormalCdf(double z);
double NormalUpperTail(double z);              // 1 - cdf, exact in the far tail
double NormalQuantile(double p);               // 0 < p < 1
double StudentCdf(double t, double df);        // df > 0, not necessarily whole
double StudentUpperTail(double t, double df);  // 1 - cdf, exact in the far tail
double StudentQuantile(double p, double df);   // 0 < p < 1
double NoncentralStudentCdf(double t, double df, double noncentrality);
double BinomialCdf(int64_t successes, int64_t trials, double p);  // P(X <= successes)
double BetaCdf(double x, double a, double b);                     // the regularised incomplete beta function

}  // namespace gapless::internal
