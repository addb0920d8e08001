// SPDX-License-Identifier: Apache-2.0
// Takes the function's name from a kernel name, mangled or demangled, without its template arguments.
//
// This is not a demangler: it reads only the plain identifiers at the start of a mangled name, which is enough for
// the rules on names. Everything is in lower case here, so the digits that give lengths are the only structure
// left.
#include <cctype>

#include "ingest/names/kernel_class.h"
#include "ingest/names/text.h"

namespace gapless::internal {
namespace {

// Reads the identifiers of a mangled name ("_zn2at6native29vectorized_elementwise_kernelili4e…" → "at::native::
// vectorized_elementwise_kernel") up to its template arguments. Returns "" if the name is not of this form. A
// length that goes beyond the name ends the reading: recorders cut long names off.
std::string MangledHead(std::string_view lower) {
  size_t at = lower.starts_with("_zn") ? 3 : 2;
  std::string head;
  while (at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])) != 0) {
    size_t length = 0;
    for (; at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])) != 0 && length < lower.size(); ++at)
      length = 10 * length + static_cast<size_t>(lower[at] - '0');
    if (length == 0 || length > lower.size() - at) break;
    const std::string_view part = lower.substr(at, length);
    at += length;
    if (part.starts_with("_global__n_")) continue;  // a namespace without a name
    head += head.empty() ? "" : "::";
    head += part;
  }
  return head;
}

}  // namespace

std::string KernelHead(std::string_view lower) {
  if (lower.starts_with("_z"))
    if (std::string head = MangledHead(lower); !head.empty()) return head;
  // A condition on the template arguments may stand where others have "void".
  if (lower.starts_with("std::enable_if"))
    if (const size_t type = lower.find("::type "); type != lower.npos) lower.remove_prefix(type + 7);
  std::string head(lower);
  for (const std::string_view none : {"(anonymous namespace)", "<unnamed>"})
    for (size_t at; (at = head.find(none)) != std::string::npos;) head.erase(at, none.size());
  const size_t end = head.find_first_of("<(");
  if (end != std::string::npos && end > 0) head.resize(end);
  return head;
}

}  // namespace gapless::internal
