// SPDX-License-Identifier: Apache-2.0
#include "store/transfer.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/history/actions.h"
#include "cli/output.h"

namespace gapless::internal {
namespace {

std::string Runs(int64_t count) { return count == 1 ? "1 run" : StrCat(FormatCount(count), " runs"); }

std::string RunsAndAdvice(int64_t runs, int64_t advice) {
  if (advice == 0) return Runs(runs);
  return StrCat(Runs(runs), " and ", FormatCount(advice), advice == 1 ? " tested prediction" : " tested predictions");
}

std::string Document(std::string_view place, std::initializer_list<std::pair<std::string_view, int64_t>> counts) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("history", place);
  for (const auto& [name, count] : counts) json.Field(name, count);
  json.EndObject();
  return out + "\n";
}

// Tested predictions belong to no branch, commit or benchmark: they go with a whole history. Returns how many.
Result<int64_t> WriteAdvice(History& history, const HistoryFilter& filter, Output& output) {
  if (filter != HistoryFilter()) return 0;
  const auto advice = history.ListAdvice();
  if (!advice) return Unexpected{advice.error()};
  for (const AdviceRecord& one : *advice) output.Write(LineOf(one) + "\n");
  return static_cast<int64_t>(advice->size());
}

}  // namespace

Result<int> HistoryExport(const Arguments& arguments, const Session& session, const std::string& file) {
  const bool to_stdout = file.empty() || file == "-";
  if (to_stdout && arguments.JsonToStdout())
    return Fail(ErrorCode::kUsage, "--json and the history would both go to standard output", "",
                "name a file: gapless history export history.jsonl");
  const auto filter = FilterFrom(arguments);
  if (!filter) return Unexpected{filter.error()};
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  auto output = Output::Open(file);
  if (!output) return Unexpected{output.error()};
  int64_t count = 0;
  GAPLESS_TRY(history->Visit(*filter, [&](const BenchmarkRecord& record) -> Result<void> {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    output->Write(LineOf(record) + "\n");
    ++count;
    return {};
  }));
  const auto advice = WriteAdvice(*history, *filter, *output);
  if (!advice) return Unexpected{advice.error()};
  GAPLESS_TRY(output->Commit());
  const auto document = [&] {
    return Document(history->place(), {{"exported", count}, {"tested_predictions", *advice}});
  };
  const auto say = [&] { return StrCat("wrote ", Printable(file), ": ", RunsAndAdvice(count, *advice), "\n"); };
  if (!to_stdout) return PrintTextOrJson(arguments, say, document);
  if (arguments.Has("json")) GAPLESS_TRY(WriteFile(arguments.Value("json"), document()));
  return 0;
}

Result<int> HistoryImport(const Arguments& arguments, const std::string& file) {
  if (file.empty()) return Fail(ErrorCode::kUsage, "history import needs a FILE", "", "- reads standard input");
  std::ifstream stored;
  if (file != "-") stored.open(file, std::ios::binary);
  std::istream& in = file == "-" ? std::cin : stored;
  if (!in) return Fail(ErrorCode::kInput, "the file cannot be read", file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return Fail(ErrorCode::kInput, "the file cannot be read", file);
  auto history = History::Open(arguments.Value("db"));
  if (!history) return Unexpected{history.error()};
  const auto imported = ImportInto(*history, text, file);
  if (!imported) return Unexpected{imported.error()};
  const auto say = [&] {
    const std::string rest = imported->present > 0 ? StrCat("; ", FormatCount(imported->present), " were there") : "";
    return StrCat("added ", RunsAndAdvice(imported->added, imported->advice), " to ", Printable(history->place()), rest,
                  "\n");
  };
  return PrintTextOrJson(arguments, say, [&] {
    return Document(
        history->place(),
        {{"added", imported->added}, {"tested_predictions", imported->advice}, {"present", imported->present}});
  });
}

}  // namespace gapless::internal
