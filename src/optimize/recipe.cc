// SPDX-License-Identifier: Apache-2.0
// Reads and writes recipes, as JSON or YAML.
//
// Both forms hold the same keys, and are read by the same code: YAML becomes JSON first. People edit recipes, so
// an error names the line and the key; a JSON file is looked through as YAML for that. The first fault is
// reported. Files are written atomically, and readable for their owner alone.
#include "optimize/recipe.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "base/version.h"
#include "collect/files.h"
#include "optimize/recipe_check.h"
#include "optimize/recipe_yaml.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kFormat = "gapless.recipe";
constexpr int kNewestSchema = 1;
constexpr size_t kLargest = size_t{1} << 20;

bool IsYaml(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

bool IsVariable(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

bool IsText(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c == 0; });
}

// Reads by hand, not by a description: people edit recipes and take them from others. Numbers of YAML are texts, each
// value has a rule of its own, and an error says what a value must be, with its key.
class Reader {
 public:
  // `lenient`: numbers may be texts, as those of YAML are.
  explicit Reader(bool lenient) : lenient_(lenient) {}

  Result<Recipe> Run(const JsonValue& json) {
    if (!json.is_object() || json.TextOf("format") != kFormat) return Wrong("", "it is no recipe of gapless");
    const auto schema = Number(json.Get("schema"));
    if (!schema || *schema < 1 || *schema != std::floor(*schema)) return Wrong("schema", "it must be a whole number");
    if (*schema > kNewestSchema)
      return FromAnotherVersion("the recipe", static_cast<int64_t>(*schema), kNewestSchema, "schema");
    Texts(json.Get("command"), "command");
    const JsonValue& fixes = json.Get("fixes");
    if (!fixes.is_array()) return Wrong("fixes", "it must be a list");
    for (size_t i = 0; i < fixes.items().size(); ++i) TakeFix(fixes.items()[i], StrCat("fixes[", i, "]"));
    Pairs(json.Get("made_on"), "made_on", recipe_.made_on);
    Pairs(json.Get("environment"), "environment", recipe_.environment);
    for (const auto& [name, value] : recipe_.environment)
      if (const auto allowed = CheckVariable(recipe_, name, value); !allowed)
        Note(StrCat("environment.", name), allowed.error().message, allowed.error().hint);
    Speedups(json.Get("speedup"), "speedup",
             {{"low", &recipe_.low}, {"measured", &recipe_.speedup}, {"high", &recipe_.high}});
    recipe_.proved = json.Get("proved").Bool().value_or(json.TextOf("proved") != "false");
    if (problem_) return Unexpected{*problem_};
    return std::move(recipe_);
  }

 private:
  using Fields = std::vector<std::pair<std::string_view, std::optional<double>*>>;

  static Unexpected Wrong(std::string place, std::string what) {
    return Fail(ErrorCode::kInput, std::move(what), std::move(place));
  }
  void Note(std::string place, std::string what, std::string hint = "") {
    if (!problem_) problem_ = Error{ErrorCode::kInput, std::move(what), std::move(place), std::move(hint)};
  }
  std::optional<double> Number(const JsonValue& value) const { return lenient_ ? value.NumberIn() : value.Number(); }

  void Texts(const JsonValue& list, const std::string& place) {
    if (!list.is_array()) return Note(place, "it must be a list");
    for (size_t i = 0; i < list.items().size(); ++i) {
      const std::string* text = list.items()[i].Text();
      if (text == nullptr || !IsText(*text)) return Note(StrCat(place, "[", i, "]"), "it must be a text");
      recipe_.command.push_back(*text);
    }
  }

  void TakeFix(const JsonValue& json, const std::string& place) {
    if (!json.is_object()) return Note(place, "it must have a key `item`");
    const std::string item = json.TextOf("item");
    if (item.empty() || !IsText(item)) return Note(StrCat(place, ".item"), "it must name a fix, such as workers=4");
    auto checked = CheckedItem(item);
    if (!checked) return Note(StrCat(place, ".item"), checked.error().message, checked.error().hint);
    RecipeFix fix = std::move(*checked);
    fix.own = fix.own || json.Get("own").Bool().value_or(json.TextOf("own") == "true");
    fix.safety = json.TextOf("safety");
    fix.what = json.TextOf("what");
    Speedups(json.Get("speedup"), StrCat(place, ".speedup"),
             {{"predicted", &fix.predicted}, {"low", &fix.low}, {"measured", &fix.measured}, {"high", &fix.high}});
    recipe_.fixes.push_back(std::move(fix));
  }

  void Pairs(const JsonValue& json, const std::string& place, std::map<std::string, std::string>& into) {
    if (json.kind() == JsonValue::Kind::kNull) return;
    if (!json.is_object()) return Note(place, "it must be names with their values");
    for (size_t i = 0; i < json.items().size(); ++i) {
      const std::string* text = json.items()[i].Text();
      const std::string& key = json.keys()[i];
      if (text == nullptr || !IsText(*text)) return Note(StrCat(place, ".", key), "it must be a text");
      if (!into.emplace(key, *text).second) return Note(StrCat(place, ".", key), "it stands twice");
    }
  }

  void Speedups(const JsonValue& json, const std::string& place, const Fields& fields) {
    if (json.kind() == JsonValue::Kind::kNull) return;
    if (!json.is_object()) return Note(place, "it must be names with numbers");
    for (const auto& [key, into] : fields) {
      const JsonValue& value = json.Get(key);
      if (value.kind() == JsonValue::Kind::kNull) continue;
      *into = Number(value);
      if (!*into || !std::isfinite(**into) || **into <= 0)
        return Note(StrCat(place, ".", key), "it must be a number above 0");
    }
  }

  bool lenient_;
  Recipe recipe_;
  std::optional<Error> problem_;
};

// "optimized.json, line 12 (fixes[0].item)".
std::string Place(const std::string& path, std::string_view line, std::string_view key) {
  std::string place = path;
  if (!line.empty()) place += StrCat(", ", line);
  if (!key.empty()) place += StrCat(" (", Printable(key), ")");
  return place;
}

constexpr std::string_view kHint = "gapless optimize writes recipes; correct this one, or make it anew";

// Adds file and line to an error that names a key.
Unexpected BadRecipe(const Error& error, const std::string& path, std::string_view text) {
  std::string line;
  const auto yaml = ParseYaml(text);
  // A missing key is reported at the line of its nearest parent.
  for (std::string key = error.place; yaml && !key.empty() && line.empty();) {
    if (const auto found = yaml->lines.find(key); found != yaml->lines.end()) line = StrCat("line ", found->second);
    const size_t cut = key.find_last_of(".[");
    key = cut == std::string::npos ? "" : key.substr(0, cut);
  }
  return Fail(error.code, error.message, Place(path, line, error.place),
              error.hint.empty() ? std::string(kHint) : error.hint);
}

Result<std::string> TextOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Fail(ErrorCode::kInput, "there is no such recipe", path, std::string(kHint));
  return ContentOf(path, kLargest + 1);
}

// Written by hand, too, so that both directions of a key stand in one file.
void WriteSpeedups(JsonWriter& json, const Recipe& recipe) {
  if (!recipe.low && !recipe.speedup && !recipe.high) return;
  json.Key("speedup");
  json.BeginObject();
  json.Field("low", recipe.low);
  json.Field("measured", recipe.speedup);
  json.Field("high", recipe.high);
  json.EndObject();
}

void WriteFix(JsonWriter& json, const RecipeFix& fix) {
  json.BeginObject();
  json.Field("item", fix.item);
  if (fix.own) json.Field("own", true);
  json.FieldUnlessEmpty("safety", fix.safety);
  json.FieldUnlessEmpty("what", fix.what);
  if (fix.predicted || fix.low || fix.measured || fix.high) {
    json.Key("speedup");
    json.BeginObject();
    json.Field("predicted", fix.predicted);
    json.Field("low", fix.low);
    json.Field("measured", fix.measured);
    json.Field("high", fix.high);
    json.EndObject();
  }
  json.EndObject();
}

void WritePairs(JsonWriter& json, std::string_view key, const std::map<std::string, std::string>& pairs) {
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, value] : pairs) json.Field(name, value);
  json.EndObject();
}

// A tree of values as YAML in blocks.
void WriteYaml(std::string& out, const JsonValue& value, const std::string& indent) {
  if (value.is_object() || value.is_array()) {
    if (value.items().empty()) return void(out += value.is_object() ? " {}\n" : " []\n");
    out += "\n";
    for (size_t i = 0; i < value.items().size(); ++i) {
      const JsonValue& item = value.items()[i];
      if (value.is_object()) {
        const std::string& key = value.keys()[i];
        out += StrCat(indent, IsVariable(key) ? key : YamlQuoted(key), ":");
        WriteYaml(out, item, indent + "  ");
        continue;
      }
      std::string block;
      WriteYaml(block, item, indent + "  ");
      // The first key of a mapping stands beside the dash.
      const bool mapping = item.is_object() && !item.items().empty();
      out += StrCat(indent, "-", mapping ? " " : "", mapping ? block.substr(indent.size() + 3) : block);
    }
    return;
  }
  if (value.Text() != nullptr) return void(out += StrCat(" ", YamlQuoted(*value.Text()), "\n"));
  out += StrCat(" ", ToJson(value), "\n");
}

}  // namespace

std::string ToJson(const Recipe& recipe) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("format", kFormat);
  json.Field("schema", recipe.schema);
  if (!recipe.proved) json.Field("proved", false);
  json.Key("command");
  json.BeginArray();
  for (const std::string& word : recipe.command) json.String(word);
  json.EndArray();
  json.Key("fixes");
  json.BeginArray();
  for (const RecipeFix& fix : recipe.fixes) WriteFix(json, fix);
  json.EndArray();
  WriteSpeedups(json, recipe);
  WritePairs(json, "environment", recipe.environment);
  WritePairs(json, "made_on", recipe.made_on);
  json.EndObject();
  return out + "\n";
}

// Made from the JSON, so that the two forms cannot differ.
std::string ToYaml(const Recipe& recipe) {
  std::string out;
  if (const auto tree = JsonValue::Parse(ToJson(recipe))) WriteYaml(out, *tree, "");
  return out.substr(std::min<size_t>(out.size(), 1));
}

Result<void> WriteRecipe(const Recipe& recipe, const std::string& path) {
  return WriteFileAtomically(path, IsYaml(path) ? ToYaml(recipe) : ToJson(recipe), 0600);
}

Result<Recipe> ReadRecipe(const std::string& path) {
  GAPLESS_ASSIGN(const auto text, TextOf(path));
  return ParseRecipe(text, path);
}

Result<Recipe> ParseRecipe(std::string_view text, const std::string& path) {
  if (text.size() > kLargest)
    return Fail(ErrorCode::kInput, StrCat("this is too large for a recipe, which has at most ", FormatBytes(kLargest)),
                path, std::string(kHint));
  std::string json(text);
  const bool is_yaml = IsYaml(path);
  if (is_yaml) {
    auto yaml = ParseYaml(text);
    if (!yaml)
      return Fail(ErrorCode::kInput, StrCat("this is no YAML: ", yaml.error().message),
                  Place(path, yaml.error().place, ""), std::string(kHint));
    json = std::move(yaml->json);
  }
  // JSON is YAML, whose reader has the limits, and knows the line.
  const auto yaml = is_yaml ? Result<YamlDocument>(YamlDocument{}) : ParseYaml(text);
  const bool too_much = !yaml && yaml.error().code == ErrorCode::kUsage;
  const auto tree = JsonValue::Parse(json);
  if (!tree || too_much)
    return Fail(ErrorCode::kInput,
                StrCat("this recipe cannot be read: ", too_much ? yaml.error().message : "it is no whole JSON"),
                Place(path, yaml ? "" : yaml.error().place, ""), std::string(kHint));
  if (const std::string key = RepeatedKey(*tree); !key.empty())
    return Fail(ErrorCode::kInput, "this recipe cannot be read: a key stands twice", Place(path, "", key),
                std::string(kHint));
  auto recipe = Reader(is_yaml).Run(*tree);
  if (!recipe) return BadRecipe(recipe.error(), path, text);
  return recipe;
}

}  // namespace gapless::internal
