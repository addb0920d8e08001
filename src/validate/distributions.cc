// SPDX-License-Identifier: Apache-2.0
#include "validate/distributions.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <limits>

namespace gapless::internal {
namespace {

namespace bm = boost::math;
namespace pol = boost::math::policies;

// Faults become NaN or infinity instead of exceptions.
using Quiet = pol::policy<pol::domain_error<pol::ignore_error>, pol::pole_error<pol::ignore_error>,
                          pol::overflow_error<pol::ignore_error>, pol::evaluation_error<pol::ignore_error>,
                          pol::rounding_error<pol::ignore_error>, pol::indeterminate_result_error<pol::ignore_error>,
                          pol::promote_double<false>>;  // long doubles would cost three times as much
using Normal = bm::normal_distribution<double, Quiet>;
using Student = bm::students_t_distribution<double, Quiet>;
using NoncentralStudent = bm::non_central_t_distribution<double, Quiet>;
using Binomial = bm::binomial_distribution<double, Quiet>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsShare(double p) { return p > 0 && p < 1; }

}  // namespace

double NormalCdf(double z) { return bm::cdf(Normal(), z); }
double NormalUpperTail(double z) { return bm::cdf(bm::complement(Normal(), z)); }
double NormalQuantile(double p) { return IsShare(p) ? bm::quantile(Normal(), p) : kNan; }

double StudentCdf(double t, double df) { return df > 0 ? bm::cdf(Student(df), t) : kNan; }
double StudentUpperTail(double t, double df) { return df > 0 ? bm::cdf(bm::complement(Student(df), t)) : kNan; }
double StudentQuantile(double p, double df) { return df > 0 && IsShare(p) ? bm::quantile(Student(df), p) : kNan; }

double NoncentralStudentCdf(double t, double df, double noncentrality) {
  return df > 0 ? bm::cdf(NoncentralStudent(df, noncentrality), t) : kNan;
}

double BinomialCdf(int64_t successes, int64_t trials, double p) {
  if (trials < 0 || !(p >= 0 && p <= 1)) return kNan;
  if (successes < 0) return 0;
  if (successes >= trials) return 1;
  return bm::cdf(Binomial(static_cast<double>(trials), p), static_cast<double>(successes));
}

double BetaCdf(double x, double a, double b) {
  if (!(a > 0 && b > 0)) return kNan;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return bm::ibeta(a, b, x, Quiet());
}

}  // namespace gapless::internal
