// SPDX-License-Identifier: Apache-2.0
// Scripts that only a parser reads as Python does: one edit each, and the script with the edit or why it is left out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "optimize/patch/file_editor.h"

namespace gapless::internal {
namespace {

// Returns the script with the edit in it, or "left out: " and the reason.
std::string Edited(const std::string& text, const Edit& edit) {
  auto source = PythonSource::Parse(text);
  const auto reason = [](const Error& error) {
    return StrCat("left out: ", error.message, error.place.empty() ? "" : StrCat(" (", error.place, ")"));
  };
  if (!source) return reason(source.error());
  FileEditor editor(std::make_shared<const PythonSource>(std::move(*source)));
  if (const auto added = editor.Add(edit); !added) return reason(added.error());
  if (const auto checked = editor.Check(); !checked) return reason(checked.error());
  return Spliced(text, editor.Splices());
}

struct Case {
  std::string before;
  Edit edit;
  std::string after;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& item : cases) EXPECT_EQ(Edited(item.before, item.edit), item.after) << item.before;
}

Edit Call(int line, const std::string& call, const std::string& key, const std::string& value) {
  return {.kind = EditKind::kKeywords, .line = line, .call = call, .set = {{key, value}}};
}
Edit X(int line = 1) { return Call(line, "f", "x", "1"); }
Edit Put(EditKind kind, int line, const std::string& text, std::vector<std::string> imports = {}) {
  return {.kind = kind, .line = line, .last = line, .lines = {text}, .imports = std::move(imports)};
}
Edit Before(int line) { return Put(EditKind::kBefore, line, "t.a()", {"import t"}); }
Edit After(int line) { return Put(EditKind::kAfter, line, "t.a()", {"import t"}); }
Edit With(int line) { return Put(EditKind::kWith, line, "with w():"); }
Edit AtTop(const std::string& line) { return Put(EditKind::kAfterImports, 0, line, {"import t"}); }
Edit Threads() { return AtTop("t.set_threads(4)"); }
Edit Flag() { return AtTop("t.b.flag = 1"); }

TEST(PatchGrammar, ArgumentsAreThoseOfPython) {
  Check({
      {"f(p for n, p in m)\n", X(), "f((p for n, p in m), x=1)\n"},
      {"DataLoader(lambda a, b: 0, 32)\n", Call(1, "DataLoader", "batch_size", "64"),
       "DataLoader(lambda a, b: 0, 64)\n"},
      {"f(lambda a, **k: 0)\n", X(), "f(lambda a, **k: 0, x=1)\n"},
      {"f(lambda a, x=1: a)\n", X(), "f(lambda a, x=1: a, x=1)\n"},
      {"DataLoader(d, c=lambda a, *b: 0)\n", Call(1, "DataLoader", "num_workers", "4"),
       "DataLoader(d, c=lambda a, *b: 0, num_workers=4)\n"},
      {"f(**o or {})\n", X(), "f(**{**(o or {}), \"x\": 1})\n"},
      {"f(**a if c else b)\n", X(), "f(**{**(a if c else b), \"x\": 1})\n"},
      {"f(**lambda: 1)\n", X(), "f(**{**(lambda: 1), \"x\": 1})\n"},
      {"f(**a.b(c)[0])\n", X(), "f(**{**a.b(c)[0], \"x\": 1})\n"},
      {"f(**a, **b)\n", X(), "left out: the call takes its arguments from several mappings"},
      {"f(**a, x=2, **b)\n", X(), "f(**a, x=1, **b)\n"},
      {"f(a := 1)\n", X(), "f(a := 1, x=1)\n"},
      {"f(\xEF\xAC\x81=1)\n", Call(1, "f", "fi", "2"),
       "left out: the call has the argument \xEF\xAC\x81, a name beyond ASCII"},
      {"l = DataLoader[int](d)\n", Call(1, "DataLoader", "x", "1"), "l = DataLoader[int](d, x=1)\n"},
      {"l = (f)(d)\n", X(), "l = (f)(d, x=1)\n"},
      {"print(*f(d))\n", X(), "print(*f(d, x=1))\n"},
      {"f[0](d)\n", X(), "left out: line 1 makes f by calling f[0], which may make something else in another run"},
      {"match p:\n  case f(a=1): pass\n", X(2), "left out: line 2 holds no call of f"},
      {"import a; from a import f as g\ng()\n", X(2), "import a; from a import f as g\ng(x=1)\n"},
      {"try: from a import f as g\nexcept E: pass\ng()\n", X(3), "try: from a import f as g\nexcept E: pass\ng(x=1)\n"},
  });
}

TEST(PatchGrammar, GivenTextsAreWholeExpressionsAndStatements) {
  for (const std::string value : {"1 1", "1, 2", "x=1", "1) + (2", "1)(x=2", "*a", "a := 1", "a as b", "(a as b)",
                                  "1 # 2", "a for a in b", "yield", "1\\"})
    EXPECT_EQ(Edited("f()\n", Call(1, "f", "x", value)),
              StrCat("left out: the value of x, '", value, "', is no expression"));
  EXPECT_EQ(Edited("f()\n", Call(1, "f", "x", "")), "left out: the edit holds what no line of Python does");
  EXPECT_EQ(Edited("f()\n", Call(1, "f", "x", "lambda a, *b: {**a, 'b': (yield)}")),
            "f(x=lambda a, *b: {**a, 'b': (yield)})\n");
  for (const std::string line : {"if x:", "else:", "a b", "  a()", "try: a()", "print 1", "x = = 1", "# nothing"})
    EXPECT_EQ(Edited("f()\n", Put(EditKind::kBefore, 1, line)), "left out: the edit's lines are no statements") << line;
  EXPECT_EQ(Edited("f()\n", Put(EditKind::kWith, 1, "with a b:")), "left out: the edit's lines are no statements");
  EXPECT_EQ(Edited("f()\n", Put(EditKind::kBefore, 1, "a()", {"import t; b()"})),
            "left out: 'import t; b()' is no import");
}

TEST(PatchGrammar, ImportsStandWhereTheyHaveRun) {
  Check({
      {"'d'; from __future__ import annotations\n", Threads(),
       "'d'; from __future__ import annotations\nimport t\n\nt.set_threads(4)\n"},
      {"'d'; x = 1\n", Threads(), "'d'; x = 1\nimport t\n\nt.set_threads(4)\n"},
      {"('d')\nx = 1\n", Threads(), "('d')\nimport t\n\nt.set_threads(4)\nx = 1\n"},
      {"'d'; x = 1\n", Before(1), "left out: line 1 holds several statements"},
      {"a()\nimport os\n", After(1), "import t\na()\nt.a()\nimport os\n"},
      {"import os\nimport re\n", After(1), "import t\nimport os\nt.a()\nimport re\n"},
      {"if TYPE_CHECKING:\n  import t\nx = 1\n", Before(3), "if TYPE_CHECKING:\n  import t\nimport t\nt.a()\nx = 1\n"},
      {"if a:\n  import t\n", After(1), "import t\nif a:\n  import t\nt.a()\n"},
      {"if a:\n  b()\nelse:\n  import t\nx = 1\n", Before(5),
       "if a:\n  b()\nelse:\n  import t\nimport t\nt.a()\nx = 1\n"},
      {"if a:\n  import t\nelse:\n  import t\nx = 1\n", Before(5),
       "if a:\n  import t\nelse:\n  import t\nt.a()\nx = 1\n"},
      {"def g():\n  import t\nx = 1\n", Before(3), "import t\ndef g():\n  import t\nt.a()\nx = 1\n"},
      {"try: import t\nexcept E: raise\nx = 1\n", Before(3), "try: import t\nexcept E: raise\nt.a()\nx = 1\n"},
      {"import os; import t\nx = 1\n", Before(2), "import os; import t\nt.a()\nx = 1\n"},
      {"import t\ndel t\nx = 1\n", Before(3), "left out: line 2 deletes what the change imports"},
      {"import t\nx = 1\ndel t\n", Before(2), "import t\nt.a()\nx = 1\ndel t\n"},
      {"'d'\nx = 1\n", Before(1), "left out: nothing can be imported before line 1"},
  });
}

TEST(PatchGrammar, OnlyAStatementThatIsTheSettingIsReplaced) {
  for (const std::string line : {"t.set_threads(1), a()", "t.set_threads(1) or b()", "t.set_threads(1) if a else b()",
                                 "t.set_threads(1).x()", "x = t.set_threads(1)", "if t.set_threads(1): pass"})
    EXPECT_EQ(Edited(StrCat("import t\n", line, "\n"), Threads()),
              "left out: line 2 sets what it sets, and does more than that");
  for (const std::string line : {"t.b.flag = t.b.on = 0", "t.b.on = t.b.flag = 0", "t.b.flag = a, b = c()",
                                 "(a, [*t.b.flag]), t.b.on = c()", "t.b.flag |= 1"})
    EXPECT_EQ(Edited(StrCat("import t\n", line, "\n"), Flag()),
              "left out: line 2 sets what it sets, and does more than that");
  Check({
      {"import t\na(); t.set_threads(1)\n", Threads(), "import t\na(); t.set_threads(4)\n"},
      {"import t\nif a: t.set_threads(1)\n", Threads(), "import t\n\nt.set_threads(4)\nif a: t.set_threads(4)\n"},
      {"import t\n(t.set_threads(1))\n", Threads(), "import t\nt.set_threads(4)\n"},
      {"import t\nt. \\\n set_threads(1);\n", Threads(), "import t\nt.set_threads(4);\n"},
      {"import t\nt.b.flag: bool = 0\n", Flag(), "import t\nt.b.flag = 1\n"},
      {"import t\nt.b.flag: bool\n", Flag(), "import t\n\nt.b.flag = 1\nt.b.flag: bool\n"},
      {"import t\nf(lambda: t.set_threads(1))\n", Threads(),
       "import t\n\nt.set_threads(4)\nf(lambda: t.set_threads(1))\n"},
  });
}

TEST(PatchGrammar, SoftKeywordsAreNames) {
  Check({
      {"a()\ncase: int = 1\n", Put(EditKind::kAfter, 1, "m()"), "a()\nm()\ncase: int = 1\n"},
      {"match = lambda: 1\n", Put(EditKind::kAfter, 1, "m()"), "match = lambda: 1\nm()\n"},
      {"type = lambda: 1\n", Put(EditKind::kAfter, 1, "m()"), "type = lambda: 1\nm()\n"},
      {"a()\ncase = lambda: 1\n", With(1), "with w():\n    a()\ncase = lambda: 1\n"},
      {"match x:\n  case 1:\n    f()\n", Put(EditKind::kAfter, 3, "m()"), "match x:\n  case 1:\n    f()\n    m()\n"},
      {"match x:\n  case 1:\n    f()\n", With(2), "left out: line 2 begins no statement of its own"},
  });
}

TEST(PatchGrammar, LinesMayStandFurtherOutWithinBrackets) {
  Check({{"if a:\n    f([(1 if a else\n2)\n])\n", X(2), "if a:\n    f([(1 if a else\n2)\n], x=1)\n"},
         {"a()\n\\\nf()\n", With(3), "a()\nwith w():\n    \\\n    f()\n"}});
}

TEST(PatchGrammar, OtherEncodingsAndLineEnds) {
  const std::string latin = "# coding: latin-1\n";
  Check({
      {"a()\rf()\r", X(2), "a()\rf(x=1)\r"},
      {"a()\rif b:\r c()\r", With(3), "a()\rif b:\r with w():\r  c()\r"},
      {latin + "\xE9 = 1\nf('\xE9')\n", X(3), latin + "\xE9 = 1\nf('\xE9', x=1)\n"},
      {latin + "f()\n", Call(2, "f", "x", "'\xC3\xA9'"),
       "left out: the file is no UTF-8, and the edit holds characters beyond ASCII"},
      {"f('\xE9')\n", X(), "left out: holds bytes that are no UTF-8, and names no other encoding"},
      {"# coding: gbk\nf()\n", X(2), "left out: is written in gbk, which gapless does not read"},
      {"a()\n\v\nf()\n", X(3), "left out: holds a character that code of Python cannot hold (line 2)"},
  });
}

TEST(PatchGrammar, WhatIsNoPython3IsLeftOut) {
  const std::string unread = "left out: is no Python 3 that gapless can read (line 2)";
  const std::string old = "left out: is written for an old version of Python (line 2)";
  for (const std::string line : {"x = = 1", "%matplotlib inline", "!ls", "f(", "'''"})
    EXPECT_EQ(Edited(StrCat("f()\n", line, "\n"), X()), unread) << line;
  for (const std::string line : {"print 'a'", "exec `a`", "a <> b", "async = 1"})
    EXPECT_EQ(Edited(StrCat("f()\n", line, "\n"), X()), old) << line;
  EXPECT_EQ(Edited("f()\nif a:\n", X()), "left out: a block without a statement (line 2)");
  EXPECT_EQ(Edited("f(t'{a}')\n", X()), "f(t'{a}', x=1)\n") << "Python 3.14";
}

TEST(PatchGrammar, HostileTextsAreLeftOutSoon) {
  std::string steps, run;
  for (int i = 0; i < 600; ++i) steps += StrCat(std::string(static_cast<size_t>(i), ' '), "if a:\n");
  for (int i = 0; i < 100'000; ++i) run += "#\n";
  const std::string deep = StrCat("f(", std::string(100'000, '('), "1", std::string(100'000, ')'));
  EXPECT_EQ(Edited(steps, X()), "left out: is indented too deeply");
  EXPECT_EQ(Edited(run, X()), "left out: has too many comments or backslashes in a row");
  EXPECT_TRUE(Edited(deep + ")\n", X()).ends_with(" x=1)\n"));
  EXPECT_EQ(Edited(deep + "\n", X()), "left out: is no Python 3 that gapless can read (line 1)");
}

}  // namespace
}  // namespace gapless::internal
