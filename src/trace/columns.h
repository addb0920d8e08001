// SPDX-License-Identifier: Apache-2.0
// A column of a table is declared once, in schema/<table>.h: a member, and a line that says what SQL shows of it.
//
//   template <template <class> class Of>
//   struct CounterColumns {
//     Of<StringId> name = kRequired<Of>;  // a reader that leaves it out does not compile
//     Of<int32_t> device = kUnset;        // absent, unless a reader gives it
//     Of<Derived<StepId>> step = kUnset;  // found from the other columns: readers do not give it
//     static constexpr AboutTable kAbout{"counter", "Values over time"};
//     static constexpr ColumnList kColumns{TraceKey(), ShownColumn<&CounterColumns::name>("", "what was counted"), …};
//   };
//
// Whatever holds the columns is made by what stands for `Of`: the row that readers fill (InRow), the rows of a shard
// (StoreFor), the finished table (TableFor). The cache file, the merging of shards and the tables of SQL walk the list.
// It has every member once, shown or hidden, or Visit() does not compile; its order is that of SQL: add at the end.
//
// Four ways were measured: one line of macro per column is shorter, but tools and people read structs better; a
// generated header costs a step of the build; lists of pointers without structs change all uses. Here `ops.dur_ns[row]`
// stays.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/members.h"
#include "gapless/column.h"
#include "trace/column.h"
#include "trace/ids.h"

namespace gapless::internal {

template <class T>
class GrowingColumn;

// Marks of a member.
template <class T>
struct Derived {};  // in the table alone
template <class T>
struct RowOnly {};      // given by readers, used while the trace is built
struct ThreadOfRow {};  // pid and tid of the row, as row of the thread table
struct YesOrNo {};      // 0 or 1; a bool in the row
struct MayLeaveOut {};  // no member, but a question: may a value of `Of` lack what is required?
struct NothingHere {};  // in place of what a row, store or table does not hold

template <class T>
struct HeldAs {
  using Row = T;
  using Store = GrowingColumn<T>;
  using Table = Column<T>;
  using Whole = T;
};
template <class T>
struct HeldAs<Derived<T>> {
  using Row = NothingHere;
  using Store = NothingHere;
  using Table = Column<T>;
  using Whole = T;
};
template <class T>
struct HeldAs<RowOnly<T>> {
  using Row = T;
  using Store = NothingHere;
  using Table = NothingHere;
  using Whole = T;
};
template <>
struct HeldAs<ThreadOfRow> {
  using Row = NothingHere;
  using Store = GrowingColumn<uint32_t>;  // the shard's own numbering
  using Table = Column<ThreadId>;
  using Whole = ThreadId;
};
template <>
struct HeldAs<YesOrNo> {
  using Row = bool;
  using Store = GrowingColumn<uint8_t>;
  using Table = Column<uint8_t>;
  using Whole = bool;
};
template <>
struct HeldAs<MayLeaveOut> {
  using Row = std::false_type;
  using Store = std::true_type;
  using Table = std::true_type;
  using Whole = std::false_type;
};

template <class T>
using InRow = typename HeldAs<T>::Row;
template <class T>
using InStore = typename HeldAs<T>::Store;
template <class T>
using InTable = typename HeldAs<T>::Table;
// A row with what is derived, too.
template <class T>
using InWhole = typename HeldAs<T>::Whole;
// Rows whose texts are not interned: their own, or someone else's.
template <class T>
using InOwnText = std::conditional_t<std::is_same_v<T, StringId>, std::string, InRow<T>>;
template <class T>
using InTextView = std::conditional_t<std::is_same_v<T, StringId>, std::string_view, InRow<T>>;
// A row that may lack everything, to be completed.
template <class T>
using InDraft = std::conditional_t<std::is_same_v<T, MayLeaveOut>, std::true_type, InRow<T>>;

template <class T>
inline constexpr bool kHoldsColumn = false;
template <class T>
inline constexpr bool kHoldsColumn<Column<T>> = true;
template <class T>
inline constexpr bool kHoldsColumn<GrowingColumn<T>> = true;

// Returns the value that means "absent" (ids.h). Texts, rows and enums are absent as they begin.
template <class T>
constexpr T Absent() {
  if constexpr (std::is_same_v<T, int64_t>)
    return kAbsent;
  else if constexpr (std::is_same_v<T, int32_t>)
    return kAbsent32;
  else if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return T{};
}

// The value that members begin with. A column begins empty, whatever its rows begin as.
struct UnsetType {
  template <class T>
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    return Absent<T>();
  }
};
inline constexpr UnsetType kUnset;

template <template <class> class Of>
struct RequiredType {
  template <class T>
    requires(Of<MayLeaveOut>::value)
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    return Absent<T>();
  }
};
template <template <class> class Of>
inline constexpr RequiredType<Of> kRequired;

template <class V>
struct BeginsAs {
  V value;
  template <class T>
  constexpr operator T() const {  // NOLINT(google-explicit-constructor)
    if constexpr (kHoldsColumn<T> || std::is_same_v<T, NothingHere>)
      return T();
    else
      return value;
  }
};
template <class V>
BeginsAs(V) -> BeginsAs<V>;

struct AboutTable {
  std::string_view name;  // in SQL
  std::string_view help;  // one line of at most 100 characters
};

// ShownAs says how SQL shows a column: its values; points in time, which it moves to run time; cells that
// query/tables/<table>.cc computes; NULL, as long as no reader knows them; or not at all.
enum class ShownAs : uint8_t { kHidden, kValue, kTime, kComputed, kUnfilled };

struct ColumnText {
  std::string_view name, unit, help;  // as ColumnSpec (table.h)
  ShownAs shown_as = ShownAs::kHidden;
  ColumnType type = ColumnType::kInt;  // of a column that no member stores
};

template <class T>
consteval ColumnType ColumnTypeOf() {
  if (std::is_enum_v<T> || std::is_convertible_v<T, std::string_view>) return ColumnType::kText;
  return std::is_floating_point_v<T> ? ColumnType::kReal : ColumnType::kInt;
}

// A line of the list: a member, or nullptr for what is stored nowhere.
template <auto Member>
struct ListedColumn {
  ColumnText text;
  // Shows the column under another name than the member's.
  consteval ListedColumn As(std::string_view name) const {
    ListedColumn renamed = *this;
    renamed.text.name = name;
    return renamed;
  }
};

template <auto Member>
consteval ListedColumn<Member> ShownColumn(std::string_view unit, std::string_view help) {
  return {{NameOfMember<Member>(), unit, help, ShownAs::kValue}};
}
template <auto Member>
consteval ListedColumn<Member> TimeColumn(std::string_view help) {
  return {{NameOfMember<Member>(), "ns", help, ShownAs::kTime}};
}
template <auto Member>
consteval ListedColumn<Member> HiddenColumn() {
  return {};
}
template <class T>
consteval ListedColumn<nullptr> ComputedColumn(std::string_view name, std::string_view unit, std::string_view help) {
  return {{name, unit, help, ShownAs::kComputed, ColumnTypeOf<T>()}};
}
template <class T>
consteval ListedColumn<nullptr> UnfilledColumn(std::string_view name, std::string_view unit, std::string_view help) {
  return {{name, unit, help, ShownAs::kUnfilled, ColumnTypeOf<T>()}};
}
// The columns that nearly every table begins with.
consteval ListedColumn<nullptr> RowKey() {
  return ComputedColumn<int64_t>("id", "", "unique over the run, the same each time it is opened");
}
consteval ListedColumn<nullptr> TraceKey() { return ComputedColumn<int64_t>("trace", "", "key of table trace"); }
consteval ListedColumn<nullptr> RankKey() {
  return ComputedColumn<int64_t>("rank", "", "rank of the process; NULL without a rank");
}

template <auto... Members>
struct ColumnList {
  std::array<ColumnText, sizeof...(Members)> text;
  consteval explicit ColumnList(ListedColumn<Members>... lines) : text{lines.text...} {}
};

// Returns true for a pointer to a member that is there.
template <auto Member>
inline constexpr bool kIsHeld = true;
template <>
inline constexpr bool kIsHeld<nullptr> = false;
template <class O, NothingHere O::*member>
inline constexpr bool kIsHeld<member> = false;

template <class T, auto... M>
consteval bool HasEachMemberOnce(const ColumnList<M...>&) {
  constexpr size_t kMembers = (size_t{0} + ... + (std::is_null_pointer_v<decltype(M)> ? 0 : 1));
  std::array<std::string_view, kMembers> names;
  size_t named = 0;
  (..., (std::is_null_pointer_v<decltype(M)> ? void() : void(names[named++] = NameOfMember<M>())));
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) return false;
  return HasMembers<T, kMembers>();
}

// Calls f(member of A, member of B) for each column that both hold, as pointers to members: A and B are a row, store or
// table of the same columns.
template <class A, class B, class F>
void VisitPairs(F&& f) {
  const auto visit = [&]<auto a, auto b>() {
    if constexpr (kIsHeld<a> && kIsHeld<b>) f(a, b);
  };
  [&]<auto... a, auto... b>(const ColumnList<a...>&, const ColumnList<b...>&) {
    (visit.template operator()<a, b>(), ...);
  }(A::kColumns, B::kColumns);
}

// The rows of one shard, column by column.
template <template <template <class> class> class Columns>
struct StoreFor : Columns<InStore> {
  size_t rows = 0;
};

template <template <template <class> class> class Columns>
struct TableFor : Columns<InTable> {
  using Row = Columns<InRow>;

  size_t size() const {
    return [&]<auto... m>(const ColumnList<m...>&) { return SizeOfFirst<m...>(); }(Columns<InTable>::kColumns);
  }

  // Calls f(name of the member, column) for every column, in the order of the list.
  template <class Self, class F>
  static void Visit(Self& self, F&& f) {
    static_assert(HasEachMemberOnce<Columns<InTable>>(Columns<InTable>::kColumns),
                  "kColumns names every member once, shown or hidden");
    [&]<auto... m>(const ColumnList<m...>&) { (VisitOne<m>(self, f), ...); }(Columns<InTable>::kColumns);
  }

 private:
  template <auto member, class Self, class F>
  static void VisitOne(Self& self, F& f) {
    if constexpr (kIsHeld<member>) f(NameOfMember<member>(), self.*member);
  }
  template <auto first, auto... others>
  size_t SizeOfFirst() const {
    if constexpr (kIsHeld<first>)
      return (this->*first).size();
    else
      return SizeOfFirst<others...>();
  }
};

}  // namespace gapless::internal
