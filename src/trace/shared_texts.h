// SPDX-License-Identifier: Apache-2.0
// Texts that many traces have in common, each once: names of kernels and operators are the same on all ranks of a job,
// and a thousand summaries of it would hold them a thousand times.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace gapless::internal {

// Whoever keeps a view keeps the pool, too. Safe from several threads.
class SharedTexts {
 public:
  // Returns the pool that some trace holds, or a new one.
  static std::shared_ptr<SharedTexts> Current();
  // Returns the same text in the pool; it stays there as long as the pool lives.
  std::string_view Keep(std::string_view text);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  // Several sets, so that threads rarely wait for each other.
  struct Part {
    std::mutex mutex{};
    std::unordered_set<std::string, Hash, std::equal_to<>> texts{};
  };
  static constexpr size_t kParts = 16;
  std::array<Part, kParts> parts_{};
};

}  // namespace gapless::internal
