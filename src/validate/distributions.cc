// SPDX-License-Identifier: Apache-2.0
// Wraps Boost.Math: errors in a function become NaN or infinity, never an exception.
#include "validate/distributions.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <exception>
#include <limits>

namespace gapless::internal {
namespace {

namespace bm = boost::math;
namespace pol = boost::math::policies;

// Faults of an argument become NaN or infinity instead of exceptions. A series that does not converge, and a number
// that has no place, are thrown and end at Quietly(): what Boost would return instead is a wrong number.
using Quiet = pol::policy<pol::domain_error<pol::ignore_error>, pol::pole_error<pol::ignore_error>,
                          pol::overflow_error<pol::ignore_error>, pol::evaluation_error<pol::throw_on_error>,
                          pol::rounding_error<pol::throw_on_error>, pol::indeterminate_result_error<pol::ignore_error>,
                          pol::max_series_iterations<20000>,  // a million of them takes seconds
                          pol::promote_double<false>>;        // long doubles would cost three times as much
using Normal = bm::normal_distribution<double, Quiet>;
using Student = bm::students_t_distribution<double, Quiet>;
using NoncentralStudent = bm::non_central_t_distribution<double, Quiet>;
using Binomial = bm::binomial_distribution<double, Quiet>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Beyond this many degrees of freedom Student's distribution is the normal one to all digits; beta functions of larger
// parameters take longer than anyone waits.
constexpr double kMaxArgument = 1e15;

bool IsShare(double p) { return p > 0 && p < 1; }
bool IsFreedom(double df) { return df > 0 && df <= kMaxArgument; }

// Nothing of Boost goes past this room.
template <class Act>
double Quietly(Act act) {
  try {
    return act();
  } catch (const std::exception&) {
    return kNan;
  }
}

// Rounding may leave what is a probability a little outside.
double AsShare(double p) { return std::isnan(p) ? p : std::clamp(p, 0.0, 1.0); }

}  // namespace

double NormalCdf(double z) {
  return Quietly([&] { return bm::cdf(Normal(), z); });
}
double NormalUpperTail(double z) {
  return Quietly([&] { return bm::cdf(bm::complement(Normal(), z)); });
}
double NormalQuantile(double p) {
  return IsShare(p) ? Quietly([&] { return bm::quantile(Normal(), p); }) : kNan;
}

double StudentCdf(double t, double df) {
  if (df > kMaxArgument) return NormalCdf(t);
  return IsFreedom(df) ? AsShare(Quietly([&] { return bm::cdf(Student(df), t); })) : kNan;
}
double StudentUpperTail(double t, double df) {
  if (df > kMaxArgument) return NormalUpperTail(t);
  return IsFreedom(df) ? AsShare(Quietly([&] { return bm::cdf(bm::complement(Student(df), t)); })) : kNan;
}
double StudentQuantile(double p, double df) {
  if (df > kMaxArgument) return NormalQuantile(p);
  return IsFreedom(df) && IsShare(p) ? Quietly([&] { return bm::quantile(Student(df), p); }) : kNan;
}

double NoncentralStudentCdf(double t, double df, double noncentrality) {
  if (!IsFreedom(df) || !(std::abs(noncentrality) <= kMaxArgument)) return kNan;
  return AsShare(Quietly([&] { return bm::cdf(NoncentralStudent(df, noncentrality), t); }));
}

double BinomialCdf(int64_t successes, int64_t trials, double p) {
  if (trials < 0 || !(p >= 0 && p <= 1)) return kNan;
  if (successes < 0) return 0;
  if (successes >= trials) return 1;
  if (static_cast<double>(trials) > kMaxArgument) return kNan;
  return AsShare(
      Quietly([&] { return bm::cdf(Binomial(static_cast<double>(trials), p), static_cast<double>(successes)); }));
}

double BetaCdf(double x, double a, double b) {
  if (!(a > 0 && b > 0 && a <= kMaxArgument && b <= kMaxArgument) || std::isnan(x)) return kNan;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return AsShare(Quietly([&] { return bm::ibeta(a, b, x, Quiet()); }));
}

}  // namespace gapless::internal
