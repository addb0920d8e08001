// SPDX-License-Identifier: Apache-2.0
// Finds secrets by the forms that their issuers give them: prefixes of keys (sk-, hf_, ghp_, AKIA), bearer tokens,
// private keys in PEM, passwords in URLs, web hooks. Each form is one expression; some need a digit, because words
// could have the same letters.
#include "base/redact/shapes.h"

#include <algorithm>
#include <array>

#include "base/pattern.h"

namespace gapless::internal {
namespace {

// Each has its secret in the first group. What stands before a key is no part of a word.
constexpr std::string_view kKeys =
    R"((?:^|[^A-Za-z0-9_-]))"
    R"((sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,})"
    R"(|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16})"
    R"(|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|nvapi-[A-Za-z0-9_-]{30,})"
    R"(|gsk_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|dop_v1_[a-f0-9]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"
    R"(|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?))";
constexpr std::string_view kBearer = R"((?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,}))";
constexpr std::string_view kPem =
    R"((?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)))";
constexpr std::string_view kPassword = R"([A-Za-z][A-Za-z0-9+.-]*://[^\s/@:'"]*:([^\s/'"$][^\s/'"]*)@)";
constexpr std::string_view kUser = R"([A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_-]{16,})@)";
constexpr std::string_view kHook = R"(hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{8,}))";
constexpr std::string_view kLogin = R"(\bwandb\s+login\s+(?:--\S+\s+)*([A-Za-z0-9_-]{32,}))";

struct Shape {
  Pattern pattern;
  bool needs_digit;  // words could have the same letters
};

std::vector<Shape> MakeShapes() {
  std::vector<Shape> shapes;
  for (const auto& [expression, needs_digit] : {std::pair(kKeys, true),
                                                {kBearer, true},
                                                {kPem, false},
                                                {kPassword, false},
                                                {kUser, true},
                                                {kHook, false},
                                                {kLogin, true}})
    if (auto pattern = Pattern::Make(expression, "shapes of secrets"))
      shapes.push_back({std::move(*pattern), needs_digit});
  return shapes;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> SecretShapes(std::string_view text) {
  static const std::vector<Shape>& shapes = *new std::vector<Shape>(MakeShapes());
  std::vector<std::pair<size_t, size_t>> found;
  for (const Shape& shape : shapes)
    shape.pattern.ForEach(text, [&](std::string_view secret) {
      const auto digit = [](char c) { return c >= '0' && c <= '9'; };
      if (shape.needs_digit && std::ranges::none_of(secret, digit)) return;
      const size_t begin = static_cast<size_t>(secret.data() - text.data());
      found.emplace_back(begin, begin + secret.size());
    });
  return found;
}

}  // namespace gapless::internal
