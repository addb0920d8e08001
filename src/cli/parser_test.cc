// SPDX-License-Identifier: Apache-2.0
// Tests the parser of the command line: options, lists, numbers, `--`, and suggestions for misspelled words.
#include <gtest/gtest.h>

#include "cli/command.h"

namespace gapless::internal {
namespace {

std::vector<std::string_view> Colours() { return {"red", "green"}; }

constexpr auto kValue = OptionSpec::Takes::kValue;
constexpr OptionSpec kOptions[] = {
    {.name = "output", .letter = 'o', .takes = kValue, .value = "FILE", .help = "Write to FILE"},
    {.name = "colours", .takes = kValue, .value = "LIST", .help = "Use these", .choices = Colours, .is_list = true},
    {.name = "count", .takes = kValue, .value = "N", .help = "How many"},
    {.name = "verbose", .letter = 'v', .help = "Say more"},
};
constexpr std::string_view kUnless[] = {"verbose"};
constexpr PositionalSpec kPositionals[] = {{.name = "PATH", .help = "a file", .min = 1, .max = 10, .unless = kUnless}};
constexpr Command kVerb = {.name = "verb",
                           .help = "",
                           .about = "",
                           .positionals = kPositionals,
                           .options = kOptions,
                           .examples = {},
                           .run = nullptr};
constexpr Command kRunner = {.name = "runner",
                             .help = "",
                             .about = "",
                             .positionals = {},
                             .options = kOptions,
                             .examples = {},
                             .takes_command = true,
                             .run = nullptr};

Arguments Parsed(const std::vector<std::string>& words, const Command& command = kVerb) {
  auto arguments = ParseArguments(command, words);
  EXPECT_TRUE(arguments) << arguments.error().ToString();
  return arguments ? std::move(*arguments) : Arguments();
}

Error Refused(const std::vector<std::string>& words, const Command& command = kVerb) {
  const auto arguments = ParseArguments(command, words);
  EXPECT_FALSE(arguments);
  if (arguments) return {};
  EXPECT_EQ(arguments.error().code, ErrorCode::kUsage);
  return arguments.error();
}

TEST(ParserTest, OptionsAndPathsMixFreely) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a", "-o", "out", "b"}, {"-o", "out", "a", "b"}, {"a", "b", "--output=out"}}) {
    const Arguments arguments = Parsed(words);
    EXPECT_EQ(arguments.positionals(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(arguments.Value("output"), "out");
    EXPECT_FALSE(arguments.Has("verbose"));
  }
}

TEST(ParserTest, ABareJsonTakesNoWord) {
  const Arguments arguments = Parsed({"--json", "a"});
  EXPECT_TRUE(arguments.JsonToStdout());
  EXPECT_EQ(arguments.positionals(), std::vector<std::string>{"a"});
  EXPECT_EQ(Parsed({"--json=file", "a"}).Value("json"), "file");
  EXPECT_FALSE(Parsed({"--json=file", "a"}).JsonToStdout());
}

TEST(ParserTest, EverythingAfterTheFirstDashesIsTheCommand) {
  const Arguments arguments = Parsed({"-v", "--", "python", "-v", "--", "--json"}, kRunner);
  EXPECT_EQ(arguments.command(), (std::vector<std::string>{"python", "-v", "--", "--json"}));
  EXPECT_FALSE(arguments.Has("json"));
  EXPECT_NE(Refused({"a", "--", "b"}).message.find("runs no command"), std::string::npos);
}

TEST(ParserTest, ListsAndNumbersAreChecked) {
  EXPECT_EQ(Parsed({"a", "--colours", "red,green", "--colours=red"}).List("colours"),
            (std::vector<std::string>{"red", "green", "red"}));
  EXPECT_EQ(Refused({"a", "--colours", "red,blue"}).hint, "there are: red, green");
  EXPECT_EQ(*Parsed({"a", "--count", "12"}).Number("count", 1, 5), 12);
  EXPECT_EQ(*Parsed({"a"}).Number("count", 1, 5), 5);
  EXPECT_FALSE(Parsed({"a", "--count", "0"}).Number("count", 1, 5));
  EXPECT_FALSE(Parsed({"a", "--count", "3x"}).Number("count", 1, 5));
}

TEST(ParserTest, MistakesAreNamedWithWhatWasMeant) {
  EXPECT_EQ(Refused({"a", "--ouput", "x"}).hint, "did you mean --output?");
  EXPECT_EQ(Refused({"a", "--jsn=x"}).message, "unknown option --jsn");
  EXPECT_NE(Refused({}).message.find("needs PATH"), std::string::npos);
  Refused({"a", "--output"});
  EXPECT_NE(Refused({"a"}, kRunner).message.find("unexpected argument 'a'"), std::string::npos);
}

TEST(ParserTest, APositionalCanBeUnnecessary) { EXPECT_TRUE(Parsed({"-v"}).positionals().empty()); }

TEST(ParserTest, HelpIsGivenWhateverElseIsMissing) { EXPECT_TRUE(Parsed({"--help"}).Has("help")); }

}  // namespace
}  // namespace gapless::internal
