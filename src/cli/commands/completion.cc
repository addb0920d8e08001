// SPDX-License-Identifier: Apache-2.0
// The command `gapless completion`: prints the completion script of bash, zsh or fish. The scripts are made from the
// descriptions of the commands (cli/docs/completion.cc), so they know every option.
#include "base/described_json.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/output.h"

namespace gapless::internal {
namespace documents {

struct Completion {
  std::string shell{}, script{};
  static constexpr FieldInfo kFields[] = {
      Field<&Completion::shell>("shell", "", "the shell that was asked for"),
      Field<&Completion::script>("script", "", "the script"),
  };
};

}  // namespace documents

namespace {

std::vector<std::string_view> Shells() { return {"bash", "zsh", "fish"}; }

Result<int> Execute(const Arguments& arguments, Session&) {
  const std::string& shell = arguments.positionals()[0];
  // The parser has checked the name.
  std::string script = shell == "bash" ? BashCompletion() : shell == "zsh" ? ZshCompletion() : FishCompletion();
  const auto as_json = [&] { return DocumentOf("completion", documents::Completion{shell, script}); };
  return PrintTextOrJson(
      arguments, [&] { return script; }, as_json);
}

constexpr PositionalSpec kPositionals[] = {
    {.name = "SHELL", .help = "bash, zsh or fish", .min = 1, .max = 1, .choices = Shells}};
constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Completion>::kInfo};
constexpr Example kExamples[] = {
    {"eval \"$(gapless completion bash)\"", "Completes verbs and options in this shell"},
    {"gapless completion fish > ~/.config/fish/completions/gapless.fish", "Completes them in every new fish shell"},
};

}  // namespace

COMMAND(completion) = {.name = "completion",
                       .help = "Print the completion script of a shell",
                       .about = "Prints a script that makes the shell complete verbs, options and their values.",
                       .positionals = kPositionals,
                       .options = {},
                       .examples = kExamples,
                       .documents = kDocuments,
                       .run = Execute};

}  // namespace gapless::internal
