// SPDX-License-Identifier: Apache-2.0
// The command `gapless completion`: prints the completion script of bash, zsh or fish. The scripts are made from the
// descriptions of the commands (cli/docs/completion.cc), so they know every option.
#include "base/described_json.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/output.h"

namespace gapless::internal::completion_command {
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

enum class Shell : uint8_t { kBash, kZsh, kFish };
constexpr Choosable<Shell> kShells[] = {{"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}};

struct CompletionArguments : Arguments {
  Shell shell{};
  static constexpr WordList kWords{
      ChosenWord<&CompletionArguments::shell, OneOf<kShells>>("SHELL", "bash, zsh or fish")};
};

Result<int> Execute(const CompletionArguments& arguments, Session&) {
  constexpr std::string (*kScripts[])() = {BashCompletion, ZshCompletion, FishCompletion};
  const std::string script = kScripts[static_cast<size_t>(arguments.shell)]();
  const auto as_json = [&] {
    return DocumentOf("completion",
                      documents::Completion{std::string(OneOf<kShells>::NameOf(arguments.shell)), script});
  };
  return PrintTextOrJson(
      arguments, [&] { return script; }, as_json);
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Completion>::kInfo};
constexpr Example kExamples[] = {
    {"eval \"$(gapless completion bash)\"", "Completes verbs and options in this shell"},
    {"gapless completion fish > ~/.config/fish/completions/gapless.fish", "Completes them in every new fish shell"},
};

}  // namespace

COMMAND(completion) = {.name = "completion",
                       .place = {groups::kMore, 6},
                       .help = "Print the completion script of a shell",
                       .about = "Prints a script that makes the shell complete verbs, options and their values.",
                       .examples = kExamples,
                       .documents = kDocuments,
                       .call = kCall<Execute>};

}  // namespace gapless::internal::completion_command
