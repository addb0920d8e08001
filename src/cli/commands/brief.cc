// SPDX-License-Identifier: Apache-2.0
// The command `gapless brief`: the report of `analyze` as a short text to paste to a colleague or an assistant.
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "flows/analysis.h"
#include "report/analyze_json.h"

namespace gapless::internal {
namespace {

struct BriefArguments : ReadArguments {
  static constexpr OptionList kOptions{kRankOption, kNoCacheOption};
  static constexpr WordList kWords{kPathsWord};
};

Result<int> Execute(const BriefArguments& arguments, Session& session) {
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  const RunReport report(*analysis, {});
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  const auto render = [&](std::string_view format) { return FindRenderer(format)->render(report.report(), {}); };
  return PrintTextOrJson(
      arguments, [&] { return render("brief"); }, [&] { return render("json"); });
}

constexpr const TypeInfo* kDocuments[] = {&kAnalyzeDocument};
constexpr Example kExamples[] = {
    {"gapless brief run/", "Some 600 words: what costs time, where, what to try, how to prove it"}};

}  // namespace

COMMAND(brief) = {
    .name = "brief",
    .help = "Print the findings as a short text to paste elsewhere",
    .about =
        "Prints what `analyze` finds as a text of at most 4,000 tokens: for each finding what it is, where in the "
        "code, "
        "what to try, what that would bring, and how to prove it. --json prints the whole document of `analyze`.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal
