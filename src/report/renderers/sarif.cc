// SPDX-License-Identifier: Apache-2.0
// The findings as SARIF 2.1.0, which code hosts and editors show at the line of the code: a result for each bottleneck,
// at the sources of its evidence. Where no source was recorded the result stands at the recording, because viewers
// drop results without a place.
#include "report/sarif.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "report/amounts.h"
#include "report/renderer.h"

namespace gapless::internal::sarif_renderer {
namespace {

constexpr size_t kMaxPlaces = 10;

// "file:line", or "function() (file)" where the line is not known.
sarif::Place PlaceOf(std::string_view source) {
  sarif::Place place;
  const size_t colon = source.rfind(':'), bracket = source.rfind(" (");
  int64_t line = 0;
  const char* end = source.data() + source.size();
  if (colon != source.npos && std::from_chars(source.data() + colon + 1, end, line).ptr == end && line > 0) {
    place.artifact.uri = sarif::UriOf(source.substr(0, colon));
    place.region = sarif::Region{.line = line};
  } else if (bracket != source.npos && source.ends_with(')')) {
    place.artifact.uri = sarif::UriOf(source.substr(bracket + 2, source.size() - bracket - 3));
  } else {
    place.artifact.uri = sarif::UriOf(source);
  }
  return place;
}

// The sources of a finding, each once, those with the most important evidence first.
std::vector<std::string> SourcesOf(const Bottleneck& found) {
  std::vector<std::string> sources;
  for (const Evidence& evidence : found.evidence)
    if (!evidence.source.empty() && sources.size() < kMaxPlaces &&
        std::ranges::find(sources, evidence.source) == sources.end())
      sources.push_back(evidence.source);
  return sources;
}

std::string_view LevelOf(const Bottleneck& found) {
  return found.severity > kCriticalSeverity ? "error" : found.severity >= kWarningSeverity ? "warning" : "note";
}

// The finding, its evidence, its advice and its gain, a line each.
std::string TextOf(const Bottleneck& found) {
  std::vector<std::string> lines = {found.title, found.description};
  if (!found.evidence.empty()) lines.push_back(found.evidence[0].text);
  for (const Recommendation& advice : found.recommendations) {
    lines.push_back(StrCat("Try: ", advice.text));
    for (const std::string_view line : Split(advice.code, '\n')) lines.emplace_back(line);
  }
  if (found.gain) lines.push_back(StrCat("Expected speedup: ", GainText(*found.gain)));
  std::erase(lines, "");
  for (std::string& line : lines) line = Printable(line);
  return Join(lines, "\n");
}

sarif::Result ResultOf(const Bottleneck& found, const Report& report) {
  sarif::Result result{.rule = found.id, .level = LevelOf(found), .message = {TextOf(found)}};
  result.rank = 100 * std::clamp(found.severity, 0.0, 1.0);
  const std::vector<std::string> sources = SourcesOf(found);
  for (const std::string& source : sources) result.locations.push_back({PlaceOf(source)});
  if (sources.empty() && !report.run.traces().empty())
    result.locations.push_back({{.artifact = {sarif::UriOf(report.run.traces()[0].trace->info.path)}}});
  // A line that moved is the same finding, so the number of the line is no part of it.
  const std::string place = result.locations.empty() ? "" : result.locations[0].physical.artifact.uri;
  result.fingerprints["gapless/v1"] = StrCat(found.id, ":", place);
  return result;
}

std::string Render(const Report& report, const RenderOptions&) {
  sarif::Run run;
  for (const Bottleneck& found : report.diagnosis.bottlenecks) run.results.push_back(ResultOf(found, report));
  for (const Rule* rule : AllRules()) {
    const bool fired = std::ranges::any_of(run.results, [&](const auto& result) { return result.rule == rule->id; });
    if (fired)
      run.tool.driver.rules.push_back({.id = std::string(rule->id),
                                       .title = {std::string(rule->title)},
                                       .description = sarif::Message{std::string(rule->why)}});
  }
  return sarif::Write(std::move(run));
}

}  // namespace

RENDERER(sarif) = {
    .name = "sarif",
    .help = "SARIF 2.1.0: findings at their lines, for code hosts and editors",
    .extension = ".sarif",
    .render = Render,
    .file = "report.sarif",
};

}  // namespace gapless::internal::sarif_renderer
