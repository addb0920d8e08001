// SPDX-License-Identifier: Apache-2.0
// Writes `gapless kernel --json`.
#include "base/described_json.h"
#include "base/strings.h"
#include "report/kernel/report.h"

namespace gapless::internal {
namespace documents {

struct KernelTensor {
  std::string name{};
  std::vector<int64_t> shape{};
  std::string_view type{};
  static constexpr FieldInfo kFields[] = {
      Field<&KernelTensor::name>("name", "", "argument of the kernel; empty: its result", kUnlessEmpty),
      Field<&KernelTensor::shape>("shape", "", "sizes in the longest of the chains"),
      Field<&KernelTensor::type>("type", "", "fp32, bf16 …"),
  };
};

struct KernelGain {
  double low = 1, expected = 1, high = 1;
  static constexpr FieldInfo kFields[] = {
      Field<&KernelGain::low>("low", "ratio", "lower end of the 80 % prediction interval"),
      Field<&KernelGain::expected>("expected", "ratio", "recorded step over the replayed one with the kernel"),
      Field<&KernelGain::high>("high", "ratio", "upper end of the interval"),
  };
};

struct KernelChain {
  size_t chain = 0;
  std::vector<std::string> operators{};
  std::vector<KernelTensor> inputs{};
  KernelTensor result{};
  int64_t calls = 0;
  std::optional<double> calls_per_step{};
  int64_t kernels = 0, device_ns = 0, bytes = 0;
  std::optional<int64_t> bound_ns{};
  std::optional<KernelGain> speedup{};
  std::string source_line{}, after{};
  static constexpr FieldInfo kFields[] = {
      Field<&KernelChain::chain>("chain", "", "number for --chain"),
      Field<&KernelChain::operators>("operators", "", "in order"),
      Field<&KernelChain::inputs>("inputs", "", "tensors that a kernel for them reads"),
      Field<&KernelChain::result>("result", "", "tensor that it writes"),
      Field<&KernelChain::calls>("calls", "count", "chains in the analysed time"),
      Field<&KernelChain::calls_per_step>("calls_per_step", "count", "missing: no complete step"),
      Field<&KernelChain::kernels>("kernels", "count", "GPU kernels in them"),
      Field<&KernelChain::device_ns>("device_ns", "ns", "time of these kernels"),
      Field<&KernelChain::bytes>("bytes", "bytes", "that a kernel for each chain moves at least, each tensor once"),
      Field<&KernelChain::bound_ns>("bound_ns", "ns",
                                    "time of that at the peak of the device's memory; missing: peak not known"),
      Field<&KernelChain::speedup>("speedup", "", "of a step by this kernel; missing: not replayed, or nothing to say"),
      Field<&KernelChain::source_line>("source_line", "", "file:line that called the first operator", kUnlessEmpty),
      Field<&KernelChain::after>("after", "", "convolution right before it, which the kernel leaves to its library",
                                 kUnlessEmpty),
  };
};

struct KernelRefusal {
  std::string name{}, reason{};
  int64_t calls = 0, device_ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&KernelRefusal::name>("operator", "", "name of the operator"),
      Field<&KernelRefusal::reason>("reason", "", "why no kernel can be made of it"),
      Field<&KernelRefusal::calls>("calls", "count", "how often it stands in a chain"),
      Field<&KernelRefusal::device_ns>("device_ns", "ns", "time of its kernels"),
  };
};

// The whole document.
struct KernelChains {
  std::vector<KernelChain> chains{};
  std::vector<KernelRefusal> refused{};
  int64_t steps = 0;
  std::optional<int64_t> step_ns{};
  std::string no_gain_reason{};
  std::optional<size_t> written_chain{};
  std::string folder{};
  std::vector<std::string> files{};
  static constexpr FieldInfo kFields[] = {
      Field<&KernelChains::chains>("chains", "", "chains that could be one kernel each, the longest first"),
      Field<&KernelChains::refused>("refused", "", "operators of chains that no kernel is made of"),
      Field<&KernelChains::steps>("steps", "count", "complete steps that were analysed, of all ranks"),
      Field<&KernelChains::step_ns>("step_ns", "ns", "recorded step; missing: not replayed"),
      Field<&KernelChains::no_gain_reason>("no_gain_reason", "", "why the recording is not replayed", kUnlessEmpty),
      Field<&KernelChains::written_chain>("written_chain", "", "the chain that --write wrote a kernel for"),
      Field<&KernelChains::folder>("folder", "", "where it was written to", kUnlessEmpty),
      Field<&KernelChains::files>("files", "", "its files", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

documents::KernelChain ChainDocument(const KernelView& view, size_t index) {
  const KernelCandidate& one = view.search->candidates[index];
  documents::KernelChain chain{.chain = index + 1,
                               .calls = one.calls,
                               .calls_per_step = one.calls_per_step,
                               .kernels = one.kernels,
                               .device_ns = one.device_ns,
                               .bytes = one.bytes,
                               .bound_ns = one.bound_ns,
                               .source_line = one.source_line,
                               .after = one.after};
  for (const PlanLink& link : one.plan.links) chain.operators.push_back(link.name);
  for (const PlanInput& input : one.plan.inputs)
    chain.inputs.push_back({input.name, input.shape, ToString(input.type)});
  chain.result = {"", one.plan.last().shape, ToString(one.plan.last().type)};
  if (index < view.gains.size() && view.gains[index]) {
    const StepShares& share = *view.gains[index];
    chain.speedup = {1 / share.high, 1 / share.expected, 1 / share.low};
  }
  return chain;
}

}  // namespace

constinit const TypeInfo kKernelDocument = describe::MakeType<documents::KernelChains>();

std::string KernelJson(const KernelView& view) {
  documents::KernelChains document{
      .steps = view.search->steps, .no_gain_reason = view.why_no_gain, .folder = view.folder, .files = view.files};
  if (view.step_ns > 0) document.step_ns = view.step_ns;
  if (view.written) document.written_chain = *view.written + 1;
  for (size_t i = 0; i < view.search->candidates.size(); ++i) document.chains.push_back(ChainDocument(view, i));
  for (const RefusedOperator& refused : view.search->refused)
    document.refused.push_back({refused.name, refused.why, refused.calls, refused.device_ns});
  return DocumentOf("kernel", document);
}

}  // namespace gapless::internal
