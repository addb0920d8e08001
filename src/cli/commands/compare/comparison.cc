// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/strings.h"
#include "validate/hypothesis.h"
#include "validate/power.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr double kWithinSpread = 1.5;  // of the differences between runs of A

std::string Factor(double value) { return StrCat(FormatNumber(value, value < 10 ? 3 : 1), "×"); }

std::string Between(const RatioInterval& interval) {
  if (!interval.low && !interval.high) return "not bounded yet";
  return StrCat(interval.low ? Factor(*interval.low) : "less", " to ", interval.high ? Factor(*interval.high) : "more");
}

std::string P(double p) { return p < 0.0001 ? "below 0.0001" : FormatNumber(p, 4); }

// The largest difference of losses of the same step, and over how many steps.
std::pair<double, size_t> Differ(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  size_t steps = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) most = std::numeric_limits<double>::infinity();
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    most = std::max(most, std::abs(a[i] - b[i]));
    ++steps;
  }
  return {most, steps};
}

struct Row {
  std::string name;
  std::optional<double> a, b;
  std::string unit;
  int decimals;
};

}  // namespace

void Comparison::Add(RunSample a, RunSample b) {
  const double ratio = std::log(*TypicalValue(b) / *TypicalValue(a));
  sequence_.Add(higher_is_better_ ? -ratio : ratio);
  a_.push_back(std::move(a));
  b_.push_back(std::move(b));
}

bool Comparison::IsDecided() const {
  if (verdict() == PairVerdict::kCannotTell) return false;
  const RatioInterval interval = sequence_.Interval();
  return interval.low && interval.high;
}

RatioInterval Comparison::Speedup() const {
  const RatioInterval time = sequence_.Interval();
  RatioInterval speedup;
  speedup.expected = 1 / time.expected;
  if (time.high) speedup.low = 1 / *time.high;
  if (time.low) speedup.high = 1 / *time.low;
  return speedup;
}

std::string Comparison::InShort() const {
  const auto shift = HodgesLehmann(sequence_.log_ratios());
  return shift ? StrCat("speedup ", Factor(std::exp(-shift->estimate))) : "";
}

std::pair<double, double> Comparison::Typical() const {
  std::vector<double> a, b;
  for (const RunSample& sample : a_) a.push_back(*TypicalValue(sample));
  for (const RunSample& sample : b_) b.push_back(*TypicalValue(sample));
  return {*Median(a), *Median(b)};
}

// What a test would say had the number of pairs been fixed before; it was not.
Comparison::Nominal Comparison::NominalP() const {
  Nominal nominal;
  if (const auto test = SignedRank(sequence_.log_ratios())) nominal.signed_rank = test->p;
  std::vector<double> a, b;
  for (const RunSample& sample : a_) a.push_back(std::log(*TypicalValue(sample)));
  for (const RunSample& sample : b_) b.push_back(std::log(*TypicalValue(sample)));
  if (const auto test = WelchTest(b, a)) nominal.welch = test->p;
  return nominal;
}

std::optional<LossParity> Comparison::Losses() const {
  LossParity parity;
  parity.steps = SIZE_MAX;
  for (size_t i = 0; i < a_.size(); ++i) {
    const auto [most, steps] = Differ(a_[i].losses, b_[i].losses);
    parity.max_difference = std::max(parity.max_difference, most);
    parity.steps = std::min(parity.steps, steps);
    if (i > 0) parity.spread = std::max(parity.spread.value_or(0), Differ(a_[i].losses, a_[i - 1].losses).first);
  }
  if (a_.empty() || parity.steps == 0) return std::nullopt;
  parity.parity = parity.max_difference <= kWithinSpread * parity.spread.value_or(0);
  return parity;
}

std::string Comparison::Headline() const {
  const RatioInterval speedup = Speedup();
  const std::string pairs = StrCat(sequence_.size(), sequence_.size() == 1 ? " pair" : " pairs");
  const std::string interval = StrCat("95 % interval ", Between(speedup));
  switch (verdict()) {
    case PairVerdict::kFaster:
      return StrCat("B is faster: ", Factor(speedup.expected), " as fast as A (", interval, "), after ", pairs);
    case PairVerdict::kSlower:
      return StrCat("B is slower: ", Factor(speedup.expected), " as fast as A (", interval, "), after ", pairs);
    case PairVerdict::kEquivalent:
      return StrCat("A and B are equivalent: the difference is below ", FormatPercent(options_.margin), " (speedup ",
                    Factor(speedup.expected), ", ", interval, "), after ", pairs);
    case PairVerdict::kCannotTell: break;
  }
  return StrCat("cannot tell after ", pairs, ": speedup ", Factor(speedup.expected), ", ", interval);
}

std::string Comparison::Table() const {
  const auto a = MetricsOf(a_), b = MetricsOf(b_);
  if (!a || !b) return "";
  const std::string unit = a_[0].source == SampleSource::kPattern ? "" : "ms";
  const std::string what = a_[0].source == SampleSource::kSteps     ? "step"
                           : a_[0].source == SampleSource::kPattern ? "value"
                                                                    : "process";
  const Row rows[] = {{StrCat(what, ", median"), a->p50_ms, b->p50_ms, unit, 3},
                      {StrCat(what, ", p95"), a->p95_ms, b->p95_ms, unit, 3},
                      {"samples a second", a->samples_per_second, b->samples_per_second, "", 1},
                      {StrCat("memory (", a->memory_source, ")"), a->memory_usage_gb, b->memory_usage_gb, "GB", 3},
                      {"GPU utilisation", a->gpu_utilization, b->gpu_utilization, "%", 1},
                      {"energy of the GPUs", a->energy_j, b->energy_j, "J", 0}};
  std::string text;
  for (const Row& row : rows) {
    if (!row.a || !row.b) continue;
    const auto cell = [&](double value) {
      return StrCat(FormatNumber(value, row.decimals), row.unit.empty() ? "" : " ", row.unit);
    };
    const std::string left = cell(*row.a), right = cell(*row.b);
    const double change = *row.a != 0 ? *row.b / *row.a - 1 : 0;
    const auto pad = [](size_t width, const std::string& content) {
      return std::string(width - std::min(width, content.size()), ' ');
    };
    text += StrCat("  ", row.name, pad(22, row.name), pad(14, left), left, pad(14, right), right, "    ",
                   change >= 0 ? "+" : "-", FormatNumber(100 * std::abs(change), 1), " %\n");
  }
  const std::string head = StrCat("  ", std::string(35, ' '), "A", std::string(13, ' '), "B\n");
  return text.empty() ? "" : StrCat(head, text);
}

std::string Comparison::Text() const {
  std::string text = StrCat(Headline(), "\n\n", Table(), "\n");
  const Nominal nominal = NominalP();
  text += StrCat("p ", P(sequence_.AnytimeP()), " at whatever pair one stops");
  if (nominal.signed_rank) text += StrCat(" (nominal: signed rank ", P(*nominal.signed_rank));
  if (nominal.signed_rank && nominal.welch) text += StrCat(", Welch ", P(*nominal.welch));
  text += nominal.signed_rank ? ")\n" : "\n";
  if (const auto detectable = sequence_.DetectableShare())
    text += StrCat("as many pairs with this noise detect ", FormatPercent(*detectable), " (power 80 %)\n");
  if (const auto losses = Losses())
    text += StrCat("loss: ", losses->parity ? "the same" : "differs", ", by ", FormatNumber(losses->max_difference, 6),
                   " at most over ", losses->steps, " steps",
                   losses->spread ? StrCat("; runs of A differ by ", FormatNumber(*losses->spread, 6)) : "", "\n");
  std::map<std::string, std::string> noise;  // the first of each kind
  for (const auto* side : {&a_, &b_})
    for (const RunSample& sample : *side)
      for (std::string& seen : NoiseSeen(sample)) noise.emplace(seen.substr(0, seen.find_first_of("0123456789")), seen);
  for (const auto& [kind, seen] : noise) text += StrCat("noise: ", seen, "\n");
  return text;
}

std::string Comparison::Json(const std::vector<std::string>& a, const std::vector<std::string>& b,
                             uint64_t seed) const {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("verdict", NameOf(verdict()));
  const RatioInterval speedup = Speedup();
  json.Key("speedup");
  json.BeginObject();
  json.Field("low", speedup.low);
  json.Field("expected", speedup.expected);
  json.Field("high", speedup.high);
  json.EndObject();
  json.Field("p_value", sequence_.AnytimeP());
  json.Field("statistically_significant", sequence_.AnytimeP() <= options_.alpha);
  const Nominal nominal = NominalP();
  json.Field("p_signed_rank", nominal.signed_rank);
  json.Field("p_welch", nominal.welch);
  json.Field("nominal", "p_signed_rank and p_welch would hold had the number of pairs been fixed beforehand");
  json.Field("mde_share", sequence_.DetectableShare());
  json.Field("margin", options_.margin);
  json.Field("pairs", pairs());
  json.Field("seed", static_cast<int64_t>(seed));
  json.Field("source", NameOf(a_.empty() ? SampleSource::kProcess : a_[0].source));
  json.Key("log_ratios");
  json.BeginArray();
  for (const double one : sequence_.log_ratios()) json.Real(one);
  json.EndArray();
  const auto side = [&](std::string_view key, const std::vector<RunSample>& samples, const auto& command) {
    json.Key(key);
    const auto metrics = MetricsOf(samples);
    if (!metrics) return json.Null();
    WriteMetrics(json, *metrics);
    json.Field(StrCat(key, "_command"), Join(command, " "));
  };
  side("a", a_, a);
  side("b", b_, b);
  if (const auto losses = Losses()) {
    json.Key("loss");
    json.BeginObject();
    json.Field("parity", losses->parity);
    json.Field("max_difference", losses->max_difference);
    json.Field("spread", losses->spread);
    json.Field("steps", losses->steps);
    json.EndObject();
  }
  if (!a_.empty()) {
    json.Key("environment");
    WriteEnvironment(json, a_[0]);
  }
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
