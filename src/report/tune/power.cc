// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless tune power`, as text and JSON: each limit or clock with the energy and the time of a step, the
// one that was chosen, and the command that sets it for good.
#include "report/tune/power.h"

#include <algorithm>
#include <cmath>

#include "base/described_json.h"
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "report/text_table.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<PowerVerdict> = static_cast<int64_t>(PowerVerdict::kNoTime) + 1;
template <>
inline constexpr int64_t kValuesOf<PowerKnob> = static_cast<int64_t>(PowerKnob::kClock) + 1;

namespace documents {

// A ratio to the usual limit.
struct LimitRatio {
  std::optional<double> low{}, high{};
  double expected = 1;
  static constexpr FieldInfo kFields[] = {
      Field<&LimitRatio::low>("low", "ratio", "lower end of the 95 % interval; missing: too few pairs"),
      Field<&LimitRatio::high>("high", "ratio", "upper end of the interval"),
      Field<&LimitRatio::expected>("expected", "ratio", "over the usual limit"),
  };
};

struct PowerLimit {
  std::optional<double> limit_w{};
  double joules_per_step = 0, step_time_ms = 0;
  std::optional<LimitRatio> energy{}, time{};
  size_t pairs = 0;
  std::optional<double> clock_mhz{};
  static constexpr FieldInfo kFields[] = {
      Field<&PowerLimit::limit_w>("limit_w", "W", "power limit of each GPU; missing: clocks were tuned"),
      Field<&PowerLimit::joules_per_step>("joules_per_step", "J", "energy of a step, all GPUs of the command"),
      Field<&PowerLimit::step_time_ms>("step_time_ms", "ms", "duration of a step"),
      Field<&PowerLimit::energy>("energy", "", "of a step, over the usual limit; missing: this is the usual one"),
      Field<&PowerLimit::time>("time", "", "of a step, over the usual limit"),
      Field<&PowerLimit::pairs>("pairs", "count", "pairs of windows"),
      Field<&PowerLimit::clock_mhz>("clock_mhz", "MHz", "locked clock of each GPU; missing: not locked"),
  };
};

struct PowerResult {
  std::vector<PowerLimit> limits{};
  std::optional<double> least_limit_w{}, most_limit_w{};
  std::vector<int64_t> gpus{};
  PowerVerdict verdict = PowerVerdict::kNoLimit;
  std::optional<double> chosen_limit_w{};
  std::optional<PowerLimit> proof{};
  std::optional<LimitRatio> cost{};
  std::string set_command{};
  double time_weight = 0;
  std::optional<double> most_slowdown{};
  size_t steps = 0, runs = 0;
  double counter_update_s = 0;
  PowerKnob setting = PowerKnob::kLimit;
  std::optional<double> least_clock_mhz{}, most_clock_mhz{}, chosen_clock_mhz{};
  static constexpr FieldInfo kFields[] = {
      Field<&PowerResult::limits>("limits", "", "the usual one first, then the highest first"),
      Field<&PowerResult::least_limit_w>("least_limit_w", "W", "lower end of the limits that were searched"),
      Field<&PowerResult::most_limit_w>("most_limit_w", "W", "upper end"),
      Field<&PowerResult::gpus>("gpus", "", "numbers of the GPUs, as of nvidia-smi"),
      Field<&PowerResult::verdict>("verdict", "", "may the chosen limit be set?"),
      Field<&PowerResult::chosen_limit_w>("chosen_limit_w", "W", "by the search; missing: the usual one is best"),
      Field<&PowerResult::proof>("proof", "", "of the chosen limit, by pairs that were measured after the search"),
      Field<&PowerResult::cost>("cost", "", "of the proof, by what was to be least"),
      Field<&PowerResult::set_command>("set_command", "", "sets the limit for good", kUnlessEmpty),
      Field<&PowerResult::time_weight>("time_weight", "share", "of time in what was to be least; 0: energy alone"),
      Field<&PowerResult::most_slowdown>("most_slowdown", "share", "by which a step may be longer"),
      Field<&PowerResult::steps>("steps", "count", "steps that the search and the proof took"),
      Field<&PowerResult::runs>("runs", "count", "runs of the command"),
      Field<&PowerResult::counter_update_s>("counter_update_s", "s", "between two changes of the energy counter"),
      Field<&PowerResult::setting>("setting", "", "that was tuned"),
      Field<&PowerResult::least_clock_mhz>("least_clock_mhz", "MHz", "lower end of the clocks that were searched"),
      Field<&PowerResult::most_clock_mhz>("most_clock_mhz", "MHz", "upper end"),
      Field<&PowerResult::chosen_clock_mhz>("chosen_clock_mhz", "MHz", "by the search; missing: not to lock is best"),
  };
};

}  // namespace documents

constinit const TypeInfo kPowerDocument = describe::MakeType<documents::PowerResult>();

namespace {

documents::LimitRatio RatioIn(const RatioInterval& ratio) {
  return {.low = ratio.low, .high = ratio.high, .expected = ratio.expected};
}

bool IsClock(const PowerTuning& tuning) { return tuning.knob == PowerKnob::kClock; }

documents::PowerLimit LimitIn(const PowerTuning& tuning, const PowerRow& row) {
  documents::PowerLimit limit{.joules_per_step = tuning.usual_joules * row.ratio.energy.expected,
                              .step_time_ms = tuning.usual_seconds * 1e3 * row.ratio.time.expected,
                              .energy = RatioIn(row.ratio.energy),
                              .time = RatioIn(row.ratio.time),
                              .pairs = row.pairs};
  (IsClock(tuning) ? limit.clock_mhz : limit.limit_w) = row.value;
  return limit;
}

std::string SettingText(const PowerTuning& tuning, double value) {
  return StrCat(FormatNumber(value, 0), " ", UnitOf(tuning.knob));
}

// The setting as it was found: "700 W".
std::string UsualText(const PowerTuning& tuning) {
  return IsClock(tuning) ? "not locked" : SettingText(tuning, tuning.range.usual);
}

// "-18.2 % (-19.0 to -17.4)", of a table, whose head has the unit, without it.
std::string ChangeText(const RatioInterval& ratio, std::string_view unit = " %") {
  const auto percent = [](double value) {
    const double change = (value - 1) * 100;
    return StrCat(change >= 0.05 ? "+" : "",
                  FormatNumber(std::abs(change) < 0.05 ? 0 : change, change < 99.95 ? 1 : 0));
  };
  std::string text = StrCat(percent(ratio.expected), unit);
  if (ratio.low && ratio.high) text += StrCat(" (", percent(*ratio.low), " to ", percent(*ratio.high), ")");
  return text;
}

std::string LimitTable(const PowerTuning& tuning) {
  const bool proven = tuning.verdict == PowerVerdict::kSaves;
  const auto row = [&](const std::string& name, const std::string& energy, const std::string& time,
                       const PowerRatio& ratio) {
    return std::vector<std::string>{name, FormatDigits(tuning.usual_joules * ratio.energy.expected, 4), energy,
                                    FormatDigits(tuning.usual_seconds * 1e3 * ratio.time.expected, 4), time};
  };
  std::vector<std::vector<std::string>> rows{row(StrCat("  ", UsualText(tuning)), "as it is", "", {})};
  for (const PowerRow& limit : tuning.rows)
    rows.push_back(row(StrCat(proven && limit.value == tuning.chosen ? "▸ " : "  ", SettingText(tuning, limit.value)),
                       ChangeText(limit.ratio.energy, ""), ChangeText(limit.ratio.time, ""), limit.ratio));
  return Aligned({IsClock(tuning) ? "  clock" : "  limit", "J/step", "energy, %", "ms/step", "time, %"}, rows, "");
}

// States what the proof showed, and what stands against the chosen limit.
std::string PowerConclusion(const PowerTuning& tuning) {
  const std::string stays = IsClock(tuning) ? "the clocks are better not locked" : StrCat(UsualText(tuning), " stays");
  if (tuning.verdict == PowerVerdict::kNoTime) return "the budget was used up before the answer: --budget gives more\n";
  if (!tuning.proof)
    return IsClock(tuning) ? "no locked clock is better than those that the GPUs choose\n"
                           : StrCat("no limit is better than ", UsualText(tuning), ": it stays\n");
  const PowerRow& proof = *tuning.proof;
  const std::string measured =
      StrCat(SettingText(tuning, proof.value), ", measured again in ", proof.pairs, " pairs:\nenergy ",
             ChangeText(proof.ratio.energy), ", time ", ChangeText(proof.ratio.time), "\n");
  switch (tuning.verdict) {
    case PowerVerdict::kSaves: return measured;
    case PowerVerdict::kTooSlow:
      return StrCat(measured, "that is slower than ", FormatPercent(*tuning.goal.most_slowdown), ": ", stays, "\n");
    default: return StrCat(measured, "that is not significantly better: ", stays, "\n");
  }
}

}  // namespace

std::string PowerText(const PowerTuning& tuning, const std::vector<std::string>& command) {
  std::string text = StrCat(ShellCommand(command), "\n", tuning.boards.size(), " × ", tuning.boards[0].name, " · ",
                            FormatNumber(tuning.range.low, 0), " to ", SettingText(tuning, tuning.range.high), "\n\n",
                            LimitTable(tuning), "\n", PowerConclusion(tuning));
  text += StrCat(tuning.steps, " steps, counters change every ", FormatNumber(tuning.update_s * 1e3, 0), " ms; ",
                 IsClock(tuning) ? "the GPUs choose their clocks again\n" : "the limits are as they were\n");
  if (!tuning.set_command.empty()) text += StrCat("\n  set it  ", tuning.set_command, "\n");
  return text;
}

std::string PowerJson(const PowerTuning& tuning) {
  documents::PowerResult document{.verdict = tuning.verdict,
                                  .set_command = tuning.set_command,
                                  .time_weight = tuning.goal.time_weight,
                                  .most_slowdown = tuning.goal.most_slowdown,
                                  .steps = tuning.steps,
                                  .runs = tuning.processes,
                                  .counter_update_s = tuning.update_s,
                                  .setting = tuning.knob};
  (IsClock(tuning) ? document.least_clock_mhz : document.least_limit_w) = tuning.range.low;
  (IsClock(tuning) ? document.most_clock_mhz : document.most_limit_w) = tuning.range.high;
  (IsClock(tuning) ? document.chosen_clock_mhz : document.chosen_limit_w) = tuning.chosen;
  document.limits.push_back({.joules_per_step = tuning.usual_joules, .step_time_ms = tuning.usual_seconds * 1e3});
  if (!IsClock(tuning)) document.limits.front().limit_w = tuning.range.usual;
  for (const PowerRow& row : tuning.rows) document.limits.push_back(LimitIn(tuning, row));
  for (const PowerBoard& board : tuning.boards) document.gpus.push_back(board.index);
  if (tuning.proof) {
    document.proof = LimitIn(tuning, *tuning.proof);
    document.cost = RatioIn(tuning.cost);
  }
  return DocumentOf("tune", document);
}

}  // namespace gapless::internal
