// SPDX-License-Identifier: Apache-2.0
// Starts Python with the pipe as its standard input and the file as its standard output, so that it is told no name.
#include "cli/commands/query/parquet.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/strings.h"
#include "cli/python.h"

namespace gapless::internal {
namespace {

constexpr const char* kFind =
    "import importlib.util as u, sys\n"
    "sys.exit(0 if any(u.find_spec(name) for name in ('pyarrow', 'polars')) else 4)\n";

// A million rows are one group of the file. Ctrl-C ends it without a word: the program says what happened.
constexpr const char* kWrite = R"(
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
source, file = sys.stdin.buffer, sys.stdout.buffer
try:
    try:
        import pyarrow, pyarrow.ipc, pyarrow.parquet
    except ModuleNotFoundError:
        import polars
        polars.read_ipc_stream(source).write_parquet(file)
    else:
        stream = pyarrow.ipc.open_stream(source)
        with pyarrow.parquet.ParquetWriter(file, stream.schema, compression='zstd') as writer:
            held, rows = [], 0
            for batch in stream:
                held.append(batch)
                rows += batch.num_rows
                if rows >= 1 << 20:
                    writer.write_table(pyarrow.Table.from_batches(held))
                    held, rows = [], 0
            if held:
                writer.write_table(pyarrow.Table.from_batches(held))
    file.flush()
except Exception as error:
    print('gapless: ' + str(error).replace('\n', ' '), file=sys.stderr)
    sys.exit(1)
)";

// Starts Python with a script; 0 or the error. A descriptor below 0: /dev/null.
int StartPython(const std::string& python, const char* script, int input, int output, pid_t& process) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (input >= 0)
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output >= 0)
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const char* words[] = {python.c_str(), "-c", script, nullptr};
  const int error = posix_spawnp(&process, python.c_str(), &files, nullptr, const_cast<char* const*>(words), environ);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Returns the exit status; -1 where a signal ended the process.
int StatusOf(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Unexpected CannotStart(const std::string& python, int error) {
  return Fail(ErrorCode::kEnvironment, StrCat("cannot start ", python, ": ", std::strerror(error)), "",
              "Parquet is written by a package of Python: set GAPLESS_PYTHON to its path, or write Arrow with --arrow");
}

}  // namespace

Result<void> FindParquetPackage() {
  const std::string python = PythonToUse();
  pid_t process = -1;
  if (const int error = StartPython(python, kFind, -1, -1, process); error != 0) return CannotStart(python, error);
  if (StatusOf(process) == 0) return {};
  return Fail(ErrorCode::kEnvironment,
              StrCat("--parquet needs pyarrow, which ", python, " does not have: pip install \"gapless[parquet]\""), "",
              "another Python is named with GAPLESS_PYTHON; --arrow FILE needs no package");
}

Result<std::unique_ptr<ParquetProcess>> ParquetProcess::Start(int file) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorCode::kEnvironment, StrCat("cannot make a pipe: ", std::strerror(errno)));
  const std::string python = PythonToUse();
  pid_t process = -1;
  const int error = StartPython(python, kWrite, ends[0], file, process);
  close(ends[0]);
  if (error == 0) return std::unique_ptr<ParquetProcess>(new ParquetProcess(process, ends[1]));
  close(ends[1]);
  return CannotStart(python, error);
}

ParquetProcess::~ParquetProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    (void)StatusOf(process_);
  }
  if (pipe_ >= 0) close(pipe_);
}

bool ParquetProcess::Write(std::string_view part) {
  while (!part.empty()) {
    const ssize_t written = write(pipe_, part.data(), part.size());
    if (written >= 0)
      part.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

Result<void> ParquetProcess::Finish() {
  close(std::exchange(pipe_, -1));
  if (StatusOf(std::exchange(process_, -1)) == 0) return {};
  return Fail(ErrorCode::kEnvironment, "Python could not write the Parquet file");
}

}  // namespace gapless::internal
