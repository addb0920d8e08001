// SPDX-License-Identifier: Apache-2.0
// Writes the Python files of a kernel: the Triton kernels, the module with gradients, its test, its benchmark and the
// page that says how to use it.
#include <algorithm>

#include "base/strings.h"
#include "forge/writer.h"

namespace gapless::internal {

// Generated from src/forge/templates.
extern const std::string_view kForge_window_forward_py, kForge_window_gradient_py;
extern const std::string_view kForge_triton_py, kForge_module_py, kForge_test_py, kForge_benchmark_py, kForge_readme_md;

namespace {

class TritonWriter {
 public:
  TritonWriter(const KernelPlan& plan, const KernelPass& pass) : plan_(plan), pass_(pass), schedule_(pass) {}

  // Does a program compute a row? Else a stretch of what is written, of any rows.
  bool ByRow() const { return plan_.window ? schedule_.passes > 0 : plan_.reduced > 0; }

  std::string Text() const {
    std::string text =
        StrCat("@triton.jit\ndef _", pass_.name == "Forward" ? "forward" : "backward", "(", Parameters(), "):\n");
    if (Pools()) return text + Windows() + "\n\n";
    if (ByRow())
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
    if (Pools()) names.emplace_back("chosen");
    names.insert(names.end(), {"rows", "cols"});
    if (plan_.window) names.insert(names.end(), {"height", "width", "down", "across"});
    for (size_t i = 0; i < pass_.inputs.size(); ++i)
      for (const std::string_view part : {"div", "mod", "row", "col"}) names.push_back(StrCat(part, i));
    for (size_t i = 0; i < plan_.scalars.size(); ++i) names.push_back(StrCat("s", i));
    for (size_t i = 0; i < pass_.outputs.size(); ++i) names.push_back(StrCat("WANT", i, ": tl.constexpr"));
    if (Pools()) names.emplace_back("WANT_CHOSEN: tl.constexpr");
    names.insert(names.end(), {"A: tl.constexpr", "BLOCK: tl.constexpr"});
    return Join(names, ", ");
  }

  bool Pools() const { return plan_.window && pass_.name == "Forward"; }

  TemplateKeys KeysFor(NodeId value) const {
    TemplateKeys keys = WindowKeys(plan_);
    constexpr int64_t kUnrolled = 25;  // longer loops are left to the compiler
    const int64_t size = plan_.window->size[0] * plan_.window->size[1];
    keys.emplace_back("LOOP", StrCat(size <= kUnrolled ? "tl.static_range(" : "range(", size, ")"));
    keys.emplace_back("VALUE", NameOf(value));
    return keys;
  }

  // A program goes through the windows of a stretch of results, all at once.
  std::string Windows() const {
    std::string of_row, of_element;
    for (size_t i = 0; i < pass_.graph.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const std::string line = schedule_.needed[i] != 0 ? Line(id) : "";
      if (pass_.graph[id].level != NodeLevel::kElement)
        of_row += line;
      else if (!line.empty())
        of_element += StrCat("    ", line);
    }
    TemplateKeys keys = KeysFor(plan_.result);
    keys.emplace_back("OF_ROW", of_row), keys.emplace_back("OF_ELEMENT", of_element);
    return WithKeys(kForge_window_forward_py, keys);
  }

  // The gradient of a pooled element: the sum over the windows that chose it, always in the same order.
  std::string Gathered(NodeId id) const {
    TemplateKeys keys = KeysFor(id);
    keys.emplace_back("GRADIENT", StrCat(plan_.inputs.size()));
    keys.emplace_back("CHOSEN", StrCat(plan_.inputs.size() + 1));
    return WithKeys(kForge_window_gradient_py, keys);
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
      case NodeKind::kInput:
        if (plan_.window && node.index == plan_.inputs.size()) return Gathered(id);
        value = Load(node);
        break;
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

  std::string Load(const Node& node) const {
    const size_t i = node.index;
    const std::string row = StrCat("((r // div", i, ") % mod", i, ") * row", i);
    const std::string mask = ByRow() ? "" : Pools() ? ", mask=within, other=0" : ", mask=live, other=0";
    if (node.level == NodeLevel::kRow) return StrCat("tl.load(in", i, " + ", row, mask, ").to(A)");
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

// Does a program of Triton compute a row, in this direction?
std::string RowsText(const KernelPlan& plan, const KernelPass& pass) {
  return TritonWriter(plan, pass).ByRow() ? "True" : "False";
}

std::string PairText(const std::array<int64_t, 2>& pair) { return StrCat("(", pair[0], ", ", pair[1], ")"); }

TemplateKeys ModuleKeys(const KernelPlan& plan, const KernelAbout& about) {
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
  TemplateKeys keys = WindowKeys(plan);
  const PlanWindow window = plan.window.value_or(PlanWindow{});
  keys.insert(keys.end(), {{"NAME", about.name},
                           {"PATTERN", plan.Pattern()},
                           {"WINDOW_SIZE", PairText(window.size)},
                           {"WINDOW_STEP", PairText(window.step)},
                           {"WINDOW_PADDING", PairText(window.padding)},
                           {"WINDOW_DILATION", PairText(window.dilation)},
                           {"WINDOW_CEIL", window.ceil ? "True" : "False"},
                           {"WHERE", about.source_line.empty() ? "" : StrCat("\n# ", about.source_line)},
                           {"REDUCED", StrCat(plan.reduced)},
                           {"FORWARD_BY_ROW", RowsText(plan, ForwardOf(plan))},
                           {"BACKWARD_BY_ROW", RowsText(plan, BackwardOf(plan))},
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
                           {"INPUT_NAMES", Join(names, ", ")}});
  return keys;
}

// Leaves out the lines of a template that do not belong: one that begins with @?KEY@ belongs where the key has a text,
// with @!KEY@ where it has none.
std::string LinesFor(std::string_view text, const TemplateKeys& keys) {
  std::string out;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t end = line.starts_with("@?") || line.starts_with("@!") ? line.find('@', 1) : line.npos;
    if (end == line.npos) {
      out += StrCat(line, "\n");
      continue;
    }
    const auto found = std::ranges::find(keys, line.substr(2, end - 2), &TemplateKeys::value_type::first);
    const bool has_text = found != keys.end() && !found->second.empty();
    if (has_text == (line[1] == '?')) out += StrCat(line.substr(end + 1), "\n");
  }
  out.pop_back();  // what follows the last line break is no line
  return out;
}

}  // namespace

std::string_view StorageOf(ElementType type, ElementType main) {
  if (type == ElementType::kBool) return "bool";
  return type == main ? "T" : "W";
}

TemplateKeys WindowKeys(const KernelPlan& plan) {
  const PlanWindow window = plan.window.value_or(PlanWindow{});
  TemplateKeys keys{{"WINDOW", plan.window ? "yes" : ""},
                    {"PLANE_PARAMETER", plan.window ? ", at::IntArrayRef plane" : ""},
                    {"PLANE_LIST", plan.window ? ", plane: list[int]" : ""},
                    {"PLANE", plan.window ? ", plane" : ""},
                    {"PLANE_GIVEN", plan.window ? "*plane, " : ""},
                    {"PLANE_SCHEMA", plan.window ? ", int[] plane" : ""}};
  constexpr std::string_view kSides[] = {"DOWN", "ACROSS"};
  for (size_t i = 0; i < 2; ++i) {
    keys.emplace_back(StrCat("SIZE_", kSides[i]), StrCat(window.size[i]));
    keys.emplace_back(StrCat("STEP_", kSides[i]), StrCat(window.step[i]));
    keys.emplace_back(StrCat("PADDING_", kSides[i]), StrCat(window.padding[i]));
    keys.emplace_back(StrCat("DILATION_", kSides[i]), StrCat(window.dilation[i]));
  }
  return keys;
}

std::string WithKeys(std::string_view whole, const TemplateKeys& keys) {
  const std::string text = LinesFor(whole, keys);
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = text[at] == '@' ? text.find('@', at + 1) : text.npos;
    const std::string_view word =
        end != text.npos ? std::string_view(text).substr(at + 1, end - at - 1) : std::string_view();
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
    if (part.ends_with("_with_indices")) part = part.substr(0, part.find("_with_indices"));
    if (name.size() + 1 + part.size() > kLongest) break;
    name += StrCat("_", part.substr(0, part.find(':')));
  }
  return name;
}

std::string TritonSource(const KernelPlan& plan, const KernelAbout& about) {
  const KernelPass forward = ForwardOf(plan), backward = BackwardOf(plan);
  TemplateKeys keys = ModuleKeys(plan, about);
  keys.emplace_back("KERNELS", TritonWriter(plan, forward).Text() + TritonWriter(plan, backward).Text());
  return WithKeys(kForge_triton_py, keys);
}

std::string ModuleSource(const KernelPlan& plan, const KernelAbout& about) {
  return WithKeys(kForge_module_py, ModuleKeys(plan, about));
}

namespace {

// Does the chain begin with the sum of a tensor and one number for each channel?
bool AddsBias(const KernelPlan& plan) {
  if (plan.links[0].name != "aten::add" || plan.inputs.size() < 2 || plan.inputs[1].shape.size() < 3) return false;
  const Shape& shape = plan.inputs[1].shape;
  return Elements(shape) == shape[shape.size() - 3] && plan.inputs[0].shape == plan.links[0].shape;
}

}  // namespace

std::vector<KernelFile> WriteKernel(const KernelPlan& plan, const KernelAbout& about) {
  TemplateKeys keys = ModuleKeys(plan, about);
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
  keys.emplace_back("AFTER", about.after.starts_with("aten::") ? about.after.substr(6) : about.after);
  keys.emplace_back("BIAS", !about.after.empty() && AddsBias(plan) ? plan.inputs[1].name : "");
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
