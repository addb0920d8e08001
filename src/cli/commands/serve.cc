// SPDX-License-Identifier: Apache-2.0
// The command `gapless serve`: shows recordings in a browser, with a timeline of every event; histories, searches for
// fixes and jobs that are under way, too.
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
#include "flows/trends.h"
#include "serve/server.h"
#include "serve/source_kind.h"

namespace gapless::internal::serve_command {
namespace documents {

struct Serve {
  std::string address{};
  std::vector<ServedRunInfo> runs{};
  std::vector<ServedThing> history{}, optimize{}, monitor{};
  static constexpr FieldInfo kFields[] = {
      Field<&Serve::address>("address", "", "address of the page, with the token if one is asked for"),
      Field<&Serve::runs>("runs", "", "runs that are served"),
      Field<&Serve::history>("history", "", "histories of benchmarks that are served", kUnlessEmpty),
      Field<&Serve::optimize>("optimize", "", "searches of gapless optimize that are served", kUnlessEmpty),
      Field<&Serve::monitor>("monitor", "", "jobs under way that are served", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

struct ServeArguments : ReadArguments {
  std::string host = ServeOptions{}.host, token_file{};
  std::optional<int> port{};
  double query_seconds = 10;
  std::optional<double> price{}, carbon{}, watts{};
  std::optional<int64_t> gpus{};
  bool open = false, together = false, no_history = false;
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
      Flag<&ServeArguments::no_history>("Do not show your own history of benchmarks beside the paths"),
      Positive<&ServeArguments::price>("N", "Set the price of a GPU per hour, to show what the run costs", "/gpu-hour"),
      Positive<&ServeArguments::carbon>("N", "Set the carbon intensity of the grid in g of CO2 per kWh", "g/kWh"),
      Positive<&ServeArguments::watts>("N", "Set the mean power of a GPU in W (its power limit)", "W"),
      Number<&ServeArguments::gpus>("N", "Set the number of GPUs of the job (those of the recording)", 1),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{
      Word<&ReadArguments::paths>("PATH",
                                  "a recording or a folder of them, a history (sqlite:FILE), the folder of gapless "
                                  "optimize, or the run folder of a job under way; none: your history")
          .Times(0, 100000)
          .Path()};
};

constexpr auto kTick = std::chrono::milliseconds(50);
constexpr auto kTimeToFinish = std::chrono::milliseconds(2000);

// A path that cannot be read may have been meant as any of the things that serve takes, so the error names them all.
Error NotServed(Error error) {
  if (error.code == ErrorCode::kInput) error.hint = StrCat(error.hint, error.hint.empty() ? "" : "; ", kSourcesInWords);
  return error;
}

AnalyzeOptions OptionsOfReports(const ServeArguments& arguments) {
  AnalyzeOptions options;
  options.rates.price_per_gpu_hour = arguments.price;
  options.rates.carbon_g_per_kwh = arguments.carbon;
  options.rates.watts_per_gpu = arguments.watts;
  options.rates.gpus = arguments.gpus;
  return options;
}

// Reads each path as a run, or all as one.
Result<void> ReadRuns(const ServeArguments& arguments, const Session& session, std::span<const std::string> paths,
                      bool several, SiteParts& parts) {
  const size_t of_run = arguments.together ? paths.size() : 1;
  for (size_t first = 0; first < paths.size(); first += of_run) {
    auto analysis = AnalysisFor(arguments, session, paths.subspan(first, of_run));
    if (!analysis) return Unexpected{NotServed(analysis.error())};
    WarnOfLosses((*analysis)->loaded());
    parts.runs.push_back(std::make_unique<ServedRun>(StrCat(parts.runs.size()), *std::move(analysis),
                                                     several || paths.size() > of_run, OptionsOfReports(arguments)));
  }
  return {};
}

// The user's own history is shown to this machine alone, and never where names are to be replaced.
bool ShowsOwnHistory(const ServeArguments& arguments) {
  return !arguments.no_history && !arguments.redact && IsLoopbackHost(arguments.host);
}

Result<SiteParts> ReadParts(const ServeArguments& arguments, const Session& session) {
  SiteParts parts;
  std::vector<std::string> recordings, jobs;
  for (const std::string& path : arguments.paths) {
    const SourceKind kind = KindOfSource(path);
    if (arguments.redact && kind != SourceKind::kRecording)
      return Fail(ErrorCode::kUsage, "--redact replaces names in recordings alone, and this is none", path);
    switch (kind) {
      case SourceKind::kRecording: recordings.push_back(path); break;
      case SourceKind::kJob: jobs.push_back(path); break;
      case SourceKind::kOptimize:
        parts.optimize.push_back(std::make_unique<ServedOptimize>(StrCat(parts.optimize.size()), path));
        break;
      case SourceKind::kHistory:
        GAPLESS_TRY(SeriesOfHistory(path, session.cancel));
        parts.history.push_back(std::make_unique<ServedHistory>(StrCat(parts.history.size()), path));
    }
  }
  for (const std::string& folder : jobs) {
    const auto open = [&arguments, &session](const std::string& path) {
      return AnalysisFor(arguments, session, std::span(&path, 1));
    };
    GAPLESS_ASSIGN(auto job, ServedMonitor::Start(StrCat(parts.monitor.size()), folder, open));
    parts.monitor.push_back(std::move(job));
  }
  if (const std::string own = ShowsOwnHistory(arguments) ? OwnHistory() : ""; parts.history.empty() && !own.empty())
    parts.history.push_back(std::make_unique<ServedHistory>("0", own));
  GAPLESS_TRY(ReadRuns(arguments, session, recordings, !jobs.empty(), parts));
  if (parts.size() > 0) return parts;
  return Fail(ErrorCode::kUsage, "there is nothing to serve: no path, and no history of your own", "",
              std::string(kSourcesInWords));
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

Result<void> SayWhere(const ServeArguments& arguments, const std::string& address, ServedSite site) {
  const auto text = [&] { return StrCat("gapless: the page is at ", address, " (Ctrl-C stops it)\n"); };
  const auto json = [&] {
    return DocumentOf("serve", documents::Serve{address, std::move(site.runs), std::move(site.history),
                                                std::move(site.optimize), std::move(site.monitor)});
  };
  GAPLESS_TRY(PrintTextOrJson(arguments, text, json));
  return {};
}

Result<int> Execute(const ServeArguments& arguments, Session& session) {
  ServeOptions options{.host = arguments.host, .port = arguments.port};
  options.query.time = std::chrono::milliseconds(static_cast<int64_t>(arguments.query_seconds * 1000));
  if (!arguments.token_file.empty()) {
    GAPLESS_ASSIGN(options.token, TokenFrom(arguments.token_file));
  }
  GAPLESS_ASSIGN(auto parts, ReadParts(arguments, session));
  ServedSite site = parts.Site();
  GAPLESS_ASSIGN(const auto server, Server::Start(options, std::move(parts)));
  GAPLESS_TRY(SayWhere(arguments, server->address(), std::move(site)));
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
    {"gapless serve run/ optimized/ sqlite:history.db", "A job under way, a search for fixes, and a history"},
    {"gapless serve run/ --host 0.0.0.0 --token-file token", "For other machines: visitors need the token"},
};

}  // namespace

COMMAND(serve) = {
    .name = "serve",
    .place = {groups::kFind, 3},
    .help = "Show recordings, histories and jobs under way in a browser",
    .about =
        "Reads recordings and serves a page: the report of `gapless analyze`, a timeline that shows any "
        "stretch of time down to single events, search, and SQL. Each path is a run; a folder is the ranks of a job. "
        "A history of benchmarks becomes its trends, the folder of `gapless optimize` its result or how far it is, and "
        "the run folder of a job that is under way its charts, live. Your own history is there, too, if there is one."
        "\n\nThe page is for this machine alone unless --host says otherwise; then it asks for a token, which is part "
        "of the address that is printed. Nothing can be changed through it, and it gives out nothing but what the "
        "recordings hold. Where other people use the same machine, --token-file keeps them out, too. For a machine "
        "elsewhere, a tunnel (ssh -L 8077:localhost:8077) needs neither.",
    .examples = kExamples,
    .ends_by_signal = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::serve_command
