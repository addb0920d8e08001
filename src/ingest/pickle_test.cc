// SPDX-License-Identifier: Apache-2.0
// Pickles as plain data. The bytes of the first tests are those that Python's pickle module writes.
#include "ingest/pickle.h"

#include <gtest/gtest.h>

#include <string>

#include "ingest/memory_source.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

using Kind = PickleValue::Kind;
using std::string_literals::operator""s;

Result<Pickle> ReadPickle(std::string bytes, const Pickle::Visit& fold = {}) {
  MemorySource source(std::move(bytes));
  auto stream = source.Open();
  return Pickle::Read(**stream, fold);
}

std::string ErrorOf(std::string bytes) {
  const auto pickle = ReadPickle(std::move(bytes));
  return pickle ? "" : pickle.error().message;
}

// {"a": [1, -2, 300, 70000, 2**40, True, None, 1.5, "é"], "b": ()}
const std::string kProtocol4 =
    "\x80\x04\x95\x39\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x88NG?"
    "\xf8\x00\x00\x00\x00\x00\x00\x8c\x02\xc3\xa9"
    "\x94\x65\x8c\x01"
    "b\x94)u."s;

TEST(Pickle, ReadsWhatPythonWrites) {
  const auto pickle = ReadPickle(kProtocol4);
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  const PickleValue root = pickle->root();
  const auto items = pickle->Items(pickle->Get(root, "a"));
  ASSERT_EQ(items.size(), 9U);
  EXPECT_EQ(items[0].integer, 1);
  EXPECT_EQ(items[1].integer, -2);
  EXPECT_EQ(items[2].integer, 300);
  EXPECT_EQ(items[3].integer, 70'000);
  EXPECT_EQ(items[4].integer, int64_t{1} << 40);
  EXPECT_EQ(items[5].kind, Kind::kBool);
  EXPECT_EQ(items[6].kind, Kind::kNone);
  EXPECT_EQ(items[7].real(), 1.5);
  EXPECT_EQ(pickle->Text(items[8]), "é");
  EXPECT_TRUE(pickle->Items(pickle->Get(root, "b")).empty());
  EXPECT_EQ(pickle->Get(root, "c").kind, Kind::kNone);
}
TEST(Pickle, ReadsTheTextOfProtocol0) {
  const auto pickle = ReadPickle("(dp0\nVsize\np1\nI12\nsVname\np2\nVx\np3\nsVlong\nL123456789012L\ns.");
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  EXPECT_EQ(pickle->IntAt(pickle->root(), "size"), 12);
  EXPECT_EQ(pickle->TextAt(pickle->root(), "name"), "x");
  EXPECT_EQ(pickle->IntAt(pickle->root(), "long"), 123'456'789'012);
}
TEST(Pickle, RemembersValues) {  // [x, x] with x = {"k": 7}, as one object
  const auto pickle = ReadPickle("\x80\x02]q\x00(}q\x01U\x01kq\x02K\x07sh\x01\x65."s);
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  const auto items = pickle->Items(pickle->root());
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].index, items[1].index);
  EXPECT_EQ(pickle->IntAt(items[1], "k"), 7);
}
TEST(Pickle, NumbersOfMoreThan64BitsAreNoNumbers) {
  const auto pickle = ReadPickle("\x80\x02\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01."s);
  ASSERT_TRUE(pickle);
  EXPECT_EQ(pickle->root().kind, Kind::kOther);
}

// Each dictionary becomes a number as soon as it is complete, wherever it is referred to.
TEST(Pickle, FoldsDictionaries) {
  int64_t next = 0;
  const auto pickle =
      ReadPickle("\x80\x02]q\x00(}q\x01(U\x01kK\x07U\x01nK\x08uh\x01\x65."s, [&](Pickle& of, PickleValue value) {
        EXPECT_EQ(of.IntAt(value, "n"), 8);
        of.Fold(value, next++);
      });
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  EXPECT_EQ(next, 1);
  const auto items = pickle->Items(pickle->root());
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(pickle->Folded(items[0]), 0);
  EXPECT_EQ(pickle->Folded(items[1]), 0);
  EXPECT_TRUE(pickle->Items(items[0]).empty());
  EXPECT_EQ(pickle->Folded(pickle->root()), kAbsent);
}

// Items that come to a list may be taken away; what is not taken stays in its order, and the list is the same one.
TEST(Pickle, TakesItemsOfLists) {
  int64_t next = 0;
  MemorySource source("\x80\x02]q\x00(}q\x01(U\x01kK\x07uK\x05\x65}q\x02(U\x01kK\x09u\x61h\x01\x61."s);
  auto stream = source.Open();
  std::vector<int64_t> taken;
  const auto pickle = Pickle::Read(
      **stream, [&](Pickle& of, PickleValue value) { of.Fold(value, next++); }, nullptr, {},
      [&](Pickle& of, PickleValue list) {
        const auto items = of.Items(list);
        if (items.empty() || of.Folded(items[0]) == kAbsent) return;
        taken.push_back(of.Folded(items[0]));
        of.TakeFirst(list, 1);
      });
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  EXPECT_EQ(taken, std::vector<int64_t>{0});  // then a 5 comes first
  const auto items = pickle->Items(pickle->root());
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].integer, 5);
  EXPECT_EQ(pickle->Folded(items[1]), 1);
  EXPECT_EQ(pickle->Folded(items[2]), 0);
}

// A dictionary that nobody folds has its items, as one that is filled in two parts has them all.
TEST(Pickle, DictionariesThatStayAreWhole) {
  const auto pickle = ReadPickle("\x80\x02}q\x00(U\x01kK\x07u(U\x01nK\x08u."s, [](Pickle&, PickleValue) {});
  ASSERT_TRUE(pickle) << pickle.error().ToString();
  EXPECT_EQ(pickle->IntAt(pickle->root(), "k"), 7);
  EXPECT_EQ(pickle->IntAt(pickle->root(), "n"), 8);
}

// Every instruction with which a pickle imports or calls is refused by name, before anything behind it is looked at.
TEST(Pickle, RefusesWhatWouldRunCode) {
  EXPECT_NE(ErrorOf("cos\nsystem\n(S'touch /tmp/x'\ntR.").find("GLOBAL"), std::string::npos);
  EXPECT_NE(ErrorOf("\x80\x04\x8c\x02os\x8c\x06system\x93."s).find("STACK_GLOBAL"), std::string::npos);
  const std::pair<std::string, std::string_view> kForbidden[] = {{"N)R.", "REDUCE"},
                                                                 {"N}b.", "BUILD"},
                                                                 {"(ios\nsystem\n.", "INST"},
                                                                 {"(No.", "OBJ"},
                                                                 {"N)\x81.", "NEWOBJ"},
                                                                 {"N)}\x92.", "NEWOBJ_EX"},
                                                                 {"\x82\x01.", "EXT1"},
                                                                 {"\x83\x01\x01.", "EXT2"},
                                                                 {"\x84\x01\x01\x01\x01.", "EXT4"},
                                                                 {"P1\n.", "PERSID"},
                                                                 {"NQ.", "BINPERSID"},
                                                                 {"\x97.", "NEXT_BUFFER"},
                                                                 {"N\x98.", "READONLY_BUFFER"}};
  for (const auto& [bytes, name] : kForbidden)
    EXPECT_NE(ErrorOf("\x80\x04" + bytes).find(std::string(name) + " at byte"), std::string::npos) << name;
}

TEST(Pickle, AnyPrefixIsAnError) {
  for (size_t size = 0; size < kProtocol4.size(); ++size) EXPECT_NE(ErrorOf(kProtocol4.substr(0, size)), "") << size;
}
TEST(Pickle, AnyChangeGivesAValueOrAnError) {
#ifdef GAPLESS_SANITIZED
  constexpr int kStride = 3;  // which meets every operation code at some place
#else
  constexpr int kStride = 1;
#endif
  for (size_t at = 0; at < kProtocol4.size(); ++at)
    for (int byte = 0; byte < 256; byte += kStride) {
      std::string changed = kProtocol4;
      changed[at] = static_cast<char>(byte);
      const auto pickle = ReadPickle(std::move(changed));
      EXPECT_TRUE(pickle || !pickle.error().message.empty());
    }
}
TEST(Pickle, RefusesWhatDoesNotFit) {
  EXPECT_NE(ErrorOf("\x80\x06N."s).find("protocol 6"), std::string::npos);
  EXPECT_NE(ErrorOf("\x80\x02(K\x01u."s), "");             // items without a dictionary
  EXPECT_NE(ErrorOf("\x80\x02}(K\x01u."s), "");            // a key without a value
  EXPECT_NE(ErrorOf("\x80\x02h\x05."s), "");               // a place of the memo that is empty
  EXPECT_NE(ErrorOf("\x80\x02Nr\xff\xff\xff\x7f."s), "");  // one that would take 32 GiB
  EXPECT_NE(ErrorOf("\x80\x02X\xff\xff\xff\x7fx"s), "");   // a text longer than the file
  EXPECT_NE(ErrorOf("\x80\x02."s), "");
  EXPECT_NE(ErrorOf("\x80\x02\xff"s), "");
}

}  // namespace
}  // namespace gapless::internal
