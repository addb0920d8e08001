// SPDX-License-Identifier: Apache-2.0
// Exports a history as JSON lines, and imports JSON lines or CSV. The output is replaced only when it is complete.
#include "store/transfer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/history_actions.h"
#include "cli/output.h"
#include "store/record_lines.h"
#include "store/result_reader.h"

namespace gapless::internal {
namespace documents {

// The document of `export`.
struct HistoryExported {
  std::string history{};
  int64_t exported = 0, tested_predictions = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryExported::history>("history", "", "file or database"),
      Field<&HistoryExported::exported>("exported", "count", "runs that were written"),
      Field<&HistoryExported::tested_predictions>("tested_predictions", "count", "tested predictions beside them"),
  };
};

// The document of `import`; runs that the history already had count as present.
struct HistoryImported {
  std::string history{};
  int64_t added = 0, tested_predictions = 0, present = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&HistoryImported::history>("history", "", "file or database"),
      Field<&HistoryImported::added>("added", "count", "runs that were added"),
      Field<&HistoryImported::tested_predictions>("tested_predictions", "count", "tested predictions beside them"),
      Field<&HistoryImported::present>("present", "count", "runs that were there"),
  };
};

}  // namespace documents

namespace {

std::string Runs(int64_t count) { return count == 1 ? "1 run" : StrCat(FormatCount(count), " runs"); }

std::string RunsAndAdvice(int64_t runs, int64_t advice) {
  if (advice == 0) return Runs(runs);
  return StrCat(Runs(runs), " and ", FormatCount(advice), advice == 1 ? " tested prediction" : " tested predictions");
}

// Writes the tested predictions and returns how many there were. They belong to no branch, commit or benchmark, so they
// go with a whole history only.
Result<int64_t> WriteAdvice(History& history, const HistoryFilter& filter, Output& output) {
  // A restricted export is about some runs only.
  if (filter != HistoryFilter()) return 0;
  GAPLESS_ASSIGN(const auto advice, history.ListAdvice());
  for (const AdviceRecord& advice_record : advice) output.Write(LineOf(advice_record) + "\n");
  return static_cast<int64_t>(advice.size());
}

// An InputFile is a file, or standard input for "-". Reading ends soon after a signal, also from a pipe that is silent.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : path_(path), descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~InputFile() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  Result<size_t> Read(char* out, size_t size, const std::atomic<bool>* cancel) const {
    constexpr int kBetweenLooksMs = 50;
    pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
    while (!cancel->load()) {
      // EINTR is a signal, after which the flag is looked at.
      if (::poll(&wanted, 1, kBetweenLooksMs) <= 0) continue;
      const ssize_t got = ::read(descriptor_, out, std::min(size, kReadAtOnce));
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR && errno != EAGAIN)
        return Fail(ErrorCode::kInput, StrCat("cannot read the file: ", std::generic_category().message(errno)), path_);
    }
    return Fail(ErrorCode::kInterrupted, "interrupted");
  }

 private:
  static constexpr size_t kReadAtOnce = size_t{1} << 20;  // bytes between two looks at the flag
  std::string path_;
  int descriptor_;
};

std::string ImportedText(const Imported& imported, const History& history) {
  const std::string rest = imported.present > 0 ? StrCat("; ", FormatCount(imported.present), " were there") : "";
  return StrCat("added ", RunsAndAdvice(imported.added, imported.advice), " to ", Printable(history.place()), rest,
                "\n");
}

std::string ImportedJson(const Imported& imported, const History& history) {
  return DocumentOf("history", documents::HistoryImported{std::string(history.place()), imported.added, imported.advice,
                                                          imported.present});
}

// Is it the data.js of github-action-benchmark's page? A pipe is not looked into: what was read of it would be lost.
bool IsPageData(const std::string& file) {
  constexpr std::string_view kBegins = "window.BENCHMARK_DATA";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::string begin(kBegins.size(), '\0');
  return std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size())) &&
         begin == kBegins;
}

// Its runs are those of a branch, which the file does not name. Their uids follow from what they are, so that importing
// twice adds nothing.
Result<int> ImportPageData(const HistoryArguments& arguments) {
  GAPLESS_ASSIGN(auto file, ReadResultFile(arguments.file));
  for (BenchmarkRecord& run : file.runs) {
    run.source = file.tool;
    run.branch = arguments.branch.value_or("main");
    if (arguments.label) run.benchmark = *arguments.label;
    run.uid = StrCat("page-", run.commit_sha, "-", run.recorded_unix_ns.value_or(0), "-", run.benchmark);
  }
  GAPLESS_ASSIGN(auto history, History::Open(arguments.db));
  GAPLESS_ASSIGN(const auto recorded, history.RecordAll(file.runs));
  Imported imported;
  for (const Recorded& run : recorded) ++(run.added ? imported.added : imported.present);
  return PrintTextOrJson(
      arguments, [&] { return ImportedText(imported, history); }, [&] { return ImportedJson(imported, history); });
}

}  // namespace

constinit const TypeInfo kHistoryExportDocument = describe::MakeType<documents::HistoryExported>();
constinit const TypeInfo kHistoryImportDocument = describe::MakeType<documents::HistoryImported>();

// Writes run by run; memory does not grow with the history.
Result<int> HistoryExport(const HistoryArguments& arguments, const Session& session) {
  const std::string& file = arguments.file;
  const bool to_stdout = file.empty() || file == "-";
  // Two documents on one stream could not be separated again.
  if (to_stdout && arguments.JsonToStdout())
    return Fail(ErrorCode::kUsage, "cannot write both --json and the history to standard output", "",
                "name a file: gapless history export history.jsonl");
  const HistoryFilter filter = FilterOf(arguments);
  GAPLESS_ASSIGN(auto history, History::OpenToRead(arguments.db));
  GAPLESS_ASSIGN(auto output, Output::Open(file));
  int64_t count = 0;
  GAPLESS_TRY(history.Visit(filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    output.Write(LineOf(record) + "\n");
    ++count;
    return {};
  }));
  GAPLESS_ASSIGN(const auto advice, WriteAdvice(history, filter, output));
  GAPLESS_TRY(output.Commit());
  const auto document = [&] {
    return DocumentOf("history", documents::HistoryExported{std::string(history.place()), count, advice});
  };
  const auto say = [&] { return StrCat("wrote ", Printable(file), ": ", RunsAndAdvice(count, advice), "\n"); };
  if (!to_stdout) return PrintTextOrJson(arguments, say, document);
  if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, document()));
  return 0;
}

// Reads the file in pieces: a record after the other is stored.
Result<int> HistoryImport(const HistoryArguments& arguments, const Session& session) {
  const std::string& file = arguments.file;
  if (file.empty()) return Fail(ErrorCode::kUsage, "history import needs a FILE", "", "- reads standard input");
  if (IsPageData(file)) return ImportPageData(arguments);
  const InputFile input(file);
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");  // a pipe that nobody wrote to
  if (!input.is_open()) return Fail(ErrorCode::kInput, "cannot read the file", file);
  GAPLESS_ASSIGN(auto history, History::Open(arguments.db));
  const auto source = [&](char* out, size_t size) { return input.Read(out, size, session.cancel); };
  GAPLESS_ASSIGN(const auto imported, ImportFrom(history, source, file, session.cancel));
  return PrintTextOrJson(
      arguments, [&] { return ImportedText(imported, history); }, [&] { return ImportedJson(imported, history); });
}

}  // namespace gapless::internal
