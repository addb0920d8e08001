// SPDX-License-Identifier: Apache-2.0
// Compares the targets of statements by the part of the name that means the same wherever it comes from.
#include "optimize/patch/same_setting.h"

#include <algorithm>
#include <string_view>

namespace gapless::internal {
namespace {

constexpr size_t kMaxName = 200;  // bytes of a name with dots

// Returns "a.b.c" of an identifier or of attributes of one; empty for anything else.
std::string DottedName(const PythonSource& source, PythonNode node) {
  std::string name;
  for (; node.kind() == "attribute" && name.size() < kMaxName; node = node.Field("object"))
    name.insert(0, "." + std::string(source.TextOf(node.Field("attribute"))));
  if (node.kind() == "list_splat") node = node.Children().front();  // the grammar reads `*a.b` as the `b` of `*a`
  return node.kind() == "identifier" ? std::string(source.TextOf(node)) + name : "";
}

// A name that is long enough to mean the same wherever it comes from, `set_num_threads`, or the end of one.
std::string_view Telling(std::string_view target, bool is_call) {
  const size_t last = target.rfind('.');
  if (last == std::string_view::npos) return target;
  if (is_call) return target.substr(last + 1).find('_') == std::string_view::npos ? target : target.substr(last + 1);
  const size_t before = target.rfind('.', last - (last > 0));
  return before == std::string_view::npos || last == 0 ? target : target.substr(before + 1);
}

// A SettingFinder walks over a file and remembers the statement that it is in.
class SettingFinder {
 public:
  explicit SettingFinder(const PythonSource& source) : source_(source) {}

  std::vector<Setting> Run() && {
    source_.tree().Walk([&](const PythonNode& node) { return Visit(node); });
    return std::move(found_);
  }

 private:
  bool Visit(const PythonNode& node) {
    const std::string_view kind = node.kind();
    if (kind == "lambda") return false;
    if (MayNotRun(node)) unsure_until_ = std::max(unsure_until_, node.end());
    if (kind == "expression_statement") {
      statement_ = node;
      const auto children = node.Children();
      whole_ = children.size() == 1 ? children[0] : PythonNode();
      while (whole_.kind() == "parenthesized_expression") whole_ = whole_.Children().front();
    } else if (kind == "call") {
      Add(node.Field("function"), node, true, node == whole_);
    } else if (kind == "augmented_assignment") {
      AddTargets(node.Field("left"), false);
    } else if (kind == "assignment" && node.Field("right")) {
      const std::string_view value = node.Field("right").kind();
      AddTargets(node.Field("left"), node == whole_ && value != "assignment" && value != "augmented_assignment");
    }
    return true;
  }

  // Functions count as run, because scripts have a main(); methods do not.
  bool MayNotRun(const PythonNode& node) const {
    constexpr std::string_view kKinds[] = {"if_statement",    "for_statement",    "while_statement",    "except_clause",
                                           "match_statement", "class_definition", "except_group_clause"};
    if (std::ranges::find(kKinds, node.kind()) == std::end(kKinds)) return false;
    const PythonNode condition = node.Field("condition");
    return !condition || source_.TextOf(condition).find("__name__") == std::string_view::npos;
  }

  void Add(const PythonNode& name, const PythonNode& place, bool is_call, bool alone) {
    std::string target = DottedName(source_, name);
    if (target.empty()) return;
    found_.push_back({.target = std::move(target),
                      .is_call = is_call,
                      .place = place,
                      .may_not_run = place.begin() < unsure_until_});
    if (alone) found_.back().statement = statement_;
  }

  void AddTargets(const PythonNode& left, bool alone) {
    std::vector<PythonNode> open{left};
    while (!open.empty()) {
      const PythonNode target = open.back();
      open.pop_back();
      Add(target, target, false, alone && target == left);
      if (target.kind() == "pattern_list" || target.kind().ends_with("_pattern"))
        for (const PythonNode& part : target.Children()) open.push_back(part);
    }
  }

  const PythonSource& source_;
  PythonNode statement_{}, whole_{};
  size_t unsure_until_ = 0;  // what begins before may not run
  std::vector<Setting> found_;
};

bool SetTheSame(const Setting& a, const Setting& b) {
  return a.is_call == b.is_call && Telling(a.target, a.is_call) == Telling(b.target, b.is_call);
}

}  // namespace

std::vector<Setting> SettingsLike(const PythonSource& source, const std::string& line) {
  const auto wanted = PythonSource::Parse(line);
  if (!wanted || wanted->statements().size() != 1) return {};
  const auto settings = SettingFinder(*wanted).Run();
  const auto whole = std::ranges::find_if(settings, [](const Setting& setting) { return bool{setting.statement}; });
  if (whole == settings.end()) return {};
  auto found = SettingFinder(source).Run();
  std::erase_if(found, [&](const Setting& own) { return !SetTheSame(own, *whole); });
  return found;
}

}  // namespace gapless::internal
