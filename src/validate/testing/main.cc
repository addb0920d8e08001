// SPDX-License-Identifier: Apache-2.0
// Lets a script drive the statistics over many series: one request per line on stdin, one answer per line on stdout.
//
//   changes [key=value ...] | v v v ...            index:first:last:relative:deviations of each change, separated by
//   blanks gate [key=value ...] | v v v ... | current     verdict statistic limit change level noise mde, "-" where
//   absent walk [key=value ...] | v v ... | r r ...
//       a branch: history, then each new run r judged and kept with its mark. Answers the positions of the first run
//       whose alarm was pending, and of the first regression, "-" for none.
//
// Keys of changes: penalty, deviations, place, relative. Of gate and walk: effect, rate, horizon, higher, naive (runs
// of the mean). A request that cannot be read answers "error: …".
#include <charconv>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "validate/change_points.h"
#include "validate/history_gate.h"

namespace {

using namespace gapless::internal;  // NOLINT(google-build-using-namespace): a test program

struct Request {
  std::string verb;
  std::map<std::string, double, std::less<>> keys;
  std::vector<std::vector<double>> lists;

  double Key(std::string_view name, double otherwise) const {
    const auto found = keys.find(name);
    return found == keys.end() ? otherwise : found->second;
  }
};

std::vector<std::string_view> Cut(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    if (at != 0 && !text.empty()) parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

double Number(std::string_view text) {
  double value = NAN;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Request Read(std::string_view line) {
  Request request;
  const std::vector<std::string_view> parts = Cut(line, '|');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) request.lists.emplace_back();
    for (const std::string_view word : Cut(parts[i], ' ')) {
      const size_t equals = word.find('=');
      if (i > 0)
        request.lists.back().push_back(Number(word));
      else if (equals != std::string_view::npos)
        request.keys[std::string(word.substr(0, equals))] = Number(word.substr(equals + 1));
      else
        request.verb = word;
    }
  }
  return request;
}

std::string Text(std::optional<double> value) { return value ? std::to_string(*value) : "-"; }

std::string Changes(const Request& request) {
  ChangePointOptions options;
  options.penalty = request.Key("penalty", options.penalty);
  options.min_deviations = request.Key("deviations", options.min_deviations);
  options.min_place_share = request.Key("place", options.min_place_share);
  options.min_relative = request.Key("relative", options.min_relative);
  std::string answer;
  for (const ChangePoint& change : FindChangePoints(request.lists.at(0), options)) {
    if (!answer.empty()) answer += ' ';
    answer += std::to_string(change.index) + ':' + std::to_string(change.first) + ':' + std::to_string(change.last) +
              ':' + Text(change.relative_change) + ':' + Text(change.deviations);
  }
  return answer;
}

GateOptions OptionsOf(const Request& request) {
  GateOptions options;
  options.effect = request.Key("effect", options.effect);
  options.false_alarm_rate = request.Key("rate", options.false_alarm_rate);
  options.horizon_runs = static_cast<size_t>(request.Key("horizon", static_cast<double>(options.horizon_runs)));
  options.higher_is_better = request.Key("higher", 0) != 0;
  return options;
}

gapless::Result<GateVerdict> Judge(const Request& request, const std::vector<GateRun>& history, double current) {
  const double naive = request.Key("naive", 0);
  if (naive > 0) return NaiveGate(history, current, OptionsOf(request), static_cast<size_t>(naive));
  return JudgeAgainstHistory(history, current, OptionsOf(request));
}

std::vector<GateRun> HistoryOf(const Request& request) {
  std::vector<GateRun> history;
  for (const double value : request.lists.at(0)) history.push_back({value, GateMark::kUnmarked});
  return history;
}

std::string Gate(const Request& request) {
  const auto verdict = Judge(request, HistoryOf(request), request.lists.at(1).at(0));
  if (!verdict) return "error: " + verdict.error().message;
  constexpr std::string_view kNames[] = {"fine", "regression", "improvement", "cannot_tell"};
  std::string answer(kNames[static_cast<size_t>(verdict->kind)]);
  for (const auto& value :
       {verdict->statistic, verdict->limit, verdict->change, verdict->level, verdict->noise, verdict->mde})
    answer += ' ' + Text(value);
  return answer;
}

std::string Walk(const Request& request) {
  std::vector<GateRun> history = HistoryOf(request);
  const std::vector<double>& runs = request.lists.at(1);
  std::string pending = "-";
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto verdict = Judge(request, history, runs[i]);
    if (!verdict) return "error: " + verdict.error().message;
    const bool is_regression = verdict->kind == GateKind::kRegression;
    const bool is_pending = verdict->pending == GateKind::kRegression;
    if (pending == "-" && (is_pending || is_regression)) pending = std::to_string(i);
    if (is_regression) return pending + ' ' + std::to_string(i);
    history.push_back({runs[i], is_pending ? GateMark::kPending : GateMark::kUnmarked});
  }
  return pending + " -";
}

std::string Answer(const Request& request) {
  const std::map<std::string, std::pair<size_t, std::function<std::string(const Request&)>>> verbs = {
      {"changes", {1, Changes}}, {"gate", {2, Gate}}, {"walk", {2, Walk}}};
  const auto verb = verbs.find(request.verb);
  if (verb == verbs.end() || request.lists.size() < verb->second.first) return "error: not a request";
  for (const auto& list : request.lists)
    if (list.empty()) return "error: an empty list";
  return verb->second.second(request);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) std::cout << Answer(Read(line)) << '\n';
}
