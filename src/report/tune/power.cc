// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless tune power`, as text and JSON: each limit with the energy and the time of a step, the one that
// was chosen, and the command that sets it for good.
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
  double limit_w = 0, joules_per_step = 0, step_time_ms = 0;
  std::optional<LimitRatio> energy{}, time{};
  size_t pairs = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&PowerLimit::limit_w>("limit_w", "W", "power limit of each GPU"),
      Field<&PowerLimit::joules_per_step>("joules_per_step", "J", "energy of a step, all GPUs of the command"),
      Field<&PowerLimit::step_time_ms>("step_time_ms", "ms", "duration of a step"),
      Field<&PowerLimit::energy>("energy", "", "of a step, over the usual limit; missing: this is the usual one"),
      Field<&PowerLimit::time>("time", "", "of a step, over the usual limit"),
      Field<&PowerLimit::pairs>("pairs", "count", "pairs of windows"),
  };
};

struct PowerResult {
  std::vector<PowerLimit> limits{};
  double least_limit_w = 0, most_limit_w = 0;
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
  };
};

}  // namespace documents

constinit const TypeInfo kPowerDocument = describe::MakeType<documents::PowerResult>();

namespace {

documents::LimitRatio RatioIn(const RatioInterval& ratio) {
  return {.low = ratio.low, .high = ratio.high, .expected = ratio.expected};
}

documents::PowerLimit LimitIn(const PowerTuning& tuning, const PowerRow& row) {
  return {.limit_w = row.watts,
          .joules_per_step = tuning.usual_joules * row.ratio.energy.expected,
          .step_time_ms = tuning.usual_seconds * 1e3 * row.ratio.time.expected,
          .energy = RatioIn(row.ratio.energy),
          .time = RatioIn(row.ratio.time),
          .pairs = row.pairs};
}

std::string WattsText(double watts) { return StrCat(FormatNumber(watts, 0), " W"); }

// "-18.2 % (-19.0 to -17.4)"
std::string ChangeText(const RatioInterval& ratio) {
  const auto percent = [](double value) {
    const double change = (value - 1) * 100;
    return StrCat(change >= 0.05 ? "+" : "", FormatNumber(std::abs(change) < 0.05 ? 0 : change, 1));
  };
  std::string text = StrCat(percent(ratio.expected), " %");
  if (ratio.low && ratio.high) text += StrCat(" (", percent(*ratio.low), " to ", percent(*ratio.high), ")");
  return text;
}

// The numbers of the boards as nvidia-smi takes them: "0,1".
std::string BoardNumbers(const PowerTuning& tuning) {
  std::vector<std::string> numbers;
  for (const PowerBoard& board : tuning.boards) numbers.push_back(StrCat(board.index));
  return Join(numbers, ",");
}

std::string SetCommand(const PowerTuning& tuning) {
  if (tuning.verdict != PowerVerdict::kSaves) return "";
  return StrCat("sudo nvidia-smi -i ", BoardNumbers(tuning), " -pl ", FormatNumber(*tuning.chosen, 0));
}

std::string LimitTable(const PowerTuning& tuning) {
  const bool proven = tuning.verdict == PowerVerdict::kSaves;
  const auto row = [&](double watts, const std::string& energy, const std::string& time, const PowerRatio& ratio) {
    return std::vector<std::string>{StrCat(proven && watts == tuning.chosen ? "▸ " : "  ", WattsText(watts)),
                                    FormatDigits(tuning.usual_joules * ratio.energy.expected, 4), energy,
                                    FormatDigits(tuning.usual_seconds * 1e3 * ratio.time.expected, 4), time};
  };
  std::vector<std::vector<std::string>> rows{row(tuning.range.usual, "as it is", "", {})};
  for (const PowerRow& limit : tuning.rows)
    rows.push_back(row(limit.watts, ChangeText(limit.ratio.energy), ChangeText(limit.ratio.time), limit.ratio));
  return Aligned({"  limit", "J/step", "energy", "ms/step", "time"}, rows, "");
}

// States what the proof showed, and what stands against the chosen limit.
std::string PowerConclusion(const PowerTuning& tuning) {
  const std::string usual = WattsText(tuning.range.usual);
  if (tuning.verdict == PowerVerdict::kNoTime) return "the budget was used up before the answer: --budget gives more\n";
  if (!tuning.proof) return StrCat("no limit is better than ", usual, ": it stays\n");
  const PowerRow& proof = *tuning.proof;
  const std::string measured = StrCat(WattsText(proof.watts), ", measured again in ", proof.pairs, " pairs: energy ",
                                      ChangeText(proof.ratio.energy), ", time ", ChangeText(proof.ratio.time), "\n");
  switch (tuning.verdict) {
    case PowerVerdict::kSaves: return measured;
    case PowerVerdict::kTooSlow:
      return StrCat(measured, "that is slower than ", FormatPercent(*tuning.goal.most_slowdown), ": ", usual,
                    " stays\n");
    default: return StrCat(measured, "that is not significantly better: ", usual, " stays\n");
  }
}

}  // namespace

std::string PowerText(const PowerTuning& tuning, const std::vector<std::string>& command) {
  std::string text = StrCat(ShellCommand(command), " · ", tuning.boards.size(), " × ", tuning.boards[0].name, " · ",
                            FormatNumber(tuning.range.low, 0), " to ", WattsText(tuning.range.high), "\n\n",
                            LimitTable(tuning), "\n", PowerConclusion(tuning));
  text += StrCat(tuning.steps, " steps, counters change every ", FormatNumber(tuning.update_s * 1e3, 0),
                 " ms; the limits are as they were\n");
  if (const std::string set = SetCommand(tuning); !set.empty()) text += StrCat("\n  set it  ", set, "\n");
  return text;
}

std::string PowerJson(const PowerTuning& tuning) {
  documents::PowerResult document{.least_limit_w = tuning.range.low,
                                  .most_limit_w = tuning.range.high,
                                  .verdict = tuning.verdict,
                                  .chosen_limit_w = tuning.chosen,
                                  .set_command = SetCommand(tuning),
                                  .time_weight = tuning.goal.time_weight,
                                  .most_slowdown = tuning.goal.most_slowdown,
                                  .steps = tuning.steps,
                                  .runs = tuning.processes,
                                  .counter_update_s = tuning.update_s};
  document.limits.push_back({.limit_w = tuning.range.usual,
                             .joules_per_step = tuning.usual_joules,
                             .step_time_ms = tuning.usual_seconds * 1e3});
  for (const PowerRow& row : tuning.rows) document.limits.push_back(LimitIn(tuning, row));
  for (const PowerBoard& board : tuning.boards) document.gpus.push_back(board.index);
  if (tuning.proof) {
    document.proof = LimitIn(tuning, *tuning.proof);
    document.cost = RatioIn(tuning.cost);
  }
  return DocumentOf("tune", document);
}

}  // namespace gapless::internal
