// SPDX-License-Identifier: Apache-2.0
// The command `gapless kernel`: names the chains of operators that are worth a kernel of their own, and writes one.
#include <algorithm>
#include <filesystem>

#include "base/strings.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "forge/writer.h"
#include "report/kernel/report.h"

namespace gapless::internal::kernel_command {
namespace {

namespace fs = std::filesystem;

struct KernelArguments : ReadArguments {
  std::optional<int64_t> chain{};  // from 1
  std::string write{}, name{};     // empty: not given
  int64_t top = 10;
  static constexpr OptionList kOptions{
      Text<&KernelArguments::write>("DIR", "Write a kernel with its test and benchmark into DIR"),
      Number<&KernelArguments::chain>("N", "Write the kernel of chain N of the list (1)", 1, 100'000),
      Text<&KernelArguments::name>("NAME", "Call the kernel NAME, as a word of Python (fused_ and its operators)"),
      Number<&KernelArguments::top>("N", "Show and predict the first N chains", 1, 1000),
      Text<&ReadArguments::db>("URL", "Use the history at URL: sqlite:FILE or postgresql://…"),
      kRankOption,
      kAllStepsOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kPathsWord};
};

// The step with each of the first chains as one kernel, where the recording can be replayed.
Result<void> PredictGains(const KernelArguments& arguments, const RunAnalysis& analysis, KernelView& view) {
  const auto predictor = PredictorOf(analysis);
  if (!predictor || !predictor->check().accepted()) {
    view.why_no_gain = predictor ? predictor->check().refusal : predictor.error().message;
    return {};
  }
  view.step_ns = predictor->step_ns();
  const auto& all = view.search->candidates;
  for (size_t i = 0; i < std::min(all.size(), static_cast<size_t>(arguments.top)); ++i) {
    GAPLESS_ASSIGN(const auto prediction, predictor->Predict({{.name = "fusion", .selector = all[i].plan.Pattern()}}));
    const bool is_known = prediction.refusal.empty();
    view.gains.push_back(is_known ? std::optional(prediction.share) : std::nullopt);
  }
  return {};
}

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > 100 || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == name.npos;
}

// Writes all files, or none where one is there already.
Result<void> Write(const KernelArguments& arguments, KernelView& view) {
  const auto& all = view.search->candidates;
  const auto index = static_cast<size_t>(arguments.chain.value_or(1)) - 1;
  if (index >= all.size())
    return Fail(ErrorCode::kUsage, StrCat("there is no chain ", index + 1, ": ", all.size(), " were found"), "--chain",
                "gapless kernel RUN lists them");
  const KernelCandidate& one = all[index];
  view.name = arguments.name.empty() ? KernelNameOf(one.plan) : arguments.name;
  if (!IsName(view.name))
    return Fail(ErrorCode::kUsage, "a kernel's name has letters, digits and _ only, and begins with no digit",
                "--name");
  const auto files = WriteKernel(one.plan, {.name = view.name, .source_line = one.source_line, .after = one.after});
  std::error_code error;
  fs::create_directories(arguments.write, error);
  if (error) return Fail(ErrorCode::kEnvironment, StrCat("cannot make the folder: ", error.message()), arguments.write);
  for (const KernelFile& file : files)
    if (fs::exists(fs::path(arguments.write) / file.name, error))
      return Fail(ErrorCode::kUsage, StrCat(file.name, " is there already"), arguments.write,
                  "give --write a folder without it");
  for (const KernelFile& file : files) {
    GAPLESS_TRY(WriteFile((fs::path(arguments.write) / file.name).string(), file.text));
    view.files.push_back(file.name);
  }
  view.written = index, view.folder = arguments.write;
  return {};
}

Result<int> Execute(const KernelArguments& arguments, Session& session) {
  if (arguments.write.empty() && (arguments.chain || !arguments.name.empty()))
    return Fail(ErrorCode::kUsage, StrCat(arguments.chain ? "--chain" : "--name", " requires --write"), "",
                "gapless kernel run/ --chain 2 --write kernels/");
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  WarnOfLosses(analysis->loaded());
  const KernelSearch search = FindKernels(analysis->tables());
  if (!search.why_none.empty()) return Fail(ErrorCode::kInput, search.why_none, arguments.paths[0]);
  KernelView view{.search = &search, .shown = static_cast<size_t>(arguments.top)};
  if (arguments.write.empty()) GAPLESS_TRY(PredictGains(arguments, *analysis, view));
  if (!arguments.write.empty()) GAPLESS_TRY(Write(arguments, view));
  return PrintTextOrJson(
      arguments, [&] { return KernelText(view, session.terminal.width); }, [&] { return KernelJson(view); });
}

constexpr const TypeInfo* kDocuments[] = {&kKernelDocument};
constexpr Example kExamples[] = {
    {"gapless kernel trace.json.gz", "Which chains of operators are worth a kernel, and what would it bring?"},
    {"gapless kernel trace.json.gz --chain 2 --write kernels/", "Write one for the second of them"},
};

}  // namespace

COMMAND(kernel) = {
    .name = "kernel",
    .place = {groups::kFix, 5},
    .help = "Find chains of operators worth a kernel, and write the kernel",
    .about =
        "Lists chains of elementwise operators, casts, reductions of rows and normalisations that follow each other in "
        "the forward pass, or end in max_pool2d: how often they run, how long, the bound by the memory's peak when "
        "each tensor is read or "
        "written once, and the step with one kernel in their place, replayed, with its 80 % interval. Operators that "
        "no kernel is made of are named with the reason. Shapes must have been recorded. Convolutions and products "
        "stay "
        "those of cuDNN and cuBLAS: the chain is what follows them.\n\n--write makes a kernel "
        "from the chain as recorded: an extension of PyTorch for the host and for CUDA, and one in Triton, each with "
        "its gradient; a test against eager PyTorch, autograd and finite differences; a benchmark against eager and "
        "compiled PyTorch; and the two lines that use it. It takes tensors of any sizes that are connected alike. "
        "Recordings do not say which tensor an operator got: the result of one is taken to be the first input of the "
        "next that has its shape and type.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::kernel_command
