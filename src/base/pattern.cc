// SPDX-License-Identifier: Apache-2.0
// Implements Pattern over RE2, whose time is linear in the text. An expression that would need more than
// kMaxMemoryBytes is refused.
#include "base/pattern.h"

#include <re2/re2.h>

#include <array>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMaxMemoryBytes = int64_t{8} << 20;  // memory of a compiled expression and its match cache
constexpr size_t kMaxExpressionBytes = 4096;           // length of an expression

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::unique_ptr<re2::RE2> expression) : expression_(std::move(expression)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::Make(std::string_view expression, std::string_view place, Anchors anchors) {
  const auto wrong = [&](std::string_view why) {
    return Fail(
        ErrorCode::kUsage, StrCat("this is no regular expression that gapless knows: ", why),
        StrCat(place, " ", Printable(expression.substr(0, 200))),
        "expressions are those of RE2: without look-around such as (?=…) and without back references such as \\1");
  };
  if (expression.size() > kMaxExpressionBytes) return wrong("it is too long");
  re2::RE2::Options options;
  options.set_max_mem(kMaxMemoryBytes);
  options.set_log_errors(false);
  const std::string text = anchors == Anchors::kLine ? StrCat("(?m)", expression) : std::string(expression);
  auto made = std::make_unique<re2::RE2>(PieceOf(text), options);
  if (!made->ok()) return wrong(Printable(made->error()));
  return Pattern(std::move(made));
}

bool Pattern::IsIn(std::string_view text) const {
  return expression_->Match(PieceOf(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

// After an empty match the search goes on one byte later; otherwise it would find the same match again.
void Pattern::ForEach(std::string_view text, const std::function<void(std::string_view)>& take) const {
  const int wanted = expression_->NumberOfCapturingGroups() > 0 ? 2 : 1;
  std::array<re2::StringPiece, 2> groups;
  for (size_t at = 0; at <= text.size();) {
    if (!expression_->Match(PieceOf(text), at, text.size(), re2::RE2::UNANCHORED, groups.data(), wanted)) return;
    const re2::StringPiece& all = groups[0];
    const re2::StringPiece& group = groups[static_cast<size_t>(wanted) - 1];
    if (group.data() != nullptr) take({group.data(), group.size()});
    at = static_cast<size_t>(all.data() - text.data()) + all.size();
    if (all.empty()) ++at;
  }
}

}  // namespace gapless::internal
