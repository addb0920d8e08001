// SPDX-License-Identifier: Apache-2.0
// The command `gapless mcp`: becomes the server for assistants, which is a module of the Python package, so that the
// protocol's own SDK implements the protocol.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/python.h"

namespace gapless::internal::mcp_command {
namespace {

struct McpArguments : Arguments {
  bool allow_run = false;
  static constexpr OptionList kOptions{
      Flag<&McpArguments::allow_run>("Let the assistant start commands, to compare, judge and optimise them"),
  };
};

// Says what is missing as the program does, instead of a stack of Python's.
constexpr const char* kServe =
    "import sys\n"
    "try:\n"
    "    from gapless.mcp_server import main\n"
    "except ModuleNotFoundError:\n"
    "    print('gapless: ' + sys.executable + ' has no package gapless: pip install \"gapless[mcp]\", or name "
    "another'\n"
    "          ' Python with GAPLESS_PYTHON', file=sys.stderr)\n"
    "    sys.exit(4)\n"
    "sys.exit(main(sys.argv[1:]))\n";

Result<int> Execute(const McpArguments& arguments, Session&) {
  if (arguments.json)
    return Fail(ErrorCode::kUsage, "mcp has no document of its own: all that it prints is the protocol", "",
                "gapless brief PATH --json");
  const std::string python = PythonToUse();
  // The package asks this program, and no other that may be on the PATH.
  std::error_code unknown;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  if (!program.empty()) ::setenv("GAPLESS_PROGRAM", program.c_str(), 0);
  const char* words[] = {python.c_str(), "-c", kServe, arguments.allow_run ? "--allow-run" : nullptr, nullptr};
  ::execvp(python.c_str(), const_cast<char* const*>(words));
  return Fail(ErrorCode::kEnvironment, StrCat("cannot start ", python), "",
              "the server for assistants needs Python: set GAPLESS_PYTHON to its path");
}

constexpr Example kExamples[] = {{"gapless mcp", "A server on standard input and output, for an assistant's settings"},
                                 {"gapless mcp --allow-run", "It may also start commands, to judge a change"}};

}  // namespace

COMMAND(mcp) = {
    .name = "mcp",
    .place = {groups::kMore, 3},
    .help = "Serve recordings and verdicts to assistants (MCP)",
    .about =
        "Serves the Model Context Protocol on standard input and output: opens recordings, lists findings, explains "
        "them, answers SQL, predicts fixes, and compares files of results. Nothing is started unless --allow-run is "
        "given. Needs the Python package: pip install \"gapless[mcp]\".",
    .examples = kExamples,
    .call = kCall<Execute>};

}  // namespace gapless::internal::mcp_command
