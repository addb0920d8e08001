// SPDX-License-Identifier: Apache-2.0
// Changes the times of edges, and parses the items of `gapless predict --what` and their values.
#include "predict/fix_model.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "base/suggest.h"
#include "predict/fix.h"

namespace gapless::internal {

void EdgeTimes::StartFrom(const EdgeTimes& other) {
  graph_ = other.graph_, before_ = other.before_, shared_ = other.shared_;
  is_changed_ = other.is_changed_;
  if (is_changed_) changed_ = other.changed_;
}

void EdgeTimes::Share() {
  if (is_changed_) shared_ = std::make_shared<const std::vector<int64_t>>(std::move(changed_));
  changed_.clear();
  is_changed_ = false;
}

void EdgeTimes::Change() {
  changed_ = *shared_;
  is_changed_ = true;
}

void EdgeTimes::LimitGaps(int64_t most_ns) {
  for (size_t i = 0; i < graph_->edges.size(); ++i)
    if (graph_->edges[i].kind == EdgeKind::kStream && ns()[i] > most_ns) Set(i, most_ns);
}

void EdgeTimes::DropStreamWaits(const std::vector<uint8_t>& ops) {
  std::vector<uint8_t> ends(graph_->size());
  for (size_t op = 0; op < ops.size() && op < graph_->op_end.size(); ++op)
    if (ops[op] != 0 && graph_->op_end[op] != kNoInstant) ends[graph_->op_end[op]] = 1;
  for (size_t i = 0; i < graph_->edges.size(); ++i) {
    const Instant from = graph_->from[i];
    if (graph_->edges[i].kind == EdgeKind::kWait && from != kNoInstant && ends[from] != 0) Set(i, kNever);
  }
}

void EdgeTimes::DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen) {
  DropWaits(kind, chosen, [](uint32_t) { return int64_t{0}; });
}

void EdgeTimes::DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen,
                          const std::function<int64_t(uint32_t owner)>& call_ns) {
  for (size_t i = 0; i < graph_->edges.size(); ++i) {
    const Edge& edge = graph_->edges[i];
    if (edge.kind != kind || !chosen(edge.owner)) continue;
    Set(i, kNever);
    // The call's own work is the edge before, into the same instant.
    if (i > 0 && graph_->edges[i - 1].kind == EdgeKind::kCall && graph_->edges[i - 1].owner == edge.owner)
      Set(i - 1, std::max(ns()[i - 1], call_ns(edge.owner)));
  }
}

void EdgeTimes::RemoveWhatShrank(const EdgeTimes& before) {
  for (size_t i = 0; i < graph_->edges.size(); ++i)
    if (const int64_t now_ns = ns()[i]; now_ns != kNever && now_ns > 0 && now_ns < before.ns()[i]) Set(i, 0);
}

namespace {

constexpr double kMaxFactor = 1000;

// Splits at commas that have no backslash before them.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',')
      words.back() += text[++i];
    else if (text[i] == ',')
      words.emplace_back();
    else
      words.back() += text[i];
  }
  return words;
}

WhatIfItem ItemIn(const std::string& word) {
  WhatIfItem item;
  const size_t colon = word.find(':');
  const size_t equals = colon == word.npos ? word.find('=') : word.rfind('=');
  item.name = word.substr(0, std::min(colon, equals));
  if (equals != word.npos) item.value = word.substr(equals + 1);
  if (colon != word.npos && colon + 1 < std::min(equals, word.size()))
    item.selector = word.substr(colon + 1, std::min(equals, word.size()) - colon - 1);
  return item;
}

// Returns the error for an unknown name, with the nearest one as the hint.
Unexpected NoSuchItem(std::string_view name) {
  std::vector<std::string_view> names;
  if (FindFixWithTrial(name) != nullptr)
    return Fail(ErrorCode::kUsage, StrCat("the gain of ", name, " cannot be predicted"), "",
                StrCat("`gapless optimize --only ", name, " -- COMMAND` measures it"));
  for (const Fix* fix : FixesWithModel()) names.push_back(fix->name);
  const std::string_view nearest = Nearest(name, names);
  return Fail(ErrorCode::kUsage, StrCat("there is no what-if '", Printable(name), "'"), "",
              nearest.empty() ? "gapless predict --list" : StrCat("did you mean ", nearest, "?"));
}

// `fused_optimizer=fused` and `=foreach` are tried apart and predicted alike: both names mean the one prediction.
bool IsValueOfTrial(const Fix& fix, std::string_view value) {
  const ValueGrammar& grammar = fix.trial.grammar;
  return fix.has_trial() && !fix.trial.value.empty() && grammar.accepts != nullptr && grammar.accepts(value);
}

}  // namespace

std::string WhatIfItem::ToString() const {
  return StrCat(name, selector.empty() ? "" : ":", selector, value.empty() ? "" : "=", value);
}

Result<double> WhatIfItem::Factor() const {
  double factor = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
  if (error == std::errc() && end == value.data() + value.size() && factor >= 0 && factor <= kMaxFactor) return factor;
  return Fail(ErrorCode::kUsage, StrCat(name, " takes a factor on time from 0 to 1000, such as 0.5"),
              Printable(ToString()));
}

Result<std::optional<int64_t>> WhatIfItem::Count() const {
  if (value.empty()) return std::optional<int64_t>();
  int64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error == std::errc() && end == value.data() + value.size() && count >= 1) return std::optional(count);
  return Fail(ErrorCode::kUsage, StrCat(name, " takes a whole number from 1 on"), Printable(ToString()));
}

Result<std::vector<WhatIfItem>> ParseItems(std::string_view text) {
  std::vector<WhatIfItem> items;
  for (const std::string& word : WordsOf(text)) {
    WhatIfItem item = ItemIn(word);
    const Fix* fix = FindFixWithModel(item.name);
    if (fix == nullptr) return NoSuchItem(item.name);
    if (fix->model.value.empty() && !item.value.empty() && !IsValueOfTrial(*fix, item.value))
      return Fail(ErrorCode::kUsage, StrCat(item.name, " takes no value"), Printable(word));
    if (fix->model.needs_value() && item.value.empty())
      return Fail(ErrorCode::kUsage, StrCat(item.name, " needs a value: ", item.name, "=", fix->model.value),
                  Printable(word));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace gapless::internal
