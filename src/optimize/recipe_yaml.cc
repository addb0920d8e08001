// SPDX-License-Identifier: Apache-2.0
// Parses YAML with libyaml into JSON with a line for each key. Depth and memory are bounded.
#include "optimize/recipe_yaml.h"

#include <yaml.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/json_writer.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

// Memory must stay proportional to the text: each value stores its path, which grows with every level's key.
constexpr size_t kMaxLevels = 50, kMaxValues = 100'000, kMaxKeyBytes = 256, kLevelsWithLines = 4;

// An open level: a mapping waits for a key or for the value of one, a sequence counts.
struct Level {
  bool mapping = false, has_key = false;
  size_t items = 0;
  std::string path{};
  std::set<std::string> keys{};
};

class Parser {
 public:
  explicit Parser(std::string_view text)
      : last_line_(static_cast<size_t>(std::ranges::count(text, '\n')) + (text.ends_with('\n') ? 0 : 1)),
        json_(document_.json) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    // Without a mark of another encoding the text is UTF-8.
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() {
    if (ready_) yaml_parser_delete(&parser_);
  }

  Result<YamlDocument> Run() {
    for (bool over = !ready_; !over;) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) return SyntaxError();
      over = event.type == YAML_STREAM_END_EVENT;
      const std::string problem = Take(event);
      const size_t line = event.start_mark.line + 1;
      yaml_event_delete(&event);
      if (!problem.empty())
        return Fail(too_much_ ? ErrorCode::kUsage : ErrorCode::kInput, problem, StrCat("line ", line));
    }
    if (documents_ == 0) return Fail(ErrorCode::kInput, "it is empty");
    return std::move(document_);
  }

 private:
  Unexpected SyntaxError() const {
    const std::string problem = parser_.problem == nullptr ? "it cannot be read" : parser_.problem;
    const size_t line = parser_.error == YAML_READER_ERROR ? 0 : std::min(parser_.problem_mark.line + 1, last_line_);
    return Fail(ErrorCode::kInput, problem, line == 0 ? "" : StrCat("line ", line));
  }

  // Takes one event; returns the reason if the event has no place in a recipe, else "".
  std::string Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT: return ++documents_ > 1 ? "there is more than one document" : "";
      case YAML_ALIAS_EVENT: return "a recipe has no aliases";
      case YAML_SCALAR_EVENT: return Scalar(event);
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.anchor != nullptr) return "a recipe has no anchors";
        if (event.data.mapping_start.tag != nullptr) return "a recipe has no tags";
        return Open(event, true);
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.anchor != nullptr) return "a recipe has no anchors";
        if (event.data.sequence_start.tag != nullptr) return "a recipe has no tags";
        return Open(event, false);
      case YAML_MAPPING_END_EVENT: json_.EndObject(); return Close();
      case YAML_SEQUENCE_END_EVENT: json_.EndArray(); return Close();
      default: return "";
    }
  }

  std::string TooMuch(std::string what) {
    too_much_ = true;
    return what;
  }

  // Paths are kept for the outer levels only: they serve messages, and grow with the depth.
  std::string NextPath() {
    if (levels_.empty() || levels_.size() > kLevelsWithLines) return "";
    Level& level = levels_.back();
    return level.mapping ? pending_ : StrCat(level.path, "[", level.items++, "]");
  }

  void Note(const yaml_event_t& event, const std::string& path) {
    if (levels_.size() <= kLevelsWithLines) document_.lines.emplace(path, event.start_mark.line + 1);
    if (!levels_.empty()) levels_.back().has_key = false;
  }

  std::string Open(const yaml_event_t& event, bool mapping) {
    if (levels_.size() >= kMaxLevels) return TooMuch("it has too many levels");
    if (++values_ > kMaxValues) return TooMuch(StrCat("it has more than ", FormatCount(kMaxValues), " values"));
    if (!levels_.empty() && levels_.back().mapping && !levels_.back().has_key) return "a key must be a text";
    const std::string path = NextPath();
    Note(event, path);
    levels_.push_back({.mapping = mapping, .path = path});
    mapping ? json_.BeginObject() : json_.BeginArray();
    return "";
  }

  std::string Close() {
    levels_.pop_back();
    return "";
  }

  std::string Scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    if (scalar.anchor != nullptr) return "a recipe has no anchors";
    if (scalar.tag != nullptr) return "a recipe has no tags";
    const std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (!levels_.empty() && levels_.back().mapping && !levels_.back().has_key) return Key(text);
    if (++values_ > kMaxValues) return TooMuch(StrCat("it has more than ", FormatCount(kMaxValues), " values"));
    Note(event, NextPath());
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && (text.empty() || text == "~" || text == "null")) {
      json_.Null();
    } else {
      json_.String(text);
    }
    return "";
  }

  std::string Key(const std::string& text) {
    Level& level = levels_.back();
    if (text.size() > kMaxKeyBytes) return TooMuch("a key of it is too long");
    if (!level.keys.insert(text).second) return StrCat("'", Printable(text), "' stands twice");
    level.has_key = true;
    if (levels_.size() <= kLevelsWithLines) pending_ = level.path.empty() ? text : StrCat(level.path, ".", text);
    json_.Key(text);
    return "";
  }

  size_t last_line_;  // what ends too early is missing there
  yaml_parser_t parser_{};
  bool ready_ = false;
  YamlDocument document_;
  JsonWriter json_;
  std::vector<Level> levels_;
  std::string pending_;  // the path of the key whose value comes next
  size_t documents_ = 0, values_ = 0;
  bool too_much_ = false;
};

}  // namespace

Result<YamlDocument> ParseYaml(std::string_view text) { return Parser(text).Run(); }

// A string of JSON is one of YAML, but for what libyaml takes as a line end or does not print.
std::string YamlQuoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  for (const auto& [raw, escaped] : {std::pair("\xC2\x85", "\\N"),
                                     {"\xE2\x80\xA8", "\\L"},
                                     {"\xE2\x80\xA9", "\\P"},
                                     {"\xEF\xBB\xBF", "\\uFEFF"},
                                     {"\xEF\xBF\xBE", "\\uFFFE"},
                                     {"\xEF\xBF\xBF", "\\uFFFF"}})
    for (size_t at = out.find(raw); at != std::string::npos; at = out.find(raw, at))
      out.replace(at, std::string_view(raw).size(), escaped);
  // C1 control characters.
  for (size_t at = 0; (at = out.find('\xC2', at)) != std::string::npos; ++at) {
    const auto second = static_cast<unsigned char>(out[at + 1]);
    if (second < 0xA0)
      out.replace(at, 2, StrCat("\\x", second < 0x90 ? "8" : "9", std::string(1, "0123456789abcdef"[second & 15])));
  }
  return out;
}

}  // namespace gapless::internal
