// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0, the form in which code hosts and editors take findings with a file and a line: what is used of it, and
// how it is written. `gapless gate` writes regressions, `gapless analyze` bottlenecks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace gapless::internal::sarif {

struct Message {
  std::string text{};
  static constexpr FieldInfo kFields[] = {Field<&Message::text>("text", "", "sentences")};
};
struct Rule {
  std::string id{};
  Message title{};                       // a line
  std::optional<Message> description{};  // a paragraph
  static constexpr FieldInfo kFields[] = {Field<&Rule::id>("id", "", "name of the rule"),
                                          Field<&Rule::title>("shortDescription", "", "the rule in a line"),
                                          Field<&Rule::description>("fullDescription", "", "what it looks at")};
};
struct Driver {
  std::string_view name = "gapless", version{};
  std::vector<Rule> rules{};
  static constexpr FieldInfo kFields[] = {Field<&Driver::name>("name", "", "name of the program"),
                                          Field<&Driver::version>("version", "", "its version"),
                                          Field<&Driver::rules>("rules", "", "the rules that found something")};
};
struct Tool {
  Driver driver{};
  static constexpr FieldInfo kFields[] = {Field<&Tool::driver>("driver", "", "the program")};
};
struct Artifact {
  std::string uri = ".";
  static constexpr FieldInfo kFields[] = {
      Field<&Artifact::uri>("uri", "", "path below the repository's root, or a URI")};
};
struct Region {
  int64_t line = 1;
  static constexpr FieldInfo kFields[] = {Field<&Region::line>("startLine", "", "line, from 1")};
};
struct Place {
  Artifact artifact{};
  std::optional<Region> region{};
  static constexpr FieldInfo kFields[] = {Field<&Place::artifact>("artifactLocation", "", "the file"),
                                          Field<&Place::region>("region", "", "the line; missing: the whole file")};
};
struct Location {
  Place physical{};
  static constexpr FieldInfo kFields[] = {Field<&Location::physical>("physicalLocation", "", "a place in a file")};
};
struct Result {
  std::string rule{};
  std::string_view level = "error";  // "error", "warning", "note"
  Message message{};
  std::vector<Location> locations{};
  std::map<std::string, std::string> fingerprints{};
  std::optional<double> rank{};
  static constexpr FieldInfo kFields[] = {
      Field<&Result::rule>("ruleId", "", "id of the rule"),
      Field<&Result::level>("level", "", "error, warning or note"),
      Field<&Result::message>("message", "", "what was found, and what to do"),
      Field<&Result::locations>("locations", "", "the places in the code, the most important one first"),
      Field<&Result::fingerprints>("partialFingerprints", "", "the same for the same finding of another run",
                                   kUnlessEmpty),
      Field<&Result::rank>("rank", "", "severity, 0 to 100")};
};
struct Run {
  Tool tool{};
  std::vector<Result> results{};
  static constexpr FieldInfo kFields[] = {Field<&Run::tool>("tool", "", "what made the results"),
                                          Field<&Run::results>("results", "", "the findings")};
};

// Returns where a file is, as SARIF wants it: a relative path as it is, an absolute one as a file: URI, both with other
// than plain letters escaped. Windows' paths become "file:///C:/…".
std::string UriOf(std::string_view path);

// The document of one run.
std::string Write(Run run);

}  // namespace gapless::internal::sarif
