// SPDX-License-Identifier: Apache-2.0
// Bucket i holds durations in (g^(i-1), g^i], with g = (1 + error) / (1 - error). Joined in pairs, g becomes its
// square.
#include "base/duration_sketch.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kMaxLevel = 12;         // all of int64 is then in one bucket
constexpr int32_t kMaxBucket = 4096;  // 2^63 is in bucket 2184
constexpr int64_t kMaxCount = int64_t{1} << 56;

// The end of the first number of a text, which is taken off; nothing where it does not begin with one.
template <class T>
std::optional<T> TakeNumber(std::string_view& text) {
  T number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

double DurationSketch::Growth() const { return std::pow((1 + kError) / (1 - kError), std::ldexp(1.0, level_)); }

double DurationSketch::error() const {
  const double growth = Growth();
  return (growth - 1) / (growth + 1);
}

void DurationSketch::Add(int64_t ns, int64_t count) {
  if (count <= 0) return;
  count_ += count;
  if (ns <= 0) {
    zeros_ += count;
    return;
  }
  // Always by the finest buckets, so that joining gives what joining later gives.
  auto bucket =
      static_cast<int32_t>(std::ceil(std::log(static_cast<double>(ns)) / std::log((1 + kError) / (1 - kError))));
  for (int level = 0; level < level_; ++level) bucket = (bucket + 1) / 2;
  counts_[bucket] += count;
  Bound();
}

void DurationSketch::Coarsen() {
  std::map<int32_t, int64_t> joined;
  for (const auto& [bucket, count] : counts_) joined[(bucket + 1) / 2] += count;
  counts_ = std::move(joined), ++level_;
}

void DurationSketch::Bound() {
  while (counts_.size() > kMaxBuckets && level_ < kMaxLevel) Coarsen();
}

void DurationSketch::Merge(const DurationSketch& other) {
  DurationSketch finer = other;
  while (level_ < finer.level_) Coarsen();
  while (finer.level_ < level_) finer.Coarsen();
  for (const auto& [bucket, count] : finer.counts_) counts_[bucket] += count;
  zeros_ += finer.zeros_, count_ += finer.count_;
  Bound();
}

int64_t DurationSketch::Quantile(double share) const {
  const auto place = static_cast<int64_t>(std::floor(share * static_cast<double>(count_ - 1)));
  int64_t passed = zeros_;
  if (place < passed) return 0;
  const double growth = Growth();
  for (const auto& [bucket, count] : counts_)
    if ((passed += count) > place) return std::llround(2 * std::pow(growth, bucket) / (growth + 1));
  return 0;
}

std::string DurationSketch::ToText() const {
  std::string text = StrCat(level_, ' ', zeros_, ' ', counts_.empty() ? 0 : counts_.begin()->first, ':');
  int32_t at = counts_.empty() ? 0 : counts_.begin()->first;
  for (const auto& [bucket, count] : counts_) {
    text.append(static_cast<size_t>(bucket - at), ','), text += StrCat(count);
    at = bucket;
  }
  return text;
}

std::optional<DurationSketch> DurationSketch::FromText(std::string_view text) {
  DurationSketch sketch;
  const auto level = TakeNumber<int>(text);
  if (!level || *level > kMaxLevel || !TakeChar(text, ' ')) return std::nullopt;
  const auto zeros = TakeNumber<int64_t>(text);
  if (!zeros || *zeros > kMaxCount || !TakeChar(text, ' ')) return std::nullopt;
  const auto first = TakeNumber<int32_t>(text);
  if (!first || !TakeChar(text, ':')) return std::nullopt;
  sketch.level_ = *level, sketch.zeros_ = sketch.count_ = *zeros;
  for (int32_t bucket = *first; !text.empty(); ++bucket) {
    if (bucket > kMaxBucket) return std::nullopt;
    if (text.front() != ',') {
      const auto count = TakeNumber<int64_t>(text);
      if (!count || *count == 0 || *count > kMaxCount - sketch.count_) return std::nullopt;
      sketch.counts_[bucket] = *count, sketch.count_ += *count;
    }
    if (!text.empty() && !TakeChar(text, ',')) return std::nullopt;
  }
  if (sketch.counts_.size() > kMaxBuckets) return std::nullopt;
  return sketch;
}

}  // namespace gapless::internal
