// SPDX-License-Identifier: Apache-2.0
// The command `gapless merge`: puts summaries into one file.
//
//   wrote job.tar: 64 summaries, 2.1 MB
#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cluster/summary_set.h"

namespace gapless::internal::merge_command {
namespace documents {

struct LostSummary {
  std::string path{}, reason{};
  static constexpr FieldInfo kFields[] = {
      Field<&LostSummary::path>("path", "", "file or member that is no whole summary"),
      Field<&LostSummary::reason>("reason", "", "what is wrong with it"),
  };
};

struct Merge {
  std::string path{};
  int64_t summaries = 0, bytes = 0;
  std::vector<LostSummary> lost{};
  static constexpr FieldInfo kFields[] = {
      Field<&Merge::path>("path", "", "file that was written"),
      Field<&Merge::summaries>("summaries", "count", "summaries in it"),
      Field<&Merge::bytes>("bytes", "bytes", "its size"),
      Field<&Merge::lost>("lost", "", "inputs that are not in it"),
  };
};

}  // namespace documents

namespace {

struct MergeArguments : Arguments {
  std::vector<std::string> paths{};
  std::string output{};
  static constexpr OptionList kOptions{
      Text<&MergeArguments::output>("FILE", "Write the merged summaries to FILE; - is standard output").Short('o')};
  static constexpr WordList kWords{
      Word<&MergeArguments::paths>("SUMMARY", "a summary, a file that was merged before, or a folder of both")
          .Times(1, 100000)
          .Path()};
};

std::string AsText(const documents::Merge& merged) {
  return StrCat("wrote ", Printable(merged.path), ": ", FormatCounted(merged.summaries, "summary", "summaries"), ", ",
                FormatBytes(merged.bytes), "\n");
}

Result<int> Execute(const MergeArguments& arguments, Session& session) {
  if (arguments.output.empty())
    return Fail(ErrorCode::kUsage, "no file to write to", "", "gapless merge summaries/ -o job.tar");
  GAPLESS_ASSIGN(const SummarySet set, FindSummaries(arguments.paths));
  std::vector<std::string> inputs(arguments.paths);
  for (const SummaryPlace& place : set.places) inputs.push_back(place.file);
  GAPLESS_TRY(RefuseInput(arguments.output, inputs));
  documents::Merge merged{.path = arguments.output, .summaries = static_cast<int64_t>(set.places.size())};
  for (const Error& lost : set.lost) {
    log::Warning(StrCat(lost.place, ": ", lost.message));
    merged.lost.push_back({lost.place, lost.message});
  }
  GAPLESS_ASSIGN(auto output, Output::Open(arguments.output));
  GAPLESS_ASSIGN(const bool whole, WriteMerged(set, [&](std::string_view piece) {
                   merged.bytes += static_cast<int64_t>(piece.size());
                   return !session.cancel->load() && output.Write(piece);
                 }));
  if (!whole && session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  GAPLESS_TRY(output.Commit());
  if (arguments.output == "-") {
    if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, DocumentOf("merge", merged)));
    return 0;
  }
  return PrintTextOrJson(
      arguments, [&] { return AsText(merged); }, [&] { return DocumentOf("merge", merged); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Merge>::kInfo};
constexpr Example kExamples[] = {
    {"gapless merge node0/ node1/ -o job.tar", "All summaries of two nodes in one file, to analyse"},
};

}  // namespace

COMMAND(merge) = {
    .name = "merge",
    .place = {groups::kJobs, 2},
    .help = "Put summaries of many ranks into one file",
    .about =
        "Puts summaries that `gapless summarize` wrote into one file, which every command that reads recordings takes. "
        "The file is a tar archive of the summaries, ordered by name and each content once: merging in any order and "
        "grouping gives the same bytes. What is no whole summary is named and left out.",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::merge_command
