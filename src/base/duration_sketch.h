// SPDX-License-Identifier: Apache-2.0
// The distribution of durations in some dozen counters, which can be merged: quantiles of many ranks together without
// their durations.
//
// It is a DDSketch (Masson, Rim, Lee: "DDSketch: a fast and fully-mergeable quantile sketch with relative-error
// guarantees", PVLDB 12, 2019): counts of logarithmic buckets, each so narrow that its middle is within 1 % of all in
// it. Where there would be more than kMaxBuckets, buckets join in pairs, everywhere (Epicoco et al., "UDDSketch",
// 2020), which about doubles the error; error() says what it is. How often they join depends on the durations alone, so
// merging in any order and grouping gives the same sketch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gapless::internal {

class DurationSketch {
 public:
  static constexpr double kError = 0.01;
  static constexpr size_t kMaxBuckets = 100;

  void Add(int64_t ns, int64_t count = 1);  // 0 and less count as 0
  void Merge(const DurationSketch& other);

  int64_t count() const { return count_; }
  size_t buckets() const { return counts_.size(); }
  // The largest relative error of a quantile.
  double error() const;
  // Returns the duration at place floor(share * (count - 1)) of all in order, within error(); 0 if there is none.
  int64_t Quantile(double share) const;

  // "level zeros first:count,count,,count": a text of ASCII; counts of buckets without any are left out.
  std::string ToText() const;
  // Nothing where it is no such text.
  static std::optional<DurationSketch> FromText(std::string_view text);
  friend bool operator==(const DurationSketch&, const DurationSketch&) = default;

 private:
  void Coarsen();  // joins pairs
  void Bound();
  double Growth() const;  // of a bucket's end from its start

  int level_ = 0;  // how often pairs were joined
  int64_t zeros_ = 0, count_ = 0;
  std::map<int32_t, int64_t> counts_{};  // by bucket
};

}  // namespace gapless::internal
