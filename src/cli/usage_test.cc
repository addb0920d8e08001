// SPDX-License-Identifier: Apache-2.0
// Tests that every command has complete descriptions, and the texts made from them.
#include "cli/usage.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/docs/pages.h"
#include "cli/failure.h"
#include "cli/loading.h"

namespace gapless::internal {
namespace {

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST(CommandsTest, EveryVerbIsDescribed) {
  for (const Command* command : AllCommands()) {
    EXPECT_FALSE(command->help.empty()) << command->name;
    EXPECT_LE(command->help.size(), 72U) << command->name;
    EXPECT_NE(command->help.back(), '.') << command->name;
    EXPECT_FALSE(command->about.empty()) << command->name;
    EXPECT_FALSE(command->examples.empty()) << command->name;
    EXPECT_NE(command->call.run, nullptr) << command->name;
    EXPECT_EQ(FindCommand(command->name), command);
  }
}

TEST(CommandsTest, NoTwoOptionsOfAVerbAreTheSame) {
  for (const Command* command : AllCommands()) {
    const auto options = OptionsOf(*command);
    for (size_t i = 0; i < options.size(); ++i) {
      EXPECT_FALSE(options[i].help.empty()) << command->name << " --" << options[i].name;
      EXPECT_EQ(options[i].takes == OptionSpec::Takes::kNothing, options[i].value.empty())
          << command->name << " --" << options[i].name;
      for (size_t j = 0; j < i; ++j) {
        EXPECT_NE(options[i].name, options[j].name) << command->name;
        if (options[i].letter != 0) {
          EXPECT_NE(options[i].letter, options[j].letter) << command->name;
        }
      }
    }
  }
}

TEST(UsageTest, HelpNamesEveryOptionAndKeepsToTheWidth) {
  for (const Command* command : AllCommands()) {
    const std::string help = HelpOf(*command, 80);
    for (const OptionSpec& option : OptionsOf(*command))
      EXPECT_TRUE(Contains(help, StrCat("--", option.name))) << command->name;
    for (const std::string_view line : Split(help, '\n')) {
      if (!line.starts_with("  gapless") && !line.starts_with("  eval")) {
        EXPECT_LE(DisplayWidth(line), 80) << line;
      }
    }
  }
}

TEST(UsageTest, TheOverviewNamesEveryVerb) {
  const std::string overview = Overview(80);
  for (const Command* command : AllCommands()) EXPECT_TRUE(Contains(overview, command->help)) << command->name;
}

TEST(UsageTest, TheOverviewListsEachVerbOnceInTheOrderOfItsGroup) {
  const std::string overview = Overview(80);
  size_t listed = 0, at = 0;
  for (const Group* group : kGroups) {
    at = overview.find(StrCat("\n", group->name, " ", group->what, ":\n"), at);
    ASSERT_NE(at, std::string::npos) << group->name;
    for (const Command* command : CommandsOf(*group)) {
      at = overview.find(StrCat("\n  ", command->name, " "), at);
      ASSERT_NE(at, std::string::npos) << command->name;
      ++listed;
    }
  }
  EXPECT_EQ(listed, AllCommands().size());
}

TEST(UsageTest, WrapBreaksBetweenWords) {
  EXPECT_EQ(Wrap("one two three", 9, 2), "  one two\n  three\n");
  EXPECT_EQ(Wrap("one\n\ntwo", 80, 0), "one\n\ntwo\n");
}

TEST(PagesTest, EveryPageIsWrittenAndEndsWithALineEnd) {
  for (const Page& page : GeneratedPages()) {
    ASSERT_FALSE(page.text.empty()) << page.path;
    EXPECT_EQ(page.text.back(), '\n') << page.path;
  }
}

TEST(PagesTest, CompletionsKnowEveryVerbAndItsOptions) {
  for (const std::string& script : {BashCompletion(), ZshCompletion(), FishCompletion()}) {
    for (const Command* command : AllCommands()) {
      EXPECT_TRUE(Contains(script, command->name));
      for (const OptionSpec& option : OptionsOf(*command)) EXPECT_TRUE(Contains(script, option.name)) << option.name;
    }
  }
}

TEST(FailureTest, AnErrorSaysWhatWhereAndWhatToDo) {
  const Error error{ErrorCode::kInput, "the file is empty", "a.json", "record again"};
  EXPECT_EQ(DescribeError(error), "gapless: the file is empty\n  at: a.json\n  hint: record again\n");
  EXPECT_EQ(DescribeError({ErrorCode::kUsage, "no\x1b[31m", "", ""}), "gapless: no[31m\n");
  EXPECT_TRUE(Contains(ErrorAsJson(error, 3), "\"exit_status\": 3"));
}

TEST(LoadingTest, RanksAreNumbersAndRanges) {
  EXPECT_EQ(*ParseNumbers("0,4-6", "rank", ""), (std::vector<int64_t>{0, 4, 5, 6}));
  EXPECT_TRUE(ParseNumbers("", "rank", "")->empty());
  for (const std::string wrong : {"x", "-1", "3-1", "1-2-3", "1.5", "99999999999999999999"})
    EXPECT_FALSE(ParseNumbers(wrong, "rank", "")) << wrong;
}

}  // namespace
}  // namespace gapless::internal
