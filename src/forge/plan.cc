// SPDX-License-Identifier: Apache-2.0
// Binds each operator's inputs to the names of the table, as long as the chain goes on, and then makes the graph.
#include "forge/plan.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/strings.h"

namespace gapless::internal {
namespace {

enum class SlotUse : uint8_t { kTensor, kPrevious, kNumber, kDefault };

struct Slot {
  std::string_view name{};
  SlotUse use = SlotUse::kTensor;
  Shape shape{};
  ElementType type = ElementType::kUnknown;
  std::optional<double> number{};
};

// An operator with its inputs by name. `why_not`: it cannot be bound; `is_cut`: it can, but not to what is before it.
struct BoundOperator {
  const ForgeOperator* of = nullptr;
  std::vector<Slot> slots{};
  Shape shape{};  // of its result
  ElementType type = ElementType::kUnknown;
  size_t reduced = 0;
  bool keeps = true;
  std::optional<PlanWindow> window{};
  std::string why_not{};
  bool is_cut = false;
};

bool Broadcast(const Shape& with, Shape& shape) {
  if (with.size() > shape.size()) shape.insert(shape.begin(), with.size() - shape.size(), 1);
  for (size_t i = 0; i < with.size(); ++i) {
    int64_t& size = shape[shape.size() - 1 - i];
    const int64_t other = with[with.size() - 1 - i];
    if (size == 1) size = other;
    if (other != 1 && other != size) return false;
  }
  return true;
}

std::optional<double> NumberIn(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ElementType Wider(ElementType a, ElementType b) {
  using enum ElementType;
  if (a == kUnknown || a == b) return b;
  if (b == kUnknown) return a;
  return a == kFp64 || b == kFp64 ? kFp64 : kFp32;
}

bool IsFloat(ElementType type) {
  using enum ElementType;
  return type == kFp64 || type == kFp32 || type == kFp16 || type == kBf16;
}

struct Carried {
  Shape shape{};
  ElementType type = ElementType::kUnknown;
};

class Binder {
 public:
  Binder(const RecordedOperator& recorded, const RecordedOperator* next, const Carried* carried)
      : recorded_(recorded), next_(next), carried_(carried) {}

  BoundOperator Bind() {
    const auto inputs = recorded_.inputs;
    bound_.of = FindForgeOperator(recorded_.name, inputs.size() > 1 ? inputs[1].value : "");
    if (recorded_.in_backward) return Refuse("a kernel of the forward pass brings its own gradient");
    if (bound_.of == nullptr) return Refuse(WhyNoForgeOperator(recorded_.name));
    if (inputs.empty()) return Refuse("has no recorded shapes (record_shapes=True records them)");
    if (bound_.of->name == "aten::div" && inputs.size() > 2) return Refuse("rounds its result");
    size_t position = 0;
    for (const std::string_view word : Split(bound_.of->inputs, ' ')) {
      BindWord(word, position < inputs.size() ? &inputs[position] : nullptr);
      if (!bound_.why_not.empty()) return bound_;
      ++position;
    }
    FindResult();
    return bound_;
  }

 private:
  BoundOperator Refuse(std::string_view why) {
    bound_.why_not = why;
    return bound_;
  }

  void BindWord(std::string_view word, const Input* input) {
    if (word == "-") return;
    if (word == "dims") return BindDimensions(input);
    if (word == "keep") return;
    if (word == "dim") return BindLast(input);
    if (word == "shape") return BindShape(input);
    if (bound_.of->kind == ForgeKind::kWindow && word != "a") return BindWindow(word, input);
    const size_t equals = word.find('=');
    const bool optional_tensor = equals != word.npos && word[equals - 1] == '?';
    const std::string_view name = word.substr(0, equals == word.npos ? equals : equals - (optional_tensor ? 1 : 0));
    const std::string_view fallback = equals == word.npos ? "" : word.substr(equals + 1);
    if (input != nullptr && input->is_tensor() && !IsPlainNumber(*input)) return BindTensor(name, *input);
    if (optional_tensor || (input == nullptr && fallback.empty())) {
      if (fallback.empty()) return static_cast<void>(Refuse("has fewer inputs than expected"));
      return bound_.slots.push_back({.name = name, .use = SlotUse::kDefault, .number = NumberIn(fallback)}), void();
    }
    std::optional<double> number = input != nullptr ? NumberIn(input->value) : std::nullopt;
    if (!number && !fallback.empty()) number = NumberIn(fallback);
    bound_.slots.push_back({.name = name, .use = SlotUse::kNumber, .number = number});
  }

  // A number of Python that PyTorch made a tensor of: of no dimensions, and not of the type of the others.
  bool IsPlainNumber(const Input& input) const {
    return input.shape.empty() && !recorded_.inputs.empty() && &input != &recorded_.inputs[0] &&
           input.type != recorded_.inputs[0].type && input.type != ElementType::kBool;
  }

  void BindTensor(std::string_view name, const Input& input) {
    const bool is_mask =
        (bound_.of->name == "aten::where" && name == "a") || (bound_.of->name == "aten::masked_fill" && name == "b");
    if (is_mask != (input.type == ElementType::kBool) || (!is_mask && !IsFloat(input.type)))
      return static_cast<void>(Refuse(StrCat("works on ", ToString(input.type), ", not on floating-point numbers")));
    Slot slot{.name = name, .shape = input.shape, .type = input.type};
    if (carried_ != nullptr && !found_previous_ && input.shape == carried_->shape && input.type == carried_->type)
      found_previous_ = true, slot.use = SlotUse::kPrevious;
    bound_.slots.push_back(std::move(slot));
  }

  void BindShape(const Input* input) {
    const auto sizes = input != nullptr ? ReadInts(input->value) : std::vector<int64_t>{};
    bound_.reduced = !sizes.empty() ? sizes.size() : 1;
    if (sizes.empty() && recorded_.inputs.size() > 2 && !recorded_.inputs[2].shape.empty())
      bound_.reduced = recorded_.inputs[2].shape.size();
  }

  void BindLast(const Input* input) {
    const auto dims = input != nullptr ? ReadInts(input->value) : std::vector<int64_t>{};
    const auto rank = static_cast<int64_t>(recorded_.inputs[0].shape.size());
    if (!dims.empty() && dims[0] != -1 && dims[0] != rank - 1)
      return static_cast<void>(Refuse("works along a dimension that is not the last one"));
    bound_.reduced = 1;
  }

  // A figure of a window: one for down and across, or two. Steps that were not given are the window's sizes.
  void BindWindow(std::string_view word, const Input* input) {
    PlanWindow& window = bound_.window ? *bound_.window : bound_.window.emplace();
    const std::string_view value = input != nullptr ? input->value : "";
    if (value.empty()) return static_cast<void>(Refuse("has a window whose sizes were not recorded"));
    if (word == "ceil") return static_cast<void>(window.ceil = value == "True" || value == "1");
    auto figures = ReadInts(value);
    if (word == "step" && value == "[]") figures = {window.size[0], window.size[1]};
    if (figures.size() == 1) figures.push_back(figures[0]);
    const int64_t least = word == "padding" ? 0 : 1;
    if (figures.size() != 2 || std::min(figures[0], figures[1]) < least ||
        std::max(figures[0], figures[1]) > PlanWindow::kMost)
      return static_cast<void>(Refuse("has a window that is not one of two dimensions"));
    auto& into = word == "window" ? window.size
                 : word == "step" ? window.step
                                  : (word == "padding" ? window.padding : window.dilation);
    into = {figures[0], figures[1]};
    if (window.size[0] * window.size[1] > PlanWindow::kMost)
      return static_cast<void>(Refuse("has a window of more than 255 elements"));
  }

  void BindDimensions(const Input* input) {
    const Shape& shape = recorded_.inputs[0].shape;
    if (recorded_.inputs.size() < 3) return static_cast<void>(Refuse("reduces the whole tensor to one number"));
    auto dims = input != nullptr ? ReadInts(input->value) : std::vector<int64_t>{};
    const auto rank = static_cast<int64_t>(shape.size());
    if (dims.empty()) return InferDimensions(shape);
    for (int64_t& dim : dims) dim += dim < 0 ? rank : 0;
    std::ranges::sort(dims);
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] != rank - static_cast<int64_t>(dims.size() - i))
        return static_cast<void>(Refuse("reduces dimensions that are not the last ones"));
    bound_.reduced = dims.size();
    bound_.keeps = recorded_.inputs[2].value == "True" || recorded_.inputs[2].value == "1";
  }

  // If the values were not recorded, the next operator's inputs show them.
  void InferDimensions(const Shape& shape) {
    Shape kept = shape, dropped = shape;
    if (!shape.empty()) kept.back() = 1, dropped.pop_back();
    for (const Input& input : next_ != nullptr ? next_->inputs : std::span<const Input>()) {
      if (!input.is_tensor() || shape.empty() || (input.shape != kept && input.shape != dropped)) continue;
      bound_.reduced = 1, bound_.keeps = input.shape == kept;
      return;
    }
    Refuse("reduces dimensions that were not recorded");
  }

  void FindResult() {
    const ForgeOperator& of = *bound_.of;
    bound_.is_cut = carried_ != nullptr && !found_previous_;
    for (const Slot& slot : bound_.slots) {
      if (slot.type == ElementType::kUnknown) continue;
      if (!Broadcast(slot.shape, bound_.shape)) return static_cast<void>(Refuse("got shapes that do not fit"));
      if (!slot.shape.empty() && IsFloat(slot.type)) bound_.type = Wider(bound_.type, slot.type);
    }
    const Shape first = recorded_.inputs[of.kind == ForgeKind::kCast ? 1 : 0].shape;
    if (of.kind == ForgeKind::kNormalisation) bound_.type = recorded_.inputs[0].type;
    if (of.name.ends_with("softmax") && recorded_.inputs.size() > 2 && recorded_.inputs[2].value == "True")
      bound_.type = ElementType::kFp32;
    if (of.kind == ForgeKind::kCast) {
      bound_.type = recorded_.inputs[0].type;
      if (recorded_.inputs[0].shape != first || !IsFloat(bound_.type))
        return static_cast<void>(Refuse("copies into a tensor of another shape or kind"));
    }
    if (bound_.shape.empty() || bound_.type == ElementType::kUnknown)
      return static_cast<void>(Refuse("works on single numbers"));
    if (bound_.reduced > 0 && (bound_.reduced > first.size() || bound_.shape != first))
      return static_cast<void>(Refuse("got shapes that do not fit"));
    if (bound_.window && !WindowFits(*bound_.window, bound_.shape))
      return static_cast<void>(Refuse("has a window that does not fit its planes"));
  }

  static bool WindowFits(const PlanWindow& window, const Shape& shape) {
    if (shape.size() < 3) return false;
    const int64_t down = shape[shape.size() - 2], across = shape.back();
    return down * across > 1 && window.Results(0, down) > 0 && window.Results(1, across) > 0;
  }

  const RecordedOperator& recorded_;
  const RecordedOperator* next_;
  const Carried* carried_;
  bool found_previous_ = false;
  BoundOperator bound_{};
};

Shape ResultShape(const BoundOperator& bound) {
  Shape shape = bound.shape;
  if (bound.window)
    for (size_t i = 0; i < 2; ++i) {
      int64_t& size = shape[shape.size() - 2 + i];
      size = bound.window->Results(i, size);
    }
  if (bound.of->kind != ForgeKind::kReduction) return shape;
  for (size_t i = 0; i < bound.reduced; ++i)
    if (bound.keeps)
      shape[shape.size() - 1 - i] = 1;
    else
      shape.pop_back();
  return shape;
}

// Bound operators that one kernel can do, and the rows they share.
class PlanMaker {
 public:
  // False: the operator cannot go on here.
  bool Add(BoundOperator bound) {
    if (!Fits(bound)) return false;
    const bool reduces = bound.reduced > 0;
    if (reduces && reduced_ == 0) space_ = bound.shape, reduced_ = bound.reduced;
    if (reduced_ == 0) space_ = bound.shape;
    if (bound.window) window_ = bound.window, reduced_ = 2;
    if (bound.of->kind == ForgeKind::kReduction)
      keeps_ = bound.keeps, on_rows_ = true;
    else if (on_rows_ && bound.shape == space_)
      on_rows_ = false;
    for (const Slot& slot : bound.slots) TakeType(slot.type, types_);
    TakeType(bound.type, types_);
    carried_ = {ResultShape(bound), bound.type};
    bound_.push_back(std::move(bound));
    return true;
  }
  size_t size() const { return bound_.size(); }
  const Carried* carried() const { return bound_.empty() ? nullptr : &carried_; }

  KernelPlan Make() const {
    KernelPlan plan;
    plan.space = space_, plan.reduced = reduced_, plan.keeps = keeps_, plan.window = window_;
    bool on_rows = false;
    NodeId value = kNoNode;
    for (const BoundOperator& bound : bound_) {
      value = AddLink(bound, value, on_rows && bound.shape != space_, plan);
      on_rows = bound.of->kind == ForgeKind::kReduction || (on_rows && bound.shape != space_);
    }
    plan.result = value;
    plan.main = plan.inputs.empty() ? ElementType::kUnknown : plan.inputs[0].type;
    for (const PlanInput& input : plan.inputs)
      if (input.type == ElementType::kFp16 || input.type == ElementType::kBf16) plan.main = input.type;
    const ElementType result = plan.last().type;
    if (result == ElementType::kFp16 || result == ElementType::kBf16) plan.main = result;
    return plan;
  }

 private:
  static void TakeType(ElementType type, std::vector<ElementType>& types) {
    if (IsFloat(type) && std::ranges::find(types, type) == types.end()) types.push_back(type);
  }

  bool Fits(const BoundOperator& bound) const {
    std::vector<ElementType> types = types_;
    for (const Slot& slot : bound.slots) TakeType(slot.type, types);
    TakeType(bound.type, types);
    const bool has_wide = std::ranges::find(types, ElementType::kFp32) != types.end();
    if (types.size() > 2 || (types.size() == 2 && !has_wide) ||
        (types.size() == 2 && std::ranges::find(types, ElementType::kFp64) != types.end()))
      return false;
    if (bound_.empty()) return true;
    if (window_) return false;
    if (bound.window) return reduced_ == 0 && bound.shape == space_;
    if (reduced_ == 0) return bound.reduced == 0 || bound.shape.size() >= space_.size();
    if (bound.reduced > 0) return bound.reduced == reduced_ && bound.shape == space_;
    if (!on_rows_) return bound.shape == space_;
    return keeps_ ? bound.shape == space_ || bound.shape == carried_.shape : bound.shape == carried_.shape;
  }

  // Adds an operator's inputs and arithmetic. `on_rows`: its values are one a row.
  NodeId AddLink(const BoundOperator& bound, NodeId previous, bool on_rows, KernelPlan& plan) const {
    Graph2D::Names names;
    std::map<std::string, std::string, std::less<>> words;
    const std::string number = StrCat(plan.links.size());
    for (const Slot& slot : bound.slots) {
      const std::string key(slot.name);
      if (slot.use == SlotUse::kPrevious) {
        names[key] = previous, words[key] = StrCat("v", plan.links.size() - 1);
      } else if (slot.use == SlotUse::kTensor) {
        names[key] = AddInput(slot, on_rows, plan), words[key] = plan.inputs.back().name;
      } else if (slot.use == SlotUse::kDefault) {
        names[key] = plan.graph.Constant(slot.number.value_or(0)), words[key] = "None";
      } else {
        AddNumber(bound, slot, number, names, words, plan);
      }
    }
    words["dims"] = bound.reduced == 1 ? "-1" : StrCat("tuple(range(-", bound.reduced, ", 0))");
    words["keep"] = bound.keeps ? "True" : "False";
    words["type"] = StrCat("\"", ToString(bound.type), "\"");
    words["shape"] = StrCat("tuple(", words["a"], ".shape[-", bound.reduced, ":])");
    if (bound.window) AddWindowWords(*bound.window, words);
    std::string name(
        bound.of->name.substr(0, bound.of->name.rfind(':') > 5 ? bound.of->name.rfind(':') : bound.of->name.npos));
    plan.links.push_back({std::move(name), Filled(bound.of->python, words), ResultShape(bound), bound.type});
    const auto node = plan.graph.Read(bound.of->arithmetic, names);
    return node ? *node : kNoNode;
  }

  static void AddWindowWords(const PlanWindow& window, std::map<std::string, std::string, std::less<>>& words) {
    const auto pair = [](const std::array<int64_t, 2>& of) { return StrCat("(", of[0], ", ", of[1], ")"); };
    words["window"] = pair(window.size), words["step"] = pair(window.step);
    words["padding"] = pair(window.padding), words["dilation"] = pair(window.dilation);
    words["ceil"] = window.ceil ? "True" : "False";
  }

  // Whole exponents and factors of 1 belong to the arithmetic; other numbers are arguments.
  static void AddNumber(const BoundOperator& bound, const Slot& slot, const std::string& number, Graph2D::Names& names,
                        std::map<std::string, std::string, std::less<>>& words, KernelPlan& plan) {
    const std::string key(slot.name);
    const bool is_fixed = slot.number && ((bound.of->name == "aten::pow" && key == "b") ||
                                          (*slot.number == 1 && (key == "alpha" || key == "value")));
    if (is_fixed) {
      names[key] = plan.graph.Constant(*slot.number), words[key] = StrCat(*slot.number);
      return;
    }
    names[key] = plan.graph.Scalar(plan.scalars.size());
    words[key] = key.size() == 1 ? StrCat("number", number) : StrCat(key, number);
    plan.scalars.push_back({words[key], slot.number});
  }

  NodeId AddInput(const Slot& slot, bool on_rows, KernelPlan& plan) const {
    PlanInput input{.name = StrCat("x", plan.inputs.size()), .shape = slot.shape, .type = slot.type};
    if (on_rows && !keeps_) input.missing = reduced_;
    const size_t held = reduced_ > input.missing ? reduced_ - input.missing : 0;
    bool is_row = reduced_ > 0;
    for (size_t i = 0; i < std::min(held, slot.shape.size()); ++i)
      is_row = is_row && slot.shape[slot.shape.size() - 1 - i] == 1;
    if (is_row && (on_rows || slot.shape != space_)) input.level = NodeLevel::kRow;
    plan.inputs.push_back(input);
    return plan.graph.Input(plan.inputs.size() - 1, input.level);
  }

  static std::string Filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& words) {
    std::string filled;
    for (size_t at = 0; at < text.size(); ++at) {
      const size_t end = text[at] == '{' ? text.find('}', at) : text.npos;
      const auto word = end != text.npos ? words.find(text.substr(at + 1, end - at - 1)) : words.end();
      if (word == words.end()) {
        filled += text[at];
        continue;
      }
      filled += word->second, at = end;
    }
    return filled;
  }

  std::vector<BoundOperator> bound_{};
  std::vector<ElementType> types_{};
  Carried carried_{};
  Shape space_{};
  size_t reduced_ = 0;
  bool keeps_ = true, on_rows_ = false;
  std::optional<PlanWindow> window_{};  // of the last operator, which pools; then the plan is full
};

}  // namespace

int64_t PlanWindow::Results(size_t dimension, int64_t elements) const {
  const int64_t room = elements + 2 * padding[dimension] - dilation[dimension] * (size[dimension] - 1) - 1;
  if (room < 0) return 0;
  const int64_t every = step[dimension], count = (room + (ceil ? every - 1 : 0)) / every + 1;
  const bool begins_outside = ceil && (count - 1) * every >= elements + padding[dimension];
  return begins_outside ? count - 1 : count;
}

int64_t KernelPlan::bytes() const {
  int64_t sum = Elements(last().shape) * BytesOf(last().type);
  for (const PlanInput& input : inputs) sum += Elements(input.shape) * BytesOf(input.type);
  return sum;
}

std::string KernelPlan::Pattern() const {
  std::vector<std::string> names;
  for (const PlanLink& link : links) names.push_back(link.name);
  return Join(names, " > ");
}

std::string KernelPlan::Signature() const {
  std::string text = StrCat(reduced, keeps ? "k" : "d");
  for (const PlanLink& link : links) text += StrCat("|", link.python, ":", ToString(link.type));
  for (const PlanInput& input : inputs)
    text += StrCat("|", ToString(input.type), static_cast<int>(input.level), input.missing);
  return text;
}

std::vector<PlanPart> PlanChain(std::span<const RecordedOperator> chain) {
  std::vector<PlanPart> parts;
  PlanMaker maker;
  size_t first = 0;
  const auto end = [&] {
    if (maker.size() == 0) return;
    PlanPart part{.first = first, .count = maker.size()};
    if (maker.size() > 1) part.plan = maker.Make();
    parts.push_back(std::move(part));
    maker = PlanMaker();
  };
  for (size_t i = 0; i < chain.size(); ++i) {
    const RecordedOperator* next = i + 1 < chain.size() ? &chain[i + 1] : nullptr;
    BoundOperator bound = Binder(chain[i], next, maker.carried()).Bind();
    if (!bound.why_not.empty()) {
      end();
      parts.push_back({.first = i, .count = 1, .plan = {}, .why_not = bound.why_not});
      continue;
    }
    if (!bound.is_cut && maker.Add(bound)) {
      if (maker.size() == 1) first = i;
      continue;
    }
    end();
    first = i;
    maker.Add(Binder(chain[i], next, nullptr).Bind());
  }
  end();
  return parts;
}

}  // namespace gapless::internal
