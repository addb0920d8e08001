// SPDX-License-Identifier: Apache-2.0
// Tests the parser of the command line: every kind of option, words, `--`, and suggestions for misspelled words.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/command.h"

namespace gapless::internal {
namespace {

enum class Colour : uint8_t { kRed, kGreen, kBlue };
constexpr std::string_view NameOf(Colour colour) {
  constexpr std::string_view kNames[] = {"red", "green", "blue"};
  return kNames[static_cast<size_t>(colour)];
}
constexpr Choosable<int> kSizes[] = {{"small", 1}, {"large", 100}};
struct Figure {
  std::string_view name;
};
constexpr Figure kCircle{"circle"}, kSquare{"square"};
std::span<const Figure* const> AllFigures() {
  static constexpr const Figure* kAll[] = {&kCircle, &kSquare};
  return kAll;
}
Result<size_t> ReadLength(const OptionSpec& option, std::string_view text) {
  if (text.empty()) return Fail(ErrorCode::kInput, StrCat("--", option.name, " is empty"));
  return text.size();
}

struct VerbArguments : Arguments {
  std::vector<std::string> paths{}, items{}, names{};
  std::string output{};
  std::optional<std::string> last_word{};
  int count = 5;
  std::optional<int64_t> limit{};
  std::optional<double> price{};
  std::optional<Colour> colour{};
  std::vector<Colour> colours{};
  std::optional<int> size{};
  const Figure* figure = nullptr;
  std::vector<size_t> length{};
  bool verbose = false;
  static constexpr OptionList kOptions{
      Text<&VerbArguments::output>("FILE", "Write to FILE").Short('o'),
      Text<&VerbArguments::names>("NAME", "Name it"),
      List<&VerbArguments::items>("LIST", "Use these"),
      Number<&VerbArguments::count>("N", "How many (5)", 1, 100),
      Number<&VerbArguments::limit>("N", "The newest", 0),
      Positive<&VerbArguments::price>("N", "What it costs", "/h"),
      Choice<&VerbArguments::colour, AnyOf<Colour::kRed, Colour::kGreen>>("NAME", "In this").Optional(),
      Choice<&VerbArguments::colours, AnyOf<Colour::kRed, Colour::kBlue>>("LIST", "In these"),
      Choice<&VerbArguments::size, OneOf<kSizes>>("NAME", "So large"),
      Choice<&VerbArguments::figure, AnyEntry<AllFigures, &Figure::name>>("NAME", "Of this form"),
      Parsed<&VerbArguments::length, ReadLength>("TEXT", "As long as this"),
      Flag<&VerbArguments::verbose>("Say more").Short('v'),
  };
  static constexpr WordList kWords{
      Word<&VerbArguments::paths>("PATH", "a file").Times(1, 10).Unless<&VerbArguments::verbose>(),
      Word<&VerbArguments::last_word>("LAST", "what comes last").Optional()};
};
struct OneWord : Arguments {
  std::vector<std::string> paths{};
  Colour colour{};
  static constexpr WordList kWords{Word<&OneWord::paths>("PATH", "a file").Times(1, 10),
                                   ChosenWord<&OneWord::colour, AnyOf<Colour::kRed, Colour::kBlue>>("COLOUR", "")};
};

template <class A>
Result<int> Execute(const A&, Session&) {
  return 0;
}
constexpr Command kVerb = {.name = "verb",
                           .place = {groups::kMore, 1},
                           .help = "",
                           .about = "",
                           .examples = {},
                           .call = kCall<Execute<VerbArguments>>};
constexpr Command kWordVerb = {.name = "word",
                               .place = {groups::kMore, 1},
                               .help = "",
                               .about = "",
                               .examples = {},
                               .call = kCall<Execute<OneWord>>};
constexpr Command kRunner = {.name = "runner",
                             .place = {groups::kMore, 1},
                             .help = "",
                             .about = "",
                             .examples = {},
                             .takes_command = true,
                             .call = kCall<Execute<Arguments>>};

using Words = std::vector<std::string>;

template <class A = VerbArguments>
A Parsed(const Words& words, const Command& command = kVerb) {
  const auto arguments = ParseArguments(command, words);
  EXPECT_TRUE(arguments) << arguments.error().ToString();
  return arguments ? static_cast<const A&>(**arguments) : A();
}

Error Refused(const Words& words, const Command& command = kVerb) {
  const auto arguments = ParseArguments(command, words);
  EXPECT_FALSE(arguments);
  if (arguments) return {};
  EXPECT_EQ(arguments.error().code, ErrorCode::kUsage);
  return arguments.error();
}

TEST(ParserTest, AnOptionIsCalledAsItsMember) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : OptionsOf(kVerb)) names.push_back(option.name);
  EXPECT_EQ(names[0], "output");
  EXPECT_EQ(OptionsOf(kRunner)[0].name, "keep-command");
}

TEST(ParserTest, OptionsAndPathsMixFreely) {
  for (const Words& words : {Words{"a", "-o", "out", "b"}, {"-o", "out", "a", "b"}, {"a", "b", "--output=out"}}) {
    const auto arguments = Parsed(words);
    EXPECT_EQ(arguments.paths, (Words{"a", "b"}));
    EXPECT_EQ(arguments.output, "out");
    EXPECT_FALSE(arguments.verbose);
  }
}

TEST(ParserTest, ABareJsonTakesNoWord) {
  const auto arguments = Parsed({"--json", "a"});
  EXPECT_TRUE(arguments.JsonToStdout());
  EXPECT_EQ(arguments.paths, Words{"a"});
  EXPECT_EQ(Parsed({"--json=file", "a"}).json, "file");
  EXPECT_FALSE(Parsed({"--json=file", "a"}).JsonToStdout());
}

TEST(ParserTest, EverythingAfterTheFirstDashesIsTheCommand) {
  const auto arguments = Parsed<Arguments>({"--keep-command", "--", "python", "-v", "--", "--json"}, kRunner);
  EXPECT_EQ(arguments.command, (Words{"python", "-v", "--", "--json"}));
  EXPECT_TRUE(arguments.keep_command);
  EXPECT_FALSE(arguments.json);
  EXPECT_NE(Refused({"a", "--", "b"}).message.find("runs no command"), std::string::npos);
}

TEST(ParserTest, WhatIsNotGivenIsAsTheMemberBegins) {
  const auto arguments = Parsed({"a"});
  EXPECT_EQ(arguments.count, 5);
  EXPECT_FALSE(arguments.limit || arguments.price || arguments.colour || arguments.last_word);
  EXPECT_EQ(arguments.figure, nullptr);
  EXPECT_TRUE(arguments.output.empty() && arguments.items.empty() && arguments.length.empty());
}

TEST(ParserTest, TextsAndItemsOfAllTimesAreKept) {
  EXPECT_EQ(Parsed({"a", "--names", "x,y", "--names=z"}).names, (Words{"x,y", "z"}));
  EXPECT_EQ(Parsed({"a", "--items", "x,,y,", "--items=z"}).items, (Words{"x", "y", "z"}));
  EXPECT_EQ(Parsed({"a", "--output", "x", "--output=y"}).output, "y");
}

TEST(ParserTest, NumbersKeepToTheirLimits) {
  EXPECT_EQ(Parsed({"a", "--count", "12"}).count, 12);
  EXPECT_EQ(Parsed({"a", "--count", "101"}).count, 100);
  EXPECT_EQ(Parsed({"a", "--limit", "0"}).limit, 0);
  for (const char* wrong : {"0", "3x", "1.5", "99999999999999999999"})
    EXPECT_EQ(Refused({"a", StrCat("--count=", wrong)}).message,
              StrCat("--count requires a whole number of at least 1, not '", wrong, "'"));
  EXPECT_EQ(Refused({"a", "--limit=-1"}).message, "--limit requires a whole number of at least 0, not '-1'");
}

TEST(ParserTest, PositiveNumbersMayHaveTheirUnit) {
  EXPECT_EQ(Parsed({"a", "--price", "2.5"}).price, 2.5);
  EXPECT_EQ(Parsed({"a", "--price", "2.5/h"}).price, 2.5);
  for (const char* wrong : {"0", "-1", "nan", "inf", "2.5/d", "/h"})
    EXPECT_EQ(Refused({"a", StrCat("--price=", wrong)}).message,
              StrCat("--price requires a number above 0, not '", wrong, "'"));
}

TEST(ParserTest, ChoicesAreValues) {
  EXPECT_EQ(Parsed({"a", "--colour=green"}).colour, Colour::kGreen);
  EXPECT_EQ(Parsed({"--colour", "a"}).colour, Colour::kRed) << "the first one stands for a value that is left out";
  EXPECT_EQ(Parsed({"a", "--colours", "blue,,red,", "--colours=green"}).colours,
            (std::vector{Colour::kBlue, Colour::kRed, Colour::kGreen}));
  EXPECT_EQ(Parsed({"a", "--size", "large"}).size, 100);
  EXPECT_EQ(Parsed({"a", "--figure", "square"}).figure, &kSquare);
  EXPECT_EQ(Refused({"a", "--colour=blue"}).hint, "there are: red, green");
  EXPECT_EQ(Refused({"a", "--colours", "red,pink"}).message, "--colours does not accept 'pink'");
  EXPECT_EQ(Refused({"a", "--size", ""}).message, "--size does not accept ''");
  EXPECT_EQ(Refused({"a", "--figure", "heart"}).hint, "there are: circle, square");
}

TEST(ParserTest, AReaderOfItsOwnGivesItsOwnError) {
  EXPECT_EQ(Parsed({"a", "--length", "abc", "--length", "de"}).length, (std::vector<size_t>{3, 2}));
  const auto refused = ParseArguments(kVerb, Words{"a", "--length", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_EQ(refused.error().message, "--length is empty");
}

TEST(ParserTest, MistakesAreNamedWithWhatWasMeant) {
  EXPECT_EQ(Refused({"a", "--ouput", "x"}).hint, "did you mean --output?");
  EXPECT_EQ(Refused({"a", "--jsn=x"}).message, "unknown option --jsn");
  EXPECT_NE(Refused({}).message.find("needs PATH"), std::string::npos);
  Refused({"a", "--output"});
  EXPECT_NE(Refused({"a"}, kRunner).message.find("unexpected argument 'a'"), std::string::npos);
}

TEST(ParserTest, WordsLeaveWhatTheNextOnesNeed) {
  const auto words = Parsed<OneWord>({"a", "b", "blue"}, kWordVerb);
  EXPECT_EQ(words.paths, (Words{"a", "b"}));
  EXPECT_EQ(words.colour, Colour::kBlue);
  EXPECT_NE(Refused({"blue"}, kWordVerb).message.find("needs COLOUR"), std::string::npos);
  EXPECT_EQ(Refused({"a", "bleu"}, kWordVerb).hint, "did you mean blue?");
}

TEST(ParserTest, AnOptionCanMakeAWordUnnecessary) { EXPECT_TRUE(Parsed({"-v"}).paths.empty()); }

TEST(ParserTest, HelpIsGivenWhateverElseIsWrong) { EXPECT_TRUE(Parsed({"--count=x", "--help"}).help); }

TEST(FirstGivenTest, NamesAnOption) {
  VerbArguments arguments;
  const auto given = [&] { return FirstGiven<&VerbArguments::limit, &VerbArguments::last_word>(arguments); };
  EXPECT_EQ(given(), "");
  arguments.last_word = "x";
  EXPECT_EQ(given(), "last-word");
}

}  // namespace
}  // namespace gapless::internal
