// SPDX-License-Identifier: Apache-2.0
// Pickles of Python as plain data: numbers, texts, lists, tuples and dictionaries.
//
// A pickle is a program for a small machine, and what makes pickles dangerous is that the program may import and call
// anything. This machine has no such instruction: a pickle with one is refused, and the error names it. What is left
// builds values in memory that is proportional to the bytes read, whatever they say.
//
// Large recordings are dictionaries of few kinds. `fold` sees each dictionary when it is complete and may take what it
// needs and leave a number in its place (Fold()); the memory of what was folded is given back. `take` sees each list
// when items came to it and may take them away (TakeFirst()). A million events of a snapshot are then no memory at all
// but what the reader makes of them.
//
// `objects` names classes whose instances are read as the dictionary of their fields, without the class: they hold
// plain data by definition. Importing stays impossible; the name is compared as text, and anything else is refused as
// before.
//
//   GAPLESS_ASSIGN(const Pickle pickle, Pickle::Read(*stream, {}));
//   for (const PickleValue& event : pickle.Items(pickle.Get(pickle.root(), "events"))) …
#pragma once

#include <atomic>
#include <bit>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/source.h"

namespace gapless::internal {

struct PickleValue {
  enum class Kind : uint8_t { kNone, kBool, kInt, kReal, kText, kList, kDict, kOther };  // a tuple or set is a kList
  Kind kind = Kind::kNone;
  uint32_t index = 0;   // place of the text or container
  int64_t integer = 0;  // the number, or the bits of a kReal
  double real() const { return std::bit_cast<double>(integer); }
};

class Pickle {
 public:
  using Visit = std::function<void(Pickle&, PickleValue)>;

  // Reads one pickle, of any protocol up to 5. What stands behind it is not looked at. `fold` and `take` may be empty.
  static Result<Pickle> Read(ByteStream& stream, const Visit& fold, const std::atomic<bool>* cancel = nullptr,
                             std::span<const std::string_view> objects = {},  // "module.Class"
                             const Visit& take = {});
  // Could this be a pickle's beginning? Of protocols 2 and later.
  static bool LooksLikeOne(std::string_view head);

  PickleValue root() const { return root_; }
  // The items of a list; keys and values of a dictionary, in turn; none of anything else, and of what was folded.
  std::span<const PickleValue> Items(PickleValue value) const;
  std::string_view Text(PickleValue value) const;  // "": not a text
  // The value of a key; kNone: there is none. Of equal keys the last counts, as in Python.
  PickleValue Get(PickleValue dictionary, std::string_view key) const;
  // The number at a key, or kAbsent: it is missing, or no whole number.
  int64_t IntAt(PickleValue dictionary, std::string_view key) const;
  std::string_view TextAt(PickleValue dictionary, std::string_view key) const { return Text(Get(dictionary, key)); }

  // Replaces the items of a container by a number of at most 62 bits that is not negative, wherever it is referred to.
  void Fold(PickleValue container, int64_t number);
  // Removes the first items of a list.
  void TakeFirst(PickleValue list, size_t count);
  // Returns that number; kAbsent: it was not folded.
  int64_t Folded(PickleValue value) const;

 private:
  friend class PickleMachine;
  using Values = std::vector<PickleValue>;
  // The items of a container, or the number that it was folded to, in one word: there are as many as events.
  class Container {
   public:
    Container() = default;
    Container(Container&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    Container& operator=(Container&& other) noexcept { return std::swap(word_, other.word_), *this; }
    ~Container() { delete items(); }
    Values* items() const { return is_folded() ? nullptr : std::bit_cast<Values*>(word_); }
    void Own(std::unique_ptr<Values> items) { delete this->items(), word_ = std::bit_cast<uintptr_t>(items.release()); }
    std::unique_ptr<Values> Release() {
      return std::unique_ptr<Values>(std::bit_cast<Values*>(std::exchange(word_, 0)));
    }
    bool is_folded() const { return (word_ & 1) != 0; }
    int64_t folded() const { return is_folded() ? static_cast<int64_t>(word_ >> 1) : -1; }
    void Fold(int64_t number) { word_ = static_cast<uintptr_t>(number) << 1 | 1; }

   private:
    static_assert(sizeof(uintptr_t) == sizeof(int64_t) && alignof(Values) > 1);
    uintptr_t word_ = 0;  // an address, or twice the number and one
  };
  // Returns the items of a container, for more to be added.
  Values& ItemsOf(Container& container);

  std::vector<std::string_view> texts_{""};
  std::deque<std::string> held_;  // memory of the texts
  std::vector<Container> containers_;
  std::vector<std::unique_ptr<Values>> spare_;  // memory of what was folded, for the next containers
  PickleValue root_;
  // Items of a dictionary that is complete, while they are still on the stack; its container is empty until then.
  uint32_t pending_ = kNothing;
  std::span<const PickleValue> pending_items_;
  static constexpr uint32_t kNothing = UINT32_MAX;
};

}  // namespace gapless::internal
