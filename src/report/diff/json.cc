// SPDX-License-Identifier: Apache-2.0
// Writes `gapless diff --json`: every operator and kernel that differs.
#include <cmath>

#include "base/described_json.h"
#include "report/diff/report.h"

namespace gapless::internal {

template <>
struct Described<OutlineChange> {
  static constexpr FieldInfo kFields[] = {
      Field<&OutlineChange::path>("path", "", "operators around it, outermost first; of a kernel with its operator",
                                  kUnlessEmpty),
      Field<&OutlineChange::name>("name", "", "name of the operator, or of the kernel without its parameters"),
      Field<&OutlineChange::shapes>("shapes", "", "shapes of the operator's inputs", kUnlessEmpty),
      Field<&OutlineChange::presence>("presence", "", "in which of the runs it is: both, only_a, only_b"),
      Field<&OutlineChange::a_calls>("a_calls", "count", "calls in a step of A"),
      Field<&OutlineChange::b_calls>("b_calls", "count", "calls in a step of B"),
      Field<&OutlineChange::a_ns>("a_ns", "ns",
                                  "sum of its durations in a step of A: on the host, of kernels on the GPU"),
      Field<&OutlineChange::b_ns>("b_ns", "ns", "the same in a step of B"),
      Field<&OutlineChange::a_device_ns>("a_device_ns", "ns", "work of the GPU that the operator launched, in A"),
      Field<&OutlineChange::b_device_ns>("b_device_ns", "ns", "the same in B"),
  };
};
template <>
struct Described<OutlineMemory> {
  static constexpr FieldInfo kFields[] = {
      Field<&OutlineMemory::device>("device", "", "device number; missing: memory of the host"),
      Field<&OutlineMemory::peak_allocated_bytes>("peak_allocated_bytes", "bytes", "most in use by tensors"),
      Field<&OutlineMemory::peak_reserved_bytes>("peak_reserved_bytes", "bytes", "most held by the allocator"),
      Field<&OutlineMemory::allocations>("allocations", "count", "allocations in a step"),
  };
};

namespace documents {

struct DiffSide {
  std::string name{};
  int64_t step_ns = 0;
  std::optional<int64_t> median_step_ns{};
  int64_t steps = 0;
  std::string device{};
  Borrowed<std::vector<OutlineMemory>> memory{};
  static constexpr FieldInfo kFields[] = {
      Field<&DiffSide::name>("name", "", "the run, as given"),
      Field<&DiffSide::step_ns>("step_ns", "ns", "mean step, time between steps included; without steps all of it"),
      Field<&DiffSide::median_step_ns>("median_step_ns", "ns", "median step"),
      Field<&DiffSide::steps>("steps", "count", "complete steps, once for each device", kUnlessEmpty),
      Field<&DiffSide::device>("device", "", "model of the device", kUnlessEmpty),
      Field<&DiffSide::memory>("memory", "", "peaks by device, of the rank with the most"),
  };
};

struct Diff {
  DiffSide a{}, b{};
  Borrowed<std::vector<OutlineChange>> operators{}, kernels{};
  static constexpr FieldInfo kFields[] = {
      Field<&Diff::a>("a", "", "the first run"),
      Field<&Diff::b>("b", "", "the second run"),
      Field<&Diff::operators>("operators", "", "operators that differ, by path, name and shapes; the largest first"),
      Field<&Diff::kernels>("kernels", "", "kernels that differ, by operator, name and shapes; the largest first"),
  };
};

}  // namespace documents

constinit const TypeInfo kDiffDocument = describe::MakeType<documents::Diff>();

std::string DiffJson(const DiffView& view) {
  const auto side = [](const std::string& name, const StepLedger& ledger, const std::vector<OutlineMemory>& memory) {
    const auto step_ns = std::llround(static_cast<double>(ledger.wall_ns) / static_cast<double>(ledger.Units()));
    return documents::DiffSide{name, step_ns, ledger.median_step_ns, ledger.steps, ledger.device_name, {&memory}};
  };
  const documents::Diff document{.a = side(view.a_name, view.a, view.a_memory),
                                 .b = side(view.b_name, view.b, view.b_memory),
                                 .operators = {&view.operators},
                                 .kernels = {&view.kernels}};
  return DocumentOf("diff", document);
}

}  // namespace gapless::internal
