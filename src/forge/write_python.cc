// SPDX-License-Identifier: Apache-2.0
// Writes the Python files of a kernel: the Triton kernels, the module with gradients, its test, its benchmark and the
// page that says how to use it.
#include <algorithm>

#include "base/strings.h"
#include "forge/writer.h"

namespace gapless::internal {

// Generated from src/forge/templates.
extern const std::string_view kForge_triton_py, kForge_module_py, kForge_test_py, kForge_benchmark_py, kForge_readme_md;

namespace {

class TritonWriter {
 public:
  TritonWriter(const KernelPlan& plan, const KernelPass& pass) : plan_(plan), pass_(pass), schedule_(pass) {}

  std::string Text() const {
    const bool by_row = plan_.reduced > 0;
    std::string text =
        StrCat("@triton.jit\ndef _", pass_.name == "Forward" ? "forward" : "backward", "(", Parameters(), "):\n");
    if (by_row)
      text +=
          "    r = tl.program_id(0).to(tl.int64)\n    c = tl.arange(0, BLOCK)\n    live = c < cols\n"
          "    at = r * cols + c\n";
    else
      text +=
          "    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n    live = at < rows * cols\n"
          "    r = at // cols\n    c = at % cols\n";
    for (size_t i = 0; i < pass_.graph.size(); ++i)
      if (schedule_.needed[i] != 0) text += Line(static_cast<NodeId>(i));
    for (size_t i = 0; i < pass_.outputs.size(); ++i) text += Store(i);
    return text + "\n\n";
  }

 private:
  std::string Parameters() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < pass_.inputs.size(); ++i) names.push_back(StrCat("in", i));
    for (size_t i = 0; i < pass_.outputs.size(); ++i) names.push_back(StrCat("out", i));
    names.insert(names.end(), {"rows", "cols"});
    for (size_t i = 0; i < pass_.inputs.size(); ++i)
      for (const std::string_view part : {"div", "mod", "row", "col"}) names.push_back(StrCat(part, i));
    for (size_t i = 0; i < plan_.scalars.size(); ++i) names.push_back(StrCat("s", i));
    for (size_t i = 0; i < pass_.outputs.size(); ++i) names.push_back(StrCat("WANT", i, ": tl.constexpr"));
    names.insert(names.end(), {"A: tl.constexpr", "BLOCK: tl.constexpr"});
    return Join(names, ", ");
  }

  std::string NameOf(NodeId id) const {
    const Node& node = pass_.graph[id];
    return node.kind == NodeKind::kConstant ? StrCat("(", node.value, ")") : StrCat("n", id);
  }

  std::string Line(NodeId id) const {
    const Node& node = pass_.graph[id];
    const auto name_of = [&](NodeId arg) { return NameOf(arg); };
    std::string value;
    switch (node.kind) {
      case NodeKind::kConstant: return "";
      case NodeKind::kInput: value = Load(node); break;
      case NodeKind::kScalar: value = StrCat("s", node.index); break;
      case NodeKind::kCols: value = "cols * 1.0"; break;
      case NodeKind::kCall: value = CallText(node.function->triton, node, name_of); break;
      case NodeKind::kSum: value = StrCat("tl.sum(tl.where(live, ", NameOf(node.args[0]), ", 0.0), 0)"); break;
      case NodeKind::kMax:
        value = StrCat("tl.max(tl.where(live, ", NameOf(node.args[0]), ", float(\"-inf\")), 0)");
        break;
    }
    return StrCat("    n", id, " = ", value, "\n");
  }

  static std::string Load(const Node& node) {
    const size_t i = node.index;
    const std::string row = StrCat("((r // div", i, ") % mod", i, ") * row", i);
    if (node.level == NodeLevel::kRow) return StrCat("tl.load(in", i, " + ", row, ").to(A)");
    return StrCat("tl.load(in", i, " + ", row, " + c * col", i, ", mask=live, other=0).to(A)");
  }

  std::string Store(size_t i) const {
    const auto& output = pass_.outputs[i];
    const std::string type = StrCat(".to(out", i, ".dtype.element_ty)");
    const std::string value = NameOf(output.node);
    if (output.level == NodeLevel::kElement)
      return StrCat("    if WANT", i, ":\n        tl.store(out", i, " + at, (tl.zeros([BLOCK], A) + ", value, ")", type,
                    ", mask=live)\n");
    return StrCat("    if WANT", i, ":\n        tl.store(out", i, " + r, (tl.sum(tl.zeros([1], A), 0) + ", value, ")",
                  type, ")\n");
  }

  const KernelPlan& plan_;
  const KernelPass& pass_;
  const KernelSchedule schedule_;
};

std::string ShapeText(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(StrCat(size));
  return StrCat("(", Join(sizes, ", "), sizes.size() == 1 ? ",)" : ")");
}

std::string TupleOf(const std::vector<std::string>& items) {
  return StrCat("(", Join(items, ", "), items.size() == 1 ? ",)" : ")");
}

std::string NumberText(double value) {
  const std::string text = StrCat(value);
  return text.find("inf") != text.npos || text.find("nan") != text.npos ? StrCat("float(\"", text, "\")") : text;
}

std::string_view TorchType(ElementType type) {
  switch (type) {
    case ElementType::kFp64: return "torch.float64";
    case ElementType::kFp16: return "torch.float16";
    case ElementType::kBf16: return "torch.bfloat16";
    case ElementType::kBool: return "torch.bool";
    default: return "torch.float32";
  }
}

// Tensors, and then the numbers by name; those that are not known have no default.
std::string Parameters(const KernelPlan& plan) {
  std::vector<std::string> all;
  for (const PlanInput& input : plan.inputs) all.push_back(StrCat(input.name, ": torch.Tensor"));
  if (!plan.scalars.empty()) all.emplace_back("*");
  for (const PlanScalar& scalar : plan.scalars)
    all.push_back(StrCat(scalar.name, ": float", scalar.value ? StrCat(" = ", NumberText(*scalar.value)) : ""));
  return Join(all, ", ");
}

std::string ReferenceBody(const KernelPlan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.links.size(); ++i)
    text += StrCat("    ", i + 1 == plan.links.size() ? "return " : StrCat("v", i, " = "), plan.links[i].python, "\n");
  return text;
}

using Keys = std::vector<std::pair<std::string, std::string>>;

Keys ModuleKeys(const KernelPlan& plan, const KernelAbout& about) {
  std::vector<std::string> by_row, missing, storage, gradient_of, shapes, types, scalars, scalar_names, names;
  for (const PlanInput& input : plan.inputs) {
    by_row.emplace_back(input.level == NodeLevel::kRow ? "True" : "False");
    missing.push_back(StrCat(input.missing));
    storage.push_back(StrCat("\"", StorageOf(input.type, plan.main), "\""));
    shapes.push_back(ShapeText(input.shape)), types.emplace_back(TorchType(input.type)), names.push_back(input.name);
  }
  storage.push_back(StrCat("\"", StorageOf(plan.last().type, plan.main), "\""));
  for (const auto& output : BackwardOf(plan).outputs) gradient_of.push_back(StrCat(output.of));
  for (const PlanScalar& scalar : plan.scalars) {
    scalars.push_back(StrCat("\"", scalar.name, "\": ", scalar.value ? NumberText(*scalar.value) : "None"));
    scalar_names.push_back(scalar.name);
  }
  return {{"NAME", about.name},
          {"PATTERN", plan.Pattern()},
          {"WHERE", about.source_line.empty() ? "" : StrCat("\n# ", about.source_line)},
          {"REDUCED", StrCat(plan.reduced)},
          {"BY_ROW", plan.reduced > 0 ? "True" : "False"},
          {"KEEPS", plan.keeps ? "True" : "False"},
          {"RESULT_BY_ROW", plan.result_level() == NodeLevel::kRow ? "True" : "False"},
          {"INPUT_BY_ROW", TupleOf(by_row)},
          {"MISSING", TupleOf(missing)},
          {"STORAGE", TupleOf(storage)},
          {"MAIN", std::string(TorchType(plan.main))},
          {"GRADIENT_OF", StrCat("[", Join(gradient_of, ", "), "]")},
          {"SHAPES", TupleOf(shapes)},
          {"TYPES", TupleOf(types)},
          {"SCALARS", StrCat("{", Join(scalars, ", "), "}")},
          {"PARAMETERS", Parameters(plan)},
          {"REFERENCE", ReferenceBody(plan)},
          {"SCALAR_NAMES", Join(scalar_names, ", ")},
          {"INPUT_NAMES", Join(names, ", ")}};
}

}  // namespace

std::string_view StorageOf(ElementType type, ElementType main) {
  if (type == ElementType::kBool) return "bool";
  return type == main ? "T" : "W";
}

std::string WithKeys(std::string_view text, const Keys& keys) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = text[at] == '@' ? text.find('@', at + 1) : text.npos;
    const std::string_view word = end != text.npos ? text.substr(at + 1, end - at - 1) : std::string_view();
    const auto found = std::ranges::find_if(keys, [&](const auto& key) { return key.first == word; });
    if (word.empty() || found == keys.end())
      out += text[at];
    else
      out += found->second, at = end;
  }
  return out;
}

std::string KernelNameOf(const KernelPlan& plan) {
  std::string name = "fused";
  constexpr size_t kLongest = 48;
  for (const PlanLink& link : plan.links) {
    std::string_view part = link.name;
    for (const std::string_view prefix : {"aten::", "_fused_", "native_", "_"})
      if (part.starts_with(prefix)) part.remove_prefix(prefix.size());
    while (part.ends_with('_')) part.remove_suffix(1);
    if (name.size() + 1 + part.size() > kLongest) break;
    name += StrCat("_", part.substr(0, part.find(':')));
  }
  return name;
}

std::string TritonSource(const KernelPlan& plan, const KernelAbout& about) {
  const KernelPass forward = ForwardOf(plan), backward = BackwardOf(plan);
  Keys keys = ModuleKeys(plan, about);
  keys.emplace_back("KERNELS", TritonWriter(plan, forward).Text() + TritonWriter(plan, backward).Text());
  return WithKeys(kForge_triton_py, keys);
}

std::string ModuleSource(const KernelPlan& plan, const KernelAbout& about) {
  return WithKeys(kForge_module_py, ModuleKeys(plan, about));
}

std::vector<KernelFile> WriteKernel(const KernelPlan& plan, const KernelAbout& about) {
  Keys keys = ModuleKeys(plan, about);
  std::vector<std::string> call;
  for (const PlanInput& input : plan.inputs) call.push_back(input.name);
  for (const PlanScalar& scalar : plan.scalars)
    if (!scalar.value) call.push_back(StrCat(scalar.name, "=…"));
  std::string eager;
  for (size_t i = 0; i < plan.links.size(); ++i)
    eager += StrCat("    ", i + 1 == plan.links.size() ? "y" : StrCat("v", i), " = ", plan.links[i].python, "\n");
  while (eager.ends_with('\n')) eager.pop_back();
  keys.emplace_back("CALL", Join(call, ", "));
  keys.emplace_back("EAGER", eager);
  keys.emplace_back("FOUND", about.recording.empty() ? "" : StrCat(" in ", about.recording));
  keys.emplace_back("PLACE", about.source_line.empty() ? "" : StrCat(" at ", about.source_line));
  return {{"README.md", WithKeys(kForge_readme_md, keys)},
          {about.name + ".py", ModuleSource(plan, about)},
          {about.name + ".h", ArithmeticHeader(plan, about)},
          {about.name + ".cpp", HostSource(plan, about)},
          {about.name + ".cu", CudaSource(plan, about)},
          {about.name + "_triton.py", TritonSource(plan, about)},
          {StrCat("test_", about.name, ".py"), WithKeys(kForge_test_py, keys)},
          {StrCat("benchmark_", about.name, ".py"), WithKeys(kForge_benchmark_py, keys)}};
}

}  // namespace gapless::internal
