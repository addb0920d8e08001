// SPDX-License-Identifier: Apache-2.0
// Starts Python with the module, and reads the document that it leaves. Python ends when this program does, with its
// tasks: a signal that asks for it is sent by the kernel.
#include "cli/elsewhere.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/described_json.h"
#include "base/strings.h"
#include "base/temporaries.h"
#include "cli/python.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

// Says what is missing as the program does, instead of a stack of Python's.
constexpr const char* kSummarizeWithPython =
    "import sys\n"
    "try:\n"
    "    from gapless.cluster.__main__ import main\n"
    "except ModuleNotFoundError:\n"
    "    sys.exit(44)\n"
    "sys.exit(main(sys.argv[1:]))\n";
constexpr int kNoPackage = 44;

// Folders of this call. Summaries are read when they are needed, so these stay until the program ends.
Result<std::string> FolderOfCall() {
  static std::vector<TemporaryFolder> kept;
  GAPLESS_ASSIGN(auto folder, TemporaryFolder::Make());
  RememberTemporary(folder.path());
  kept.push_back(std::move(folder));
  return kept.back().path();
}

std::vector<std::string> WordsFor(const ElsewhereRequest& request, const std::string& folder,
                                  const std::string& document) {
  std::vector<std::string> words = {PythonToUse(), "-c", kSummarizeWithPython, "--to", document};
  const auto add = [&](std::string_view name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  if (request.here) add("--into", folder);
  if (!request.summaries.empty()) add("--summaries", request.summaries);
  if (request.on) add("--on", std::string(OneOf<kClusterEngines>::NameOf(*request.on)));
  if (request.memory) add("--memory", StrCat(*request.memory));
  words.emplace_back("--");
  words.insert(words.end(), request.paths.begin(), request.paths.end());
  return words;
}

[[noreturn]] void BecomePython(const std::vector<char*>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is the report's
  ::execvp(words[0], words.data());
  ::_exit(errno == ENOENT ? 127 : 126);
}

// Its exit status, as a shell gives it.
int RunPython(const std::vector<std::string>& argv) {
  std::error_code unknown;
  const std::string program = fs::read_symlink("/proc/self/exe", unknown).string();
  if (!program.empty()) ::setenv("GAPLESS_PROGRAM", program.c_str(), 0);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) BecomePython(words);
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 126;
  if (pid < 0) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ErrorCode CodeOf(int64_t status) {
  switch (status) {
    case 2: return ErrorCode::kUsage;
    case 3: return ErrorCode::kInput;
    case 5: return ErrorCode::kCommand;
    case 130: return ErrorCode::kInterrupted;
    default: return ErrorCode::kEnvironment;
  }
}

Result<std::string> TextOfFile(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Fail(ErrorCode::kInput, "cannot be opened", file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

bool IsUrl(const std::string& path) {
  const size_t end = path.find("://");
  if (end == std::string::npos || end == 0) return false;
  const auto of_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == ':' || c == '=';
  };
  std::error_code error;
  return std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(end), of_scheme) &&
         !fs::exists(path, error);
}

bool IsElsewhere(const ElsewhereArguments& arguments) {
  return arguments.on || !arguments.summaries.empty() || std::ranges::any_of(arguments.paths, IsUrl);
}

Result<documents::Summarize> ReadSummarized(const std::string& file) {
  GAPLESS_ASSIGN(const std::string text, TextOfFile(file));
  GAPLESS_ASSIGN(const auto json, JsonValue::Parse(text));
  const JsonValue& error = json.Get("error");
  if (error.is_object())
    return Fail(CodeOf(error.Get("exit_status").Int().value_or(4)), error.TextOf("message"), error.TextOf("place"),
                error.TextOf("hint"));
  return ReadJson<documents::Summarize>(json);
}

ElsewhereRequest RequestFrom(const ElsewhereArguments& arguments) {
  return {.paths = arguments.paths,
          .summaries = arguments.summaries,
          .on = arguments.on,
          .memory = arguments.memory,
          .here = true};
}

Result<documents::Summarize> SummarizeElsewhere(const ElsewhereRequest& request) {
  GAPLESS_ASSIGN(const std::string folder, FolderOfCall());
  const std::string document = StrCat(folder, "/summarized.json");
  RememberTemporary(document);
  const auto words = WordsFor(request, folder, document);
  const int status = RunPython(words);
  if (status == 127)
    return Fail(ErrorCode::kEnvironment, StrCat("cannot start ", words.front()), "",
                "engines and object stores are reached through Python: set GAPLESS_PYTHON to its path");
  if (status == kNoPackage)
    return Fail(ErrorCode::kEnvironment, StrCat(words.front(), " has no package gapless: pip install gapless"), "",
                "or name another Python with GAPLESS_PYTHON");
  std::error_code error;
  if (!fs::exists(document, error)) {
    if (status == 130 || status == 128 + SIGINT) return Fail(ErrorCode::kInterrupted, "interrupted");
    return Fail(ErrorCode::kEnvironment, StrCat("summarising ended with ", status), "", "the lines above say why");
  }
  GAPLESS_ASSIGN(auto done, ReadSummarized(document));
  for (const documents::WrittenSummary& summary : done.summaries)
    if (summary.path.starts_with(StrCat(folder, "/"))) RememberTemporary(summary.path);
  return done;
}

std::vector<Error> LostOf(const documents::Summarize& done) {
  std::vector<Error> errors;
  for (const documents::LostRecording& lost : done.lost)
    errors.push_back({ErrorCode::kInput, lost.reason, lost.path, lost.hint});
  return errors;
}

std::vector<std::string> FilesOf(const documents::Summarize& done) {
  std::vector<std::string> files;
  for (const documents::WrittenSummary& summary : done.summaries) files.push_back(summary.path);
  return files;
}

}  // namespace gapless::internal
