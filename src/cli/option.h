// SPDX-License-Identifier: Apache-2.0
// An option of a verb is declared once: the member that holds it, how it is read, its limits and its help.
//
//   struct QueryArguments : ReadArguments {
//     std::optional<std::string> file{};
//     int64_t rows = 10;
//     std::vector<std::string> paths{};
//     static constexpr OptionList kOptions{
//         Text<&QueryArguments::file>("FILE", "Read the statement from FILE").Short('f'),
//         Number<&QueryArguments::rows>("N", "Print the first N rows (10)", 1),
//         kReadingOptions,  // of ReadArguments
//     };
//     static constexpr WordList kWords{Word<&QueryArguments::paths>("PATH", "a recording").Times(1, 1000)};
//   };
//
// The option is called as its member, with dashes: no_cache is --no-cache. A value of the wrong form is refused before
// the verb begins, and its body sees values of the right type alone. What was not given is as the member begins.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/members.h"
#include "base/result.h"

namespace gapless::internal {

struct Arguments;
using Names = std::vector<std::string_view> (*)();

// An option as parser, help, pages and completions see it. Names are never reused for another meaning: scripts rely on
// them.
struct OptionSpec {
  enum class Takes { kNothing, kValue, kOptionalValue };  // an optional value is given as --name=VALUE only
  std::string_view name = {};                             // without dashes
  char letter = 0;                                        // short form; 0: none
  Takes takes = Takes::kNothing;
  std::string_view value = {};  // what the value is called in help: "FILE", "LIST"
  std::string_view help = {};   // one line, imperative or what it does, no period; "": hidden, for developers
  Names choices = nullptr;      // values there are; null: any
  bool is_list = false;         // items separated by commas; each is one of the choices
  int64_t least = 0, most = 0;  // of a whole number; a larger one is cut to `most`
  std::string_view unit = {};   // may follow a number
  // Reads a text into the member; "-" stands for an optional value that was not given.
  Result<void> (*take)(const OptionSpec& option, std::string_view text, Arguments& arguments) = nullptr;
};

// Words without dashes, `min` to `max` of them: as many as there are, but for those that the descriptions after it
// need.
struct WordSpec {
  std::string_view name = {};  // "PATH"
  std::string_view help = {};
  size_t min = 1, max = 1;
  bool is_path = false;  // the shell completes file names
  Names choices = nullptr;
  Result<void> (*take)(const WordSpec& word, std::string_view text, Arguments& arguments) = nullptr;
  bool (*is_needless)(const Arguments& arguments) = nullptr;  // because of an option
};

namespace option {

template <class T>
T ValueOf(const T*);
template <class T>
T ValueOf(const std::vector<T>*);
template <class T>
T ValueOf(const std::optional<T>*);
template <class A, class T>
T TypeOf(T A::*);
template <auto Member>
using Type = decltype(TypeOf(Member));
template <auto Member>  // of one value: what a vector or an optional holds
using Value = decltype(ValueOf(static_cast<const Type<Member>*>(nullptr)));

template <class T>
inline constexpr bool kIsMany = false;
template <class T>
inline constexpr bool kIsMany<std::vector<T>> = true;

template <class T>
bool IsGiven(const T& value) {
  if constexpr (requires { value.empty(); })
    return !value.empty();
  else
    return static_cast<bool>(value);
}

template <auto Member>
inline constexpr auto kDashed = [] {
  constexpr std::string_view kName = NameOfMember<Member>();
  std::array<char, kName.size()> dashed{};
  std::ranges::transform(kName, dashed.begin(), [](char c) { return c == '_' ? '-' : c; });
  return dashed;
}();
template <auto Member>
consteval std::string_view NameOf() {
  return {kDashed<Member>.data(), kDashed<Member>.size()};
}

// Adds to a list, or replaces the value that was given before.
template <class T, class V>
Result<void> Put(T& member, Result<V> value) {
  if (!value) return Unexpected{std::move(value.error())};
  if constexpr (std::is_same_v<T, V> && kIsMany<T>)
    member.insert(member.end(), value->begin(), value->end());
  else if constexpr (kIsMany<T>)
    member.push_back(*std::move(value));
  else
    member = *std::move(value);
  return {};
}

// Ways to read a value. Errors name the option and show the text.
Result<bool> ReadFlag(const OptionSpec& option, std::string_view text);
Result<std::string> ReadText(const OptionSpec& option, std::string_view text);
Result<std::vector<std::string>> ReadItems(const OptionSpec& option, std::string_view text);
Result<int64_t> ReadWhole(const OptionSpec& option, std::string_view text);
Result<double> ReadPositive(const OptionSpec& option, std::string_view text);
template <class T>
Result<T> ReadNumber(const OptionSpec& option, std::string_view text) {
  GAPLESS_ASSIGN(const auto number, ReadWhole(option, text));
  return static_cast<T>(number);
}
// The parser has checked that the text is one of the choices.
template <class From, class V>
Result<V> ReadChoice(const OptionSpec& option, std::string_view text) {
  return option.takes == OptionSpec::Takes::kOptionalValue && text == "-" ? V{} : From::Named(text);
}
template <class From, class V>
Result<std::vector<V>> ReadChoices(const OptionSpec& option, std::string_view text) {
  GAPLESS_ASSIGN(const auto items, ReadItems(option, text));
  std::vector<V> values;
  for (const std::string& item : items) values.push_back(From::Named(item));
  return values;
}

template <class Spec>
struct OneSpec {
  Spec spec;
  static constexpr size_t kSize = 1;
  consteval auto CopyTo(auto at) const {
    *at = spec;
    return at + 1;
  }
};

// A declared option.
template <auto Member, auto Read>
struct Line : OneSpec<OptionSpec> {
  consteval Line Short(char letter) {
    this->spec.letter = letter;
    return *this;
  }
  consteval Line Optional() {  // the value may be left out
    this->spec.takes = OptionSpec::Takes::kOptionalValue;
    return *this;
  }
  consteval Line Of(Names choices) {
    this->spec.choices = choices;
    return *this;
  }

  template <class A>
  static Result<void> Take(const OptionSpec& option, std::string_view text, Arguments& arguments) {
    return Put(static_cast<A&>(arguments).*Member, Read(option, text));
  }
  template <class A>
  static consteval auto Bind(auto at) {
    at->take = Take<A>;
    return at + 1;
  }
};

// Declared words. The options `Instead` make them unnecessary.
template <auto Member, class From, auto... Instead>
struct WordLine : OneSpec<WordSpec> {
  consteval WordLine Times(size_t min, size_t max) {
    this->spec.min = min, this->spec.max = max;
    return *this;
  }
  consteval WordLine Optional() { return Times(0, 1); }
  consteval WordLine Path() {
    this->spec.is_path = true;
    return *this;
  }
  template <auto... Options>
  consteval WordLine<Member, From, Options...> Unless() const {
    return {{this->spec}};
  }

  template <class A>
  static Result<void> Take(const WordSpec&, std::string_view text, Arguments& arguments) {
    return Put(static_cast<A&>(arguments).*Member, Result<Value<Member>>(From::Named(text)));
  }
  template <class A>
  static bool IsNeedless(const Arguments& arguments) {
    return (... || IsGiven(static_cast<const A&>(arguments).*Instead));
  }
  template <class A>
  static consteval auto Bind(auto at) {
    at->take = Take<A>;
    at->is_needless = IsNeedless<A>;
    return at + 1;
  }
};

struct AnyText {
  static std::string Named(std::string_view text) { return std::string(text); }
};

}  // namespace option

// The values that the user may choose from. Words that only the command line has:
//   constexpr Choosable<Shell> kShells[] = {{"bash", Shell::kBash}, …};      OneOf<kShells>
template <class T>
struct Choosable {
  std::string_view name;
  T value;
};
template <const auto& Table>
struct OneOf {
  static std::vector<std::string_view> All() {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : Table) names.push_back(name);
    return names;
  }
  static auto Named(std::string_view name) {
    return std::ranges::find(Table, name, [](const auto& choosable) { return choosable.name; })->value;
  }
  static std::string_view NameOf(const auto& value) {
    return std::ranges::find(Table, value, [](const auto& choosable) { return choosable.value; })->name;
  }
};
// The enumerators from First to Last, with the words that NameOf or ToString gives them.
template <auto First, auto Last>
struct AnyOf {
  using E = decltype(First);
  static std::string_view NameOfValue(E value) {
    if constexpr (requires { NameOf(value); })
      return NameOf(value);
    else
      return ToString(value);
  }
  static std::vector<std::string_view> All() {
    std::vector<std::string_view> names;
    for (auto value = static_cast<int>(First); value <= static_cast<int>(Last); ++value)
      names.push_back(NameOfValue(static_cast<E>(value)));
    return names;
  }
  static E Named(std::string_view name) {
    const auto all = All();
    return static_cast<E>(static_cast<int>(First) + (std::ranges::find(all, name) - all.begin()));
  }
};
// The entries of a registry, such as AnyEntry<AllRules, &Rule::id>.
template <auto All_, auto NameMember>
struct AnyEntry {
  static std::vector<std::string_view> All() {
    std::vector<std::string_view> names;
    for (const auto* entry : All_()) names.push_back(entry->*NameMember);
    return names;
  }
  static auto Named(std::string_view name) {
    return *std::ranges::find(All_(), name, [](const auto* entry) { return entry->*NameMember; });
  }
};

// The kinds of options. `value` is what the value is called, `help` the line of the help.
template <auto Member>
consteval option::Line<Member, option::ReadFlag> Flag(std::string_view help) {
  return {{{.name = option::NameOf<Member>(), .help = help}}};
}
// Any value, with a reader of its own: Result<T> Read(const OptionSpec&, std::string_view text). In a vector values
// that are given one after the other are added.
template <auto Member, auto Read>
consteval option::Line<Member, Read> Parsed(std::string_view value, std::string_view help) {
  return {{{.name = option::NameOf<Member>(), .takes = OptionSpec::Takes::kValue, .value = value, .help = help}}};
}
template <auto Member>
consteval auto Text(std::string_view value, std::string_view help) {
  return Parsed<Member, option::ReadText>(value, help);
}
// Items between commas.
template <auto Member>
consteval auto List(std::string_view value, std::string_view help) {
  auto line = Parsed<Member, option::ReadItems>(value, help);
  line.spec.is_list = true;
  return line;
}
// A whole number of at least `least`; one above `most` is cut to it.
template <auto Member>
  requires std::integral<option::Value<Member>>
consteval auto Number(std::string_view value, std::string_view help, int64_t least,
                      int64_t most = std::numeric_limits<int64_t>::max()) {
  using N = option::Value<Member>;
  auto line = Parsed<Member, option::ReadNumber<N>>(value, help);
  line.spec.least = least;
  line.spec.most = std::in_range<N>(most) ? most : static_cast<int64_t>(std::numeric_limits<N>::max());
  return line;
}
// A number above 0, which may have its unit behind it.
template <auto Member>
consteval auto Positive(std::string_view value, std::string_view help, std::string_view unit = {}) {
  auto line = Parsed<Member, option::ReadPositive>(value, help);
  line.spec.unit = unit;
  return line;
}
// One of what OneOf, AnyOf or AnyEntry gives; in a vector any number of them, between commas.
template <auto Member, class From>
consteval auto Choice(std::string_view value, std::string_view help) {
  using V = option::Value<Member>;
  if constexpr (option::kIsMany<option::Type<Member>>) {
    auto line = Parsed<Member, option::ReadChoices<From, V>>(value, help).Of(From::All);
    line.spec.is_list = true;
    return line;
  } else {
    return Parsed<Member, option::ReadChoice<From, V>>(value, help).Of(From::All);
  }
}

// Returns the name of the first of these options that was given; "" if none was.
template <auto... Members, class A>
std::string_view FirstGiven(const A& arguments) {
  std::string_view name;
  (void)(... || (option::IsGiven(arguments.*Members) && (name = option::NameOf<Members>(), true)));
  return name;
}

// The kinds of words: any text, or one of what OneOf, AnyOf or AnyEntry gives.
template <auto Member>
consteval option::WordLine<Member, option::AnyText> Word(std::string_view name, std::string_view help) {
  return {{{.name = name, .help = help}}};
}
template <auto Member, class From>
consteval option::WordLine<Member, From> ChosenWord(std::string_view name, std::string_view help) {
  return {{{.name = name, .help = help, .choices = From::All}}};
}

namespace option {
template <class Spec, class... Lines>
struct DeclaredList {
  static constexpr size_t kSize = (size_t{0} + ... + Lines::kSize);
  std::array<Spec, kSize> specs{};

  consteval explicit DeclaredList(const Lines&... lines) {
    [[maybe_unused]] auto at = specs.begin();
    ((at = lines.CopyTo(at)), ...);
  }
  consteval auto CopyTo(auto at) const { return std::ranges::copy(specs, at).out; }
  template <class A>
  static consteval auto Bind(auto at) {
    ((at = Lines::template Bind<A>(at)), ...);
    return at;
  }
  // Returns what is declared, bound to the struct of a verb.
  template <class A>
  consteval std::array<Spec, kSize> For() const {
    std::array<Spec, kSize> bound = specs;
    Bind<A>(bound.begin());
    return bound;
  }
};
}  // namespace option

// The options of a verb in the order of its help; a line may be a list that verbs share.
template <class... Lines>
struct OptionList : option::DeclaredList<OptionSpec, Lines...> {
  consteval explicit OptionList(const Lines&... lines) : option::DeclaredList<OptionSpec, Lines...>(lines...) {}
};
// Its words in the order in which they are typed.
template <class... Lines>
struct WordList : option::DeclaredList<WordSpec, Lines...> {
  consteval explicit WordList(const Lines&... lines) : option::DeclaredList<WordSpec, Lines...>(lines...) {}
};

}  // namespace gapless::internal
