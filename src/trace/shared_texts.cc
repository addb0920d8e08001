// SPDX-License-Identifier: Apache-2.0
// Sets of texts, chosen by their hash. The elements of a set of this kind never move.
#include "trace/shared_texts.h"

namespace gapless::internal {

std::shared_ptr<SharedTexts> SharedTexts::Current() {
  static std::mutex mutex;
  static std::weak_ptr<SharedTexts> held;
  const std::lock_guard lock(mutex);
  auto current = held.lock();
  if (current == nullptr) held = current = std::make_shared<SharedTexts>();
  return current;
}

std::string_view SharedTexts::Keep(std::string_view text) {
  Part& part = parts_[Hash{}(text) % kParts];
  const std::lock_guard lock(part.mutex);
  const auto found = part.texts.find(text);
  return found != part.texts.end() ? *found : *part.texts.emplace(text).first;
}

}  // namespace gapless::internal
