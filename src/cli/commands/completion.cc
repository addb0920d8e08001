// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/docs/pages.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

std::vector<std::string_view> Shells() { return {"bash", "zsh", "fish"}; }

Result<int> Execute(const Arguments& arguments, Session&) {
  const std::string& shell = arguments.positionals()[0];
  std::string script = shell == "bash" ? BashCompletion() : shell == "zsh" ? ZshCompletion() : FishCompletion();
  const auto as_json = [&] {
    std::string out;
    JsonWriter json(out, 2);
    json.BeginObject();
    WriteJsonHeader(json);
    json.Field("shell", shell);
    json.Field("script", script);
    json.EndObject();
    return out + "\n";
  };
  return PrintTextOrJson(
      arguments, [&] { return script; }, as_json);
}

constexpr PositionalSpec kPositionals[] = {
    {.name = "SHELL", .help = "bash, zsh or fish", .min = 1, .max = 1, .choices = Shells}};
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
                       .run = Execute};

}  // namespace gapless::internal
