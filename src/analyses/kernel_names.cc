// SPDX-License-Identifier: Apache-2.0
// Strips kernel names down to comparable forms: without anonymous namespaces, casts, return types and parameters.
#include "analyses/kernel_names.h"

#include <algorithm>
#include <cctype>

namespace gapless::internal {
namespace {

// Takes out "(anonymous namespace)::" and "<unnamed>::", which stand for the same.
std::string WithoutAnonymous(std::string_view kernel) {
  std::string out(kernel);
  for (const std::string_view name : {"(anonymous namespace)::", "<unnamed>::", "_GLOBAL__N__"})
    for (size_t at = 0; (at = out.find(name, at)) != std::string::npos;) out.erase(at, name.size());
  return out;
}

// Returns the position of the last "(" outside of template arguments, or the end if there are no parameters.
size_t ParametersOf(std::string_view kernel) {
  int depth = 0;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == '<') ++depth;
    if (kernel[i] == '>' && i > 0 && kernel[i - 1] != '-') --depth;
    if (kernel[i] == '(' && depth <= 0 && i > 0) return i;
  }
  return kernel.size();
}

// Where the name begins, behind a return type: after the last space outside of brackets.
size_t NameOf(std::string_view kernel) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == '<' || kernel[i] == '(') ++depth;
    if (kernel[i] == '>' || kernel[i] == ')') --depth;
    if (kernel[i] == ' ' && depth <= 0) begin = i + 1;
  }
  return begin;
}

// Takes out a cast before a template argument: "(int)4", "(bool)1".
std::string WithoutCasts(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = text[i] == '(' && i > 0 && (text[i - 1] == '<' || text[i - 1] == ',');
    const size_t close = begins ? text.find(')', i) : std::string_view::npos;
    const bool is_cast = close != std::string_view::npos && close + 1 < text.size() &&
                         (std::isdigit(static_cast<unsigned char>(text[close + 1])) != 0 || text[close + 1] == '-') &&
                         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     text.begin() + static_cast<std::ptrdiff_t>(close),
                                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':'; });
    if (is_cast)
      i = close;
    else
      out += text[i];
  }
  return out;
}

}  // namespace

std::string PlainKernelName(std::string_view kernel) {
  const std::string text = WithoutAnonymous(kernel);
  std::string_view name = std::string_view(text).substr(0, ParametersOf(text));
  name = name.substr(NameOf(name));
  std::string out;
  for (const char c : name)
    if (c != ' ') out += c;
  return WithoutCasts(out);
}

std::string KernelFunction(std::string_view kernel) {
  std::string name = PlainKernelName(kernel);
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace gapless::internal
