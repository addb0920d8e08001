// SPDX-License-Identifier: Apache-2.0
// The command `gapless brief`: the report of `analyze` as a short text to paste to a colleague or an assistant.
#include "base/described_json.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "flows/analysis.h"
#include "report/renderer.h"

namespace gapless::internal::brief_command {
namespace documents {

struct Brief {
  std::string text{};
  static constexpr FieldInfo kFields[] = {
      Field<&Brief::text>("text", "", "the findings: what, where in the code, what to try, how to prove it"),
  };
};

}  // namespace documents

namespace {

struct BriefArguments : ReadArguments {
  static constexpr OptionList kOptions{kRankOption, kReadingOptions};
  static constexpr WordList kWords{kPathsWord};
};

Result<int> Execute(const BriefArguments& arguments, Session& session) {
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  const RunReport report(*analysis, {});
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  const documents::Brief brief{FindRenderer("brief")->render(report.report(), {})};
  return PrintTextOrJson(
      arguments, [&] { return brief.text; }, [&] { return DocumentOf("brief", brief); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Brief>::kInfo};
constexpr Example kExamples[] = {
    {"gapless brief run/", "Some 600 words: what costs time, where, what to try, how to prove it"}};

}  // namespace

COMMAND(brief) = {
    .name = "brief",
    .place = {groups::kMore, 1},
    .help = "Print the findings as a short text to paste elsewhere",
    .about =
        "Prints what `analyze` finds as a text of at most 4,000 tokens: for each finding what it is, where in the "
        "code, "
        "what to try, what that would bring, and how to prove it. `analyze --json` has the same findings as data.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::brief_command
