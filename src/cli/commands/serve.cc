// SPDX-License-Identifier: Apache-2.0
// The command `gapless serve`: shows recordings in a browser, with a timeline of every event.
//
// It ends by a signal, which is no failure: answers under way are finished, and the exit status is 0.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/temporaries.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "serve/server.h"

namespace gapless::internal::serve_command {
namespace documents {

struct Serve {
  std::string address{};
  std::vector<ServedRunInfo> runs{};
  static constexpr FieldInfo kFields[] = {
      Field<&Serve::address>("address", "", "address of the page, with the token if one is asked for"),
      Field<&Serve::runs>("runs", "", "runs that are served"),
  };
};

}  // namespace documents

namespace {

struct ServeArguments : ReadArguments {
  std::string host = ServeOptions{}.host, token_file{};
  std::optional<int> port{};
  double query_seconds = 10;
  bool open = false, together = false;
  static constexpr OptionList kOptions{
      Number<&ServeArguments::port>("N", "Listen on port N (8077, or a free one if it is taken; 0: a free one)", 0,
                                    65535),
      Text<&ServeArguments::host>("NAME",
                                  "Listen on this name or address (127.0.0.1); any but the loopback "
                                  "device's asks visitors for a token"),
      Text<&ServeArguments::token_file>("FILE", "Ask visitors for the token in FILE, not for a random one"),
      Positive<&ServeArguments::query_seconds>("N", "End a query of the page after N seconds (10)", "s"),
      Flag<&ServeArguments::open>("Open the page in the browser"),
      Flag<&ServeArguments::together>("Take the paths for the ranks of one job, not for a run each"),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kPathsWord};
};

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kTimeToFinish = std::chrono::milliseconds(2000);

// Reads each path as a run, or all as one.
Result<std::vector<std::unique_ptr<ServedRun>>> ReadRuns(const ServeArguments& arguments, const Session& session) {
  std::vector<std::unique_ptr<ServedRun>> runs;
  const std::span<const std::string> paths(arguments.paths);
  const size_t of_run = arguments.together ? paths.size() : 1;
  for (size_t first = 0; first < paths.size(); first += of_run) {
    GAPLESS_ASSIGN(auto analysis, AnalysisFor(arguments, session, paths.subspan(first, of_run)));
    WarnOfLosses(analysis->loaded());
    runs.push_back(std::make_unique<ServedRun>(StrCat(runs.size()), std::move(analysis), paths.size() > of_run));
  }
  return runs;
}

// Opens the browser without waiting for it. An address with a token is not passed on: other users of the machine see
// the words of a command.
void OpenBrowser(const std::string& address) {
  if (address.find("?token=") != std::string::npos) return log::Warning("open the address yourself: it holds a token");
  std::string program = "xdg-open", word = address;
  char* words[] = {program.data(), word.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  pid_t child = 0;
  if (posix_spawnp(&child, "xdg-open", &quiet, nullptr, words, environ) != 0)
    log::Warning("there is no xdg-open to open a browser with");
  posix_spawn_file_actions_destroy(&quiet);
}

Result<void> SayWhere(const ServeArguments& arguments, const std::string& address, std::vector<ServedRunInfo> runs) {
  const auto text = [&] { return StrCat("gapless: the page is at ", address, " (Ctrl-C stops it)\n"); };
  const auto json = [&] { return DocumentOf("serve", documents::Serve{address, std::move(runs)}); };
  GAPLESS_TRY(PrintTextOrJson(arguments, text, json));
  return {};
}

Result<int> Execute(const ServeArguments& arguments, Session& session) {
  ServeOptions options{.host = arguments.host, .port = arguments.port};
  options.query.time = std::chrono::milliseconds(static_cast<int64_t>(arguments.query_seconds * 1000));
  if (!arguments.token_file.empty()) {
    GAPLESS_ASSIGN(options.token, TokenFrom(arguments.token_file));
  }
  GAPLESS_ASSIGN(auto runs, ReadRuns(arguments, session));
  std::vector<ServedRunInfo> infos;
  for (const auto& run : runs) infos.push_back(run->Info());
  GAPLESS_ASSIGN(const auto server, Server::Start(options, std::move(runs)));
  GAPLESS_TRY(SayWhere(arguments, server->address(), std::move(infos)));
  if (arguments.open) OpenBrowser(server->address());
  while (!session.cancel->load()) std::this_thread::sleep_for(kTick);
  if (server->Drain(kTimeToFinish)) return 0;
  // An analysis cannot be ended in the middle, and nobody waits for it any more.
  RemoveTemporaries();
  std::fflush(nullptr);
  ::_exit(0);
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Serve>::kInfo};
constexpr Example kExamples[] = {
    {"gapless serve trace.json.gz", "The report and a timeline of every event, at http://127.0.0.1:8077"},
    {"gapless serve run/ --open", "Opens the browser, too"},
    {"gapless serve before/ after/", "Two runs in one page"},
    {"gapless serve run/ --host 0.0.0.0 --token-file token", "For other machines: visitors need the token"},
};

}  // namespace

COMMAND(serve) = {
    .name = "serve",
    .place = {groups::kFind, 3},
    .help = "Show recordings in a browser, with a timeline of every event",
    .about =
        "Reads recordings and serves a page: the report of `gapless analyze`, a timeline that shows any "
        "stretch of time down to single events, search, and SQL. Each path is a run; a folder is the ranks of a job."
        "\n\nThe page is for this machine alone unless --host says otherwise; then it asks for a token, which is part "
        "of the address that is printed. Nothing can be changed through it, and it gives out nothing but what the "
        "recordings hold. Where other people use the same machine, --token-file keeps them out, too. For a machine "
        "elsewhere, a tunnel (ssh -L 8077:localhost:8077) needs neither.",
    .examples = kExamples,
    .ends_by_signal = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::serve_command
