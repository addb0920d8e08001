// SPDX-License-Identifier: Apache-2.0
// Pickles of Python as plain data: numbers, texts, lists, tuples and dictionaries.
//
// A pickle is a program for a small machine, and what makes pickles dangerous is that the program may import and call
// anything. This machine has no such instruction: a pickle with one is refused, and the error names it. What is left
// builds values in memory that is proportional to the bytes read, whatever they say.
//
// Large recordings are dictionaries of few kinds. `fold` sees each dictionary when it is complete and may take what it
// needs and leave a number in its place (Fold()); the memory of what was folded is given back. A million events of a
// snapshot are then a million numbers.
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

  // Reads one pickle, of any protocol up to 5. What stands behind it is not looked at. `fold` may be empty.
  static Result<Pickle> Read(ByteStream& stream, const Visit& fold, const std::atomic<bool>* cancel = nullptr,
                             std::span<const std::string_view> objects = {});  // "module.Class"
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

  // Replaces the items of a container by a number of at most 63 bits that is not negative, wherever it is referred to.
  void Fold(PickleValue container, int64_t number);
  // Returns that number; kAbsent: it was not folded.
  int64_t Folded(PickleValue value) const;

 private:
  friend class PickleMachine;
  using Values = std::vector<PickleValue>;
  struct Container {
    std::unique_ptr<Values> items{};
    int64_t folded = -1;
  };
  // Returns the items of a container, for more to be added.
  Values& ItemsOf(Container& container);

  std::vector<std::string_view> texts_{""};
  std::deque<std::string> held_;  // memory of the texts
  std::vector<Container> containers_;
  std::vector<std::unique_ptr<Values>> spare_;  // memory of what was folded, for the next containers
  PickleValue root_;
};

}  // namespace gapless::internal
