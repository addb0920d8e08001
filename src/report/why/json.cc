// SPDX-License-Identifier: Apache-2.0
// Writes `gapless why --json`: every cause with all of its rows.
#include "base/described_json.h"
#include "report/why/report.h"

namespace gapless::internal {

template <>
struct Described<CauseRow> {
  static constexpr FieldInfo kFields[] = {
      Field<&CauseRow::name>("name", "", "kernel, kind of copy, operator, call or frame; missing: not recorded",
                             kUnlessEmpty),
      Field<&CauseRow::op>("operator", "", "innermost operator that launched it", kUnlessEmpty),
      Field<&CauseRow::presence>("presence", "", "in which of the runs it is: both, only_a, only_b"),
      Field<&CauseRow::ns>("ns", "ns", "what it adds to the difference"),
      Field<&CauseRow::a_ns>("a_ns", "ns", "its time in a step of A"),
      Field<&CauseRow::b_ns>("b_ns", "ns", "its time in a step of B"),
      Field<&CauseRow::a_calls>("a_calls", "count", "calls in a step of A"),
      Field<&CauseRow::b_calls>("b_calls", "count", "calls in a step of B"),
      Field<&CauseRow::line>("source_line", "", "line of the user's code", kUnlessEmpty),
  };
};

namespace documents {

struct WhyCause {
  CauseKind id{};
  std::string_view title{};
  int64_t ns = 0;
  const std::vector<CauseRow>* rows = nullptr;
  static constexpr FieldInfo kFields[] = {
      Field<&WhyCause::id>("id", "", "name of the cause (docs/why.md)"),
      Field<&WhyCause::title>("title", "", "the cause in words"),
      Field<&WhyCause::ns>("ns", "ns", "time of a step of B minus that of A; the causes add up to difference_ns"),
      Field<&WhyCause::rows>("rows", "", "what it is of, the largest first; they add up to ns"),
  };
};

struct WhySide {
  std::string name{};
  int64_t step_ns = 0;
  std::optional<int64_t> median_step_ns{};
  int64_t steps = 0, devices = 0;
  std::string device{};
  std::optional<double> clock_hz{};
  static constexpr FieldInfo kFields[] = {
      Field<&WhySide::name>("name", "", "the run, as given"),
      Field<&WhySide::step_ns>("step_ns", "ns", "mean step, time between steps included; without steps all of it"),
      Field<&WhySide::median_step_ns>("median_step_ns", "ns", "median step"),
      Field<&WhySide::steps>("steps", "count", "complete steps, once for each device", kUnlessEmpty),
      Field<&WhySide::devices>("devices", "count", "devices, without any processes"),
      Field<&WhySide::device>("device", "", "model of the device", kUnlessEmpty),
      Field<&WhySide::clock_hz>("clock_hz", "Hz", "mean clock of the multiprocessors"),
  };
};

struct Why {
  WhySide a{}, b{};
  bool of_steps = true;
  int64_t difference_ns = 0;
  double difference_share = 0;
  std::string sentence{};
  std::vector<WhyCause> causes{};
  std::vector<std::string> notes{};
  static constexpr FieldInfo kFields[] = {
      Field<&Why::a>("a", "", "the first run"),
      Field<&Why::b>("b", "", "the second run"),
      Field<&Why::of_steps>("of_steps", "", "false: neither marks steps, and all that was recorded is compared"),
      Field<&Why::difference_ns>("difference_ns", "ns", "step of B minus step of A"),
      Field<&Why::difference_share>("difference_share", "share", "of the step of A"),
      Field<&Why::sentence>("sentence", "", "the answer in words"),
      Field<&Why::causes>("causes", "", "what the difference is made of, the largest first"),
      Field<&Why::notes>("notes", "", "what makes the comparison doubtful", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

documents::WhySide SideOf(const std::string& name, const StepLedger& ledger, int64_t step_ns) {
  return {name, step_ns, ledger.median_step_ns, ledger.steps, ledger.devices, ledger.device_name, ledger.clock_hz};
}

}  // namespace

constinit const TypeInfo kWhyDocument = describe::MakeType<documents::Why>();

std::string WhyJson(const WhyView& view) {
  const StepDifference& difference = view.difference;
  documents::Why document{.a = SideOf(view.a_name, view.a, difference.a_ns),
                          .b = SideOf(view.b_name, view.b, difference.b_ns),
                          .of_steps = difference.of_steps,
                          .difference_ns = difference.ns(),
                          .sentence = WhySentence(view),
                          .notes = WhyNotes(view)};
  if (difference.a_ns > 0)
    document.difference_share = static_cast<double>(difference.ns()) / static_cast<double>(difference.a_ns);
  for (const Cause& cause : difference.causes)
    document.causes.push_back({cause.kind, TitleOf(cause), cause.ns, &cause.rows});
  return DocumentOf("why", document);
}

}  // namespace gapless::internal
