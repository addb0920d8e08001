// SPDX-License-Identifier: Apache-2.0
// One list of fields gives JSON, its reader, a schema and TypeScript.
#include "base/described_json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gapless::internal {
namespace {

enum class Colour : uint8_t { kRed, kGreen };
std::string_view NameOf(Colour colour) { return colour == Colour::kRed ? "red" : "green"; }

}  // namespace

template <>
inline constexpr int64_t kValuesOf<Colour> = 2;

namespace {

struct Inner {
  double low = 0;
  std::optional<double> high{};
  static constexpr FieldInfo kFields[] = {
      Field<&Inner::low>("low", "ratio", "lower end"),
      Field<&Inner::high>("high", "ratio", "upper end; missing: not bounded"),
  };
};

struct Extra {
  int32_t number = 0;
  static constexpr FieldInfo kFields[] = {Field<&Extra::number>("number", "", "a number")};
};

struct Outer {
  std::string name{};
  Colour colour = Colour::kRed;
  bool is_on = false;
  uint8_t small = 0;
  std::optional<Inner> inner{};
  std::vector<Inner> list{};
  std::vector<double> losses{};
  std::map<std::string, int64_t> counts{};
  std::vector<std::pair<std::string, std::string>> texts{};
  std::string note{};
  JsonScalar cell{};
  Extra extra{};
  int ignored = 7;
  static constexpr FieldInfo kFields[] = {
      Field<&Outer::name>("name", "", "its name"),
      Field<&Outer::colour>("colour", "", "its colour"),
      Field<&Outer::is_on>("is_on", "", "left out unless true", kUnlessEmpty),
      Field<&Outer::small>("small", "count", "a small number"),
      Field<&Outer::inner>("inner", "", "an object"),
      Field<&Outer::list>("list", "", "objects"),
      Field<&Outer::losses>("losses", "", "null where none was seen", kUnlessEmptyOrNull),
      Field<&Outer::counts>("counts", "count", "by name"),
      Field<&Outer::texts>("texts", "", "by name, in order"),
      Field<&Outer::note>("note", "", "a note", kUnlessEmpty),
      Field<&Outer::cell>("cell", "", "anything"),
      Spliced<&Outer::extra>(),
      Hidden<&Outer::ignored>(),
  };
};

// A list that leaves a member out, or names one twice, does not compile: these are the counts that it is held to.
struct Three {
  int a;
  std::optional<std::string> b;
  std::vector<Inner> c;
};
static_assert(HasMembers<Three, 3>());
static_assert(!HasMembers<Three, 2>());
static_assert(!HasMembers<Three, 4>());
static_assert(describe::NameOfType<Three>() == "Three");

template <class T>
std::string Written(const T& value) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, value);
  return out;
}

Outer Full() {
  return {.name = "n\"1",
          .colour = Colour::kGreen,
          .is_on = true,
          .small = 200,
          .inner = Inner{1.5, 2.5},
          .list = {{1, {}}, {2, 3}},
          .losses = {1.25, std::nan("")},
          .counts = {{"a", 1}, {"b", int64_t{1} << 60}},
          .texts = {{"z", "1"}, {"y", "2"}},
          .note = "x",
          .cell = int64_t{5},
          .extra = {.number = -3}};
}

TEST(DescribedJson, WritesWhatIsThere) {
  EXPECT_EQ(
      Written(Outer{}),
      R"({"name": "", "colour": "red", "small": 0, "list": [], "counts": {}, "texts": {}, "cell": null, "number": 0})");
  EXPECT_EQ(Written(Full()),
            R"({"name": "n\"1", "colour": "green", "is_on": true, "small": 200, "inner": {"low": 1.5, "high": 2.5}, )"
            R"("list": [{"low": 1}, {"low": 2, "high": 3}], "losses": [1.25, null], )"
            R"("counts": {"a": 1, "b": 1152921504606846976}, "texts": {"z": "1", "y": "2"}, "note": "x", "cell": 5, )"
            R"("number": -3})");
}

TEST(DescribedJson, ReadsWhatItWrote) {
  for (const Outer& value : {Outer{}, Full()}) {
    const auto read = ReadJson<Outer>(Written(value));
    ASSERT_TRUE(read) << read.error().message << read.error().place;
    EXPECT_EQ(Written(*read), Written(value));
  }
}

std::string PlaceOfError(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto read = ReadJson<Outer>(text);
  return read ? "read" : read.error().place + ": " + read.error().message;
}

TEST(DescribedJson, SaysWhereJsonIsWrong) {
  const std::string text = Written(Full());
  EXPECT_EQ(PlaceOfError(text, R"({"low": 2)", R"({"low": "2")"), "/list/1/low: not a number");
  EXPECT_EQ(PlaceOfError(text, R"("name")", R"("nom")"), "/name: missing");
  EXPECT_EQ(PlaceOfError(text, R"("green")", R"("blue")"), "/colour: unknown word 'blue'");
  EXPECT_EQ(PlaceOfError(text, "200", "256"), "/small: out of range");
  EXPECT_EQ(PlaceOfError(text, R"("a": 1,)", R"("a": 1.5,)"), "/counts/a: not a whole number");
  EXPECT_EQ(PlaceOfError(text, R"("number": -3)", R"("number": null)"), "/number: not a whole number");
  EXPECT_EQ(PlaceOfError(text, R"("note": "x")", R"("other": "x")"), "read");
  EXPECT_EQ(ReadJson<Outer>("[]").error().place, "/");
}

struct Lent {
  Borrowed<Inner> always{};
  const Inner* sometimes = nullptr;
  static constexpr FieldInfo kFields[] = {
      Field<&Lent::always>("always", "", "stands elsewhere"),
      Field<&Lent::sometimes>("sometimes", "", "stands elsewhere, or nowhere"),
  };
};

TEST(DescribedJson, WritesWhatStandsElsewhere) {
  const Inner inner{1, {}};
  EXPECT_EQ(Written(Lent{.always = {&inner}}), R"({"always": {"low": 1}})");
  EXPECT_EQ(Written(Lent{{&inner}, &inner}), R"({"always": {"low": 1}, "sometimes": {"low": 1}})");
  EXPECT_EQ(ReadJson<Lent>(R"({"always": {"low": 1}})").error().place, "/always");
}

TEST(DescribedJson, ADocumentHasTheEnvelope) {
  const std::vector<std::string> warnings{"w"};
  const std::string text = DocumentOf("verb", Extra{4}, warnings);
  const auto json = JsonValue::Parse(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->Get("gapless").TextOf("command"), "verb");
  EXPECT_TRUE(json->Get("gapless").Get("schema_version").Int());
  EXPECT_EQ(json->Get("number").Int(), 4);
  EXPECT_EQ(ToJson(json->Get("warnings")), R"(["w"])");
}

TEST(DescribedJson, TheSchemaNamesEveryFieldAndThoseThatMustBeThere) {
  const TypeInfo* documents[] = {&TypeOf<Outer>::kInfo};
  const auto schema = JsonValue::Parse(SchemaOf("verb", documents));
  ASSERT_TRUE(schema);
  const JsonValue& document = schema->Get("anyOf").items()[0];
  EXPECT_EQ(ToJson(document.Get("required")),
            R"(["gapless", "name", "colour", "small", "list", "counts", "texts", "cell", "number", "warnings"])");
  EXPECT_EQ(document.Get("properties").keys().size(), 14U);
  EXPECT_EQ(document.Get("properties").Get("ignored").kind(), JsonValue::Kind::kNull);
  EXPECT_EQ(ToJson(schema->Get("$defs").Get("Colour")), R"({"enum": ["red", "green"]})");
  EXPECT_EQ(ToJson(document.Get("properties").Get("losses").Get("items").Get("type")), R"(["number", "null"])");
}

TEST(DescribedJson, TypeScriptDeclaresWhatIsNeededFirst) {
  const std::string types = TypeScriptOf(TypeOf<Outer>::kInfo);
  EXPECT_LT(types.find("export interface Inner {"), types.find("export interface Outer {"));
  EXPECT_NE(types.find("  colour: \"red\" | \"green\";\n"), std::string::npos);
  EXPECT_NE(types.find("  inner?: Inner;\n"), std::string::npos);
  EXPECT_NE(types.find("  losses?: (number | null)[];\n"), std::string::npos);
  EXPECT_NE(types.find("  counts: Record<string, number>;\n"), std::string::npos);
  EXPECT_NE(types.find("  /** lower end [ratio] */\n  low: number;\n"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
