// SPDX-License-Identifier: Apache-2.0
// Writes the arithmetic of a kernel once, as C++ that host compilers and nvcc both take, and the two loops around it.
#include "base/strings.h"
#include "forge/writer.h"

namespace gapless::internal {

// Generated from src/forge/templates.
extern const std::string_view kForge_arithmetic_h, kForge_window_h, kForge_host_cpp, kForge_device_cu;

namespace {

class PassWriter {
 public:
  PassWriter(const KernelPlan& plan, const KernelPass& pass) : plan_(plan), pass_(pass), schedule_(pass) {}

  std::string Text() const {
    return StrCat("// ", pass_.name == "Forward" ? "The result" : "The gradients of the inputs", ".\n",
                  "template <class T, class W, class A, class S, bool Dense>\nstruct ", pass_.name,
                  " {\n  static constexpr int kPasses = ", schedule_.passes,
                  ";\n  Arguments a;\n\n  struct Row {  // values that are one a row\n", Members(),
                  "  };\n  struct Sums {  // sums that a pass makes\n", SumMembers(), "  };\n\n", Columns(), Step(),
                  Begin(), Start(), Add(), Combine(), End(), Pools() ? WriteWindow() : Write(), "};\n\n");
  }

 private:
  static std::string Member(NodeId id) { return StrCat("n", id); }

  bool Pools() const { return plan_.window && pass_.name == "Forward"; }

  std::string NameOf(NodeId id) const {
    const Node& node = pass_.graph[id];
    if (node.kind == NodeKind::kConstant) return StrCat("A(", node.value, ")");
    return node.level == NodeLevel::kElement ? Member(id) : StrCat("row.", Member(id));
  }

  std::string Element(size_t input, bool in_row) const {
    const std::string_view type = StorageOf(pass_.inputs[input].type, plan_.main);
    if (plan_.window && input == plan_.inputs.size())
      return StrCat("gathered<A, ", type, ">(a, ", input, ", row.at", input, ", c)");
    return StrCat("A(tensor<", type, ">(a.in[", input, "])[row.at", input,
                  in_row ? "" : StrCat(" + step(", input, ", c)"), "])");
  }

  std::string ValueOf(NodeId id) const {
    const Node& node = pass_.graph[id];
    switch (node.kind) {
      case NodeKind::kInput: return Element(node.index, node.level != NodeLevel::kElement);
      case NodeKind::kScalar: return StrCat("A(a.scalar[", node.index, "])");
      case NodeKind::kCols: return "A(a.cols)";
      case NodeKind::kCall: return CallText(node.function->c, node, [&](NodeId arg) { return NameOf(arg); });
      default: return NameOf(id);
    }
  }

  std::string Members() const {
    std::string text;
    for (size_t i = 0; i < pass_.inputs.size(); ++i) text += StrCat("    int64_t at", i, ";\n");
    for (size_t pass = 0; pass <= schedule_.passes; ++pass)
      for (const NodeId id : schedule_.OfRow(pass)) text += StrCat("    A ", Member(id), ";\n");
    for (const NodeId id : schedule_.AllReduces()) text += StrCat("    A ", Member(id), ";\n");
    return text;
  }

  std::string SumMembers() const {
    std::string text;
    for (const NodeId id : schedule_.AllReduces())
      text += StrCat(pass_.graph[id].kind == NodeKind::kSum ? "    S " : "    A ", Member(id), ";\n");
    return text.empty() ? "    A none;\n" : text;
  }

  std::string Columns() const {
    return StrCat("  KERNEL_FUNCTION int64_t columns() const { return ",
                  Pools() ? "int64_t(a.results_down) * a.results_across" : "a.cols", "; }  // that a row writes\n");
  }

  static std::string Step() {
    return "  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; "
           "}\n\n";
  }

  std::string RowValues(size_t ready_at) const {
    std::string text;
    for (const NodeId id : schedule_.OfRow(ready_at)) text += StrCat("    row.", Member(id), " = ", ValueOf(id), ";\n");
    return text;
  }

  std::string Begin() const {
    std::string text = "  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {\n";
    for (size_t i = 0; i < pass_.inputs.size(); ++i)
      text += StrCat("    row.at", i, " = first_of(a.place[", i, "], r);\n");
    return text + RowValues(0) + "  }\n";
  }

  std::string Start() const {
    std::string text = "  KERNEL_FUNCTION static Sums nothing() {\n    Sums sums;\n";
    for (const NodeId id : schedule_.AllReduces())
      text += StrCat("    sums.", Member(id), pass_.graph[id].kind == NodeKind::kSum ? " = S(0)" : " = -A(INFINITY)",
                     ";\n");
    if (schedule_.AllReduces().empty()) text += "    sums.none = A(0);\n";
    return text + "    return sums;\n  }\n";
  }

  std::string Elements(size_t pass, std::string_view indent) const {
    std::string text;
    for (const NodeId id : schedule_.Elements(pass))
      text += StrCat(indent, "const A ", Member(id), " = ", ValueOf(id), ";\n");
    return text;
  }

  std::string Add() const {
    std::string text =
        "  template <int Pass>\n  KERNEL_FUNCTION void add(Sums& sums, const Row& row, int64_t c) const {\n";
    for (size_t pass = 0; pass < schedule_.passes; ++pass) {
      text += StrCat("    if constexpr (Pass == ", pass, ") {\n", Elements(pass, "      "));
      for (const NodeId id : schedule_.Reduces(pass)) {
        const std::string sum = StrCat("sums.", Member(id)), value = NameOf(pass_.graph[id].args[0]);
        text += pass_.graph[id].kind == NodeKind::kSum
                    ? StrCat("      ", sum, " += S(", value, ");\n")
                    : StrCat("      ", sum, " = ", value, " > ", sum, " ? ", value, " : ", sum, ";\n");
      }
      text += "    }\n";
    }
    return text + "    (void)sums, (void)row, (void)c;\n  }\n";
  }

  std::string Combine() const {
    std::string text = "  KERNEL_FUNCTION static void combine(Sums& sums, const Sums& other) {\n";
    for (const NodeId id : schedule_.AllReduces()) {
      const std::string sum = StrCat("sums.", Member(id)), other = StrCat("other.", Member(id));
      text += pass_.graph[id].kind == NodeKind::kSum
                  ? StrCat("    ", sum, " += ", other, ";\n")
                  : StrCat("    ", sum, " = ", other, " > ", sum, " ? ", other, " : ", sum, ";\n");
    }
    return text + "    (void)sums, (void)other;\n  }\n";
  }

  std::string End() const {
    std::string text = "  template <int Pass>\n  KERNEL_FUNCTION void end(Row& row, const Sums& sums) const {\n";
    for (size_t pass = 0; pass < schedule_.passes; ++pass) {
      text += StrCat("    if constexpr (Pass == ", pass, ") {\n");
      for (const NodeId id : schedule_.Reduces(pass))
        text += StrCat("      row.", Member(id), " = A(sums.", Member(id), ");\n");
      text += RowValues(pass + 1) + "    }\n";
    }
    return text + "    (void)row, (void)sums;\n  }\n";
  }

  std::string Write() const {
    std::string element = Elements(schedule_.passes, "    "), row;
    for (size_t i = 0; i < pass_.outputs.size(); ++i) {
      const auto& output = pass_.outputs[i];
      const std::string type(StorageOf(output.type, plan_.main));
      const bool by_element = output.level == NodeLevel::kElement;
      const std::string value = NameOf(output.node);
      if (!by_element)
        row += StrCat("    if (a.out[", i, "] != nullptr) result<", type, ">(a.out[", i, "])[r] = ", type, "(", value,
                      ");\n");
      if (!by_element) continue;
      const bool may_fold = pass_.name == "Backward";
      element += StrCat("    if (a.out[", i, "] != nullptr", may_fold ? StrCat(" && !a.folded[", i, "]") : "",
                        ") result<", type, ">(a.out[", i, "])[r * a.cols + c] = ", type, "(", value, ");\n");
      if (may_fold)
        element += StrCat("    if (a.folded[", i, "]) result<A>(a.out[", i, "])[part * a.cols + c] += ", value, ";\n");
    }
    return StrCat("  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {\n", element,
                  "    (void)row, (void)r, (void)c, (void)part;\n  }\n",
                  "  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {\n", row,
                  "    (void)row, (void)r;\n  }\n");
  }

  // The value of an element, and what is written for a window of them.
  std::string WriteWindow() const {
    const std::string_view type = StorageOf(plan_.last().type, plan_.main);
    return StrCat("  KERNEL_FUNCTION A value(const Row& row, int64_t c) const {\n", Elements(schedule_.passes, "    "),
                  "    (void)row, (void)c;\n    return ", NameOf(plan_.result), ";\n  }\n",
                  "  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t) const {\n"
                  "    int place = 0;\n    const A largest = pooled<A>(*this, row, int(c), place);\n"
                  "    result<",
                  type, ">(a.out[0])[r * columns() + c] = ", type,
                  "(largest);\n"
                  "    if (a.out[1] != nullptr) result<uint8_t>(a.out[1])[r * columns() + c] = uint8_t(place);\n  }\n",
                  "  KERNEL_FUNCTION void write_row(const Row&, int64_t) const {}\n");
  }

  const KernelPlan& plan_;
  const KernelPass& pass_;
  const KernelSchedule schedule_;
};

int64_t RowInputs(const KernelPass& pass) {
  int64_t bits = 0;
  for (size_t i = 0; i < pass.inputs.size(); ++i)
    if (pass.inputs[i].level == NodeLevel::kRow) bits |= int64_t{1} << i;
  return bits;
}

TemplateKeys KeysOf(const KernelPlan& plan, const KernelAbout& about) {
  const KernelPass backward = BackwardOf(plan);
  const size_t outputs = std::max<size_t>(plan.window ? 2 : 1, backward.outputs.size());
  TemplateKeys keys = WindowKeys(plan);
  keys.insert(keys.end(), {{"NAME", about.name},
                           {"PATTERN", plan.Pattern()},
                           {"INPUTS", StrCat(backward.inputs.size())},
                           {"OUTPUTS", StrCat(outputs)},
                           {"SCALARS", StrCat(std::max<size_t>(1, plan.scalars.size()))},
                           {"ROWS_FORWARD", StrCat(RowInputs(ForwardOf(plan)))},
                           {"ROWS_BACKWARD", StrCat(RowInputs(backward))}});
  return keys;
}

}  // namespace

std::string ArithmeticHeader(const KernelPlan& plan, const KernelAbout& about) {
  const KernelPass forward = ForwardOf(plan), backward = BackwardOf(plan);
  return StrCat(WithKeys(kForge_arithmetic_h, KeysOf(plan, about)),
                plan.window ? WithKeys(kForge_window_h, KeysOf(plan, about)) : "", PassWriter(plan, forward).Text(),
                PassWriter(plan, backward).Text(), "}  // namespace ", about.name, "_kernel\n");
}

std::string HostSource(const KernelPlan& plan, const KernelAbout& about) {
  return WithKeys(kForge_host_cpp, KeysOf(plan, about));
}
std::string CudaSource(const KernelPlan& plan, const KernelAbout& about) {
  return WithKeys(kForge_device_cu, KeysOf(plan, about));
}

}  // namespace gapless::internal
