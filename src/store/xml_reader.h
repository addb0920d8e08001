// SPDX-License-Identifier: Apache-2.0
// A strict reader of XML files that programs write, element by element. It refuses what such files do not need and what
// makes XML dangerous: document types, and with them entities of one's own; other encodings than UTF-8; elements that
// are more than 64 deep. Namespaces are not looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

class XmlReader {
 public:
  enum class Event : uint8_t { kOpen, kClose, kEnd };

  // The text outlives the reader.
  explicit XmlReader(std::string_view text) : all_(text), text_(text) {}

  // Returns the next beginning or end of an element; an element without content has both. At kEnd the one root element
  // was complete and nothing but comments followed it. The error of a text that is not well-formed names the line.
  Result<Event> Next();

  // Name and text of the element that Next() returned.
  std::string_view name() const { return name_; }
  // Returns an attribute of an element that begins, its references resolved; absent: there is none of that name.
  std::optional<std::string> Attribute(std::string_view name) const;
  // The number of elements that are open.
  size_t depth() const { return open_.size(); }

 private:
  Unexpected Fault(std::string_view what) const;
  Result<void> SkipPast(size_t opening, std::string_view end, std::string_view what);
  Result<void> SkipText();
  Result<bool> SkipMarkup();
  Result<Event> ReadOpen();
  Result<Event> ReadClose();
  Result<void> ReadAttribute();
  Result<std::string> Resolve(std::string_view value) const;
  std::string_view TakeName();
  void TakeBlank();

  std::string_view all_, text_;  // the whole, and what was not read yet
  std::string_view name_{};
  std::vector<std::pair<std::string_view, std::string>> attributes_{};
  std::vector<std::string_view> open_{};
  bool closes_ = false;  // the element that was opened last ends with its own tag
  bool had_root_ = false;
};

}  // namespace gapless::internal
