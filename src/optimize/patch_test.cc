// SPDX-License-Identifier: Apache-2.0
// Small scripts and what becomes of them. Each diff is given to `patch` and to `git apply`; the result is compiled by
// Python. tests/patch_test.py does the same with many more.
#include "optimize/patch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

class PatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::Make();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    fs::create_directories(Folder());
  }

  std::string Folder() const { return folder_->path() + "/project"; }
  std::string PathOf(const std::string& name) const { return Folder() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(PathOf(name)).parent_path());
    std::ofstream(PathOf(name), std::ios::binary) << text;
  }

  Change Made(Edit edit, const std::string& fix = "fix", const std::string& name = "train.py") const {
    if (edit.kind != EditKind::kEnvironment && edit.file.empty()) edit.file = PathOf(name);
    return {.fix = fix, .what = "what was done", .edit = std::move(edit)};
  }

  static bool Run(const std::string& command) { return std::system(command.c_str()) == 0; }

  // The file after the diff, by two programs that must agree.
  std::string Applied(const std::string& diff, const std::string& name = "train.py") const {
    std::ofstream(folder_->path() + "/diff", std::ios::binary) << diff;
    std::string results[2];
    int i = 0;
    for (const char* tool : {"patch -s -p1 --fuzz=0 <../diff", "git apply --whitespace=nowarn ../diff"}) {
      const std::string copy = StrCat(folder_->path(), "/copy", i);
      fs::remove_all(copy);
      fs::copy(Folder(), copy, fs::copy_options::recursive);
      EXPECT_TRUE(Run(StrCat("cd '", copy, "' && ", tool))) << tool << "\n" << diff;
      results[i++] = ContentOf(StrCat(copy, "/", name), 1 << 20);
    }
    EXPECT_EQ(results[0], results[1]) << "patch and git apply disagree";
    EXPECT_TRUE(Run(StrCat("cd '", folder_->path(), "/copy0' && python3 -m py_compile '", name, "'"))) << results[0];
    return results[0];
  }

  // `before` with the edits is `after`.
  void Becomes(const std::string& before, const std::vector<Edit>& edits, const std::string& after) const {
    Write("train.py", before);
    std::vector<Change> changes;
    for (const Edit& edit : edits) changes.push_back(Made(edit));
    const Patch patch = WritePatch(changes, Folder());
    EXPECT_TRUE(patch.left_out.empty()) << patch.left_out[0];
    EXPECT_TRUE(patch.advice.empty()) << patch.advice[0];
    EXPECT_EQ(before == after ? before : Applied(patch.diff), after) << patch.diff;
    EXPECT_EQ(patch.diff.empty(), before == after);
    EXPECT_EQ(ContentOf(PathOf("train.py"), 1 << 20), before) << "the user's file was written to";
  }

  // Nothing is done, and this is why.
  void IsLeftOut(const std::string& before, const Edit& edit, const std::string& why) const {
    Write("train.py", before);
    const std::vector<Change> changes{Made(edit)};
    const Patch patch = WritePatch(changes, Folder());
    EXPECT_EQ(patch.diff, "");
    ASSERT_EQ(patch.left_out.size(), 1U);
    EXPECT_NE(patch.left_out[0].find(why), std::string::npos) << patch.left_out[0];
  }

  std::optional<TemporaryFolder> folder_;
};

using Set = std::vector<std::pair<std::string, std::string>>;

Edit CallWith(int line, const std::string& call, Set set) {
  return {.kind = EditKind::kKeywords, .line = line, .call = call, .set = std::move(set)};
}
Edit Lines(EditKind kind, int line, std::vector<std::string> lines, std::vector<std::string> imports = {}) {
  return {.kind = kind, .line = line, .lines = std::move(lines), .imports = std::move(imports)};
}
const Set kWorkers{{"num_workers", "4"}, {"persistent_workers", "True"}};

TEST_F(PatchTest, KeywordsAreAddedBehindTheLastOne) {
  Becomes("loader = DataLoader(data, batch_size=32)\n", {CallWith(1, "DataLoader", kWorkers)},
          "loader = DataLoader(data, batch_size=32, num_workers=4, persistent_workers=True)\n");
  Becomes("o = f(\n)\n", {CallWith(1, "f", {{"a", "1"}})}, "o = f(a=1\n)\n");
  Becomes("o = f(x,)  # )\n", {CallWith(1, "f", {{"a", "1"}})}, "o = f(x, a=1,)  # )\n");
}

Edit Replacing(int line, int last, std::vector<std::string> lines) {
  return {.kind = EditKind::kReplace, .line = line, .last = last, .lines = std::move(lines), .imports = {}};
}

TEST_F(PatchTest, StatementsBecomeOthers) {
  const std::string loop =
      "def f(x):\n\trows = []\n\tfor row in x:  # slow\n\t\trows.append(row)\n\treturn stack(rows)";
  const std::vector<std::string> lines{"def of_row(row):", "    return row", "return vmap(of_row)(x)"};
  const std::string mapped = "def f(x):\n\tdef of_row(row):\n\t\treturn row\n\treturn vmap(of_row)(x)";
  Becomes(loop, {Replacing(2, 5, lines)}, mapped);
  Becomes(loop + "\n\nf(1)\n", {Replacing(2, 5, lines), Replacing(2, 5, lines)}, mapped + "\n\nf(1)\n");
  // The code before it, and a block around it, stay.
  Becomes("import a\na.x(\n 1)\nb = 2\n", {Lines(EditKind::kBefore, 2, {"c()"}), Replacing(2, 3, {"a.y()"})},
          "import a\nc()\na.y()\nb = 2\n");
  Becomes("if x:\n  a()\n  b()\n", {Lines(EditKind::kWith, 1, {"with c():"}), Replacing(2, 2, {"d()"})},
          "with c():\n  if x:\n    d()\n    b()\n");
  Becomes("if x:\n  a()\n  b()\n", {Replacing(2, 2, {"d()"}), Lines(EditKind::kWith, 1, {"with c():"})},
          "with c():\n  if x:\n    d()\n    b()\n");
}

TEST_F(PatchTest, EditsThatBelongTogetherAreMadeTogetherOrNotAtAll) {
  const std::string text = "for x in data:\n  f(x)\n  o.step()\n";
  Edit edit = Lines(EditKind::kBefore, 1, {"n = 0"});
  edit.more = {Replacing(3, 3, {"n += 1", "if n % 2 == 0:", "    o.step()"})};
  Becomes(text, {edit}, "n = 0\nfor x in data:\n  f(x)\n  n += 1\n  if n % 2 == 0:\n    o.step()\n");
  edit.more.push_back(Replacing(9, 9, {"o.zero_grad()"}));
  IsLeftOut(text, edit, "holds no statement");
}

TEST_F(PatchTest, OnlyWholeStatementsOfOneBlockBecomeOthers) {
  const std::string text = "if a:\n  b()\n  c(\n   1)\nelse:\n  d(); e()\nf()\n";
  IsLeftOut(text, Replacing(2, 3, {"x()"}), "no statement ends at line 3");
  IsLeftOut(text, Replacing(2, 7, {"x()"}), "line 5 begins no statement of its own");
  IsLeftOut(text, Replacing(5, 6, {"x()"}), "line 5 begins no statement of its own");
  IsLeftOut(text, Replacing(6, 6, {"x()"}), "several statements");
  IsLeftOut(text, Replacing(7, 6, {"x()"}), "no statement ends at line 6");
  IsLeftOut(text, Replacing(9, 9, {"x()"}), "line 9 holds no statement");
  IsLeftOut(text, Replacing(7, 7, {}), "says nothing");
  IsLeftOut("from __future__ import annotations\n", Replacing(1, 1, {"x()"}), "__future__");
}

TEST_F(PatchTest, WhatIsReplacedTakesNoOtherChange) {
  const std::string text = "a()\nb(c=1)\nx()\n";
  const Edit replacing = Replacing(1, 2, {"x()"});
  const Edit others[] = {Lines(EditKind::kBefore, 2, {"y()"}), Lines(EditKind::kAfter, 1, {"y()"}),
                         Lines(EditKind::kWith, 2, {"with y():"}), CallWith(2, "b", {{"c", "2"}}),
                         Replacing(2, 3, {"y()"})};
  Write("train.py", text);
  for (const Edit& other : others)
    for (const bool later : {false, true}) {
      const std::vector<Change> changes{Made(later ? replacing : other), Made(later ? other : replacing)};
      const Patch patch = WritePatch(changes, Folder());
      ASSERT_EQ(patch.left_out.size(), 1U) << patch.diff;
      EXPECT_NE(patch.left_out[0].find("another change replaces line"), std::string::npos) << patch.left_out[0];
    }
}

TEST_F(PatchTest, AKeywordThatIsThereGetsAnotherValue) {
  Becomes("l = DataLoader(data, num_workers = 0 , shuffle=(1, 2)[0])\n",
          {CallWith(1, "DataLoader", {{"num_workers", "4"}})},
          "l = DataLoader(data, num_workers = 4 , shuffle=(1, 2)[0])\n");
  Becomes("l = DataLoader(data, num_workers=4)\n", {CallWith(1, "DataLoader", {{"num_workers", "4"}})},
          "l = DataLoader(data, num_workers=4)\n");
}

TEST_F(PatchTest, APositionalArgumentIsTheKeywordOfItsPlace) {
  Becomes("l = DataLoader(data, 32, True)\n", {CallWith(1, "DataLoader", {{"batch_size", "64"}})},
          "l = DataLoader(data, 64, True)\n");
  IsLeftOut("l = DataLoader(*args)\n", CallWith(1, "DataLoader", kWorkers), "which may hold num_workers");
}

TEST_F(PatchTest, AListOfOneALineStaysOne) {
  const std::string before =
      "def main():\n"
      "    loader = torch.utils.data.DataLoader(\n"
      "        data,  # the data, (all of it\n"
      "        shuffle=True  # why not\n"
      "    )\n"
      "    return loader\n";
  const std::string after =
      "def main():\n"
      "    loader = torch.utils.data.DataLoader(\n"
      "        data,  # the data, (all of it\n"
      "        shuffle=True,  # why not\n"
      "        num_workers=4,\n"
      "        persistent_workers=True,\n"
      "    )\n"
      "    return loader\n";
  for (const int line : {2, 3, 4, 5}) Becomes(before, {CallWith(line, "DataLoader", kWorkers)}, after);
}

TEST_F(PatchTest, AWideCallGoesOnBelowItsFirstArgument) {
  const std::string wide(60, 'x');
  Becomes(
      StrCat("l = DataLoader(", wide, ", batch_size=32)\n"), {CallWith(1, "DataLoader", kWorkers)},
      StrCat("l = DataLoader(", wide, ", batch_size=32,\n               num_workers=4, persistent_workers=True)\n"));
}

TEST_F(PatchTest, StringsAndCommentsHideBracketsAndNames) {
  const std::string arguments = R"x(f"{d['a)']!r:{'>'}10} (", r'\(', '''
)''', b"\"(", x)x";
  Becomes(StrCat("l = DataLoader(", arguments, ")  # DataLoader(\n"), {CallWith(1, "DataLoader", {{"a", "1"}})},
          StrCat("l = DataLoader(", arguments, ", a=1)  # DataLoader(\n"));
}

TEST_F(PatchTest, AMappingThatMayHoldTheKeywordTakesItIn) {
  Becomes("l = DataLoader(data, **options)\n", {CallWith(1, "DataLoader", {{"num_workers", "4"}})},
          "l = DataLoader(data, **{**options, \"num_workers\": 4})\n");
}

TEST_F(PatchTest, AGeneratorGetsBracketsOfItsOwn) {
  Becomes("o = AdamW(p for p in model.parameters() if p.requires_grad)\n", {CallWith(1, "AdamW", {{"fused", "True"}})},
          "o = AdamW((p for p in model.parameters() if p.requires_grad), fused=True)\n");
}

TEST_F(PatchTest, AnImportedNameIsFollowed) {
  Becomes("from torch.utils.data import DataLoader as DL\nl = DL(data)\n",
          {CallWith(2, "DataLoader", {{"num_workers", "4"}})},
          "from torch.utils.data import DataLoader as DL\nl = DL(data, num_workers=4)\n");
}

TEST_F(PatchTest, ChangesOfOneCallAreBroughtTogether) {
  Becomes("l = DataLoader(data)\n",
          {CallWith(1, "DataLoader", kWorkers), CallWith(1, "DataLoader", kWorkers),
           CallWith(1, "DataLoader", {{"pin_memory", "True"}}), CallWith(1, "DataLoader", {{"num_workers", "8"}})},
          "l = DataLoader(data, num_workers=8, persistent_workers=True, pin_memory=True)\n");
  Becomes("a, b = f(1), g(f(2))\n", {CallWith(1, "g", {{"x", "1"}})}, "a, b = f(1), g(f(2), x=1)\n");
}

TEST_F(PatchTest, LinesGoBeforeAndBehindAStatement) {
  const std::string before =
      "import torch\n"
      "def main():\n"
      "\tif True:\n"
      "\t\tmodel = Net(\n"
      "\t\t\t3)\n"
      "\tfor x in (1,\n"
      "\t          2):\n"
      "\t\tpass\n"
      "\telse:\n"
      "\t\tpass\n";
  Becomes(before, {Lines(EditKind::kAfter, 5, {"model.to(memory_format=torch.channels_last)"}, {"import torch"})},
          "import torch\ndef main():\n\tif True:\n\t\tmodel = "
          "Net(\n\t\t\t3)\n\t\tmodel.to(memory_format=torch.channels_last)\n"
          "\tfor x in (1,\n\t          2):\n\t\tpass\n\telse:\n\t\tpass\n");
  Becomes(before, {Lines(EditKind::kBefore, 7, {"if x:", "    y()"}), Lines(EditKind::kAfter, 6, {"z()"})},
          "import torch\ndef main():\n\tif True:\n\t\tmodel = Net(\n\t\t\t3)\n\tif x:\n\t\ty()\n\tfor x in (1,\n\t     "
          "     2):\n"
          "\t\tpass\n\telse:\n\t\tpass\n\tz()\n");
}

TEST_F(PatchTest, LinesGoBeforeDecorators) {
  Becomes("@a\n@b(1)\ndef f():\n    pass\nx = 1\n",
          {Lines(EditKind::kBefore, 3, {"y = 2"}), Lines(EditKind::kAfter, 1, {"z = 3"})},
          "y = 2\n@a\n@b(1)\ndef f():\n    pass\nz = 3\nx = 1\n");
}

TEST_F(PatchTest, AStatementMovesIntoABlock) {
  const std::string head = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):";
  Becomes("import torch\nwhile True:\n  out = model(x,\n    '''a\nb''')  # go\n\n  loss = out \\\n    + 1\n",
          {Lines(EditKind::kWith, 4, {head}, {"import torch"}), Lines(EditKind::kWith, 7, {head})},
          StrCat("import torch\nwhile True:\n  ", head, "\n    out = model(x,\n      '''a\nb''')  # go\n\n  ", head,
                 "\n    loss = out \\\n      + 1\n"));
}

TEST_F(PatchTest, BlocksAroundBlocksAndWhatIsPutIntoThem) {
  Becomes("for x in y:\n    a(x)\n    b(\n        x,\n    )\n",
          {Lines(EditKind::kWith, 1, {"with one():"}), Lines(EditKind::kWith, 1, {"with two():"}),
           Lines(EditKind::kWith, 3, {"with three():"}), Lines(EditKind::kBefore, 3, {"c()"}),
           Lines(EditKind::kAfter, 4, {"d()"}), CallWith(3, "b", {{"k", "1"}}), Lines(EditKind::kAfter, 1, {"e()"}),
           Lines(EditKind::kBefore, 1, {"g()"})},
          "g()\n"
          "with one():\n"
          "    with two():\n"
          "        for x in y:\n"
          "            a(x)\n"
          "            c()\n"
          "            with three():\n"
          "                b(\n"
          "                    x,\n"
          "                    k=1,\n"
          "                )\n"
          "            d()\n"
          "e()\n");
}

TEST_F(PatchTest, LinesBehindTheImports) {
  const Edit tf32 =
      Lines(EditKind::kAfterImports, 0, {"torch.set_float32_matmul_precision(\"high\")"}, {"import torch"});
  const std::string line = "torch.set_float32_matmul_precision(\"high\")\n";
  Becomes(
      "#!/usr/bin/python3\n\"\"\"Trains.\"\"\"\nfrom __future__ import annotations\nimport os\nos.environ['A'] = "
      "'1'\nimport torch\n\nx = 1\n",
      {tf32, tf32},
      StrCat("#!/usr/bin/python3\n\"\"\"Trains.\"\"\"\nfrom __future__ import annotations\nimport os\nos.environ['A'] "
             "= '1'\nimport "
             "torch\n\n",
             line, "\nx = 1\n"));
  Becomes("import torch.nn as nn\nx = 1\n", {tf32}, StrCat("import torch.nn as nn\nimport torch\n\n", line, "x = 1\n"));
  Becomes("\"\"\"Doc.\"\"\"\nx = 1\n", {tf32}, StrCat("\"\"\"Doc.\"\"\"\nimport torch\n\n", line, "x = 1\n"));
  Becomes("try:\n    import torch\nexcept ImportError:\n    raise\ndef f():\n    pass\n", {tf32},
          StrCat("try:\n    import torch\nexcept ImportError:\n    raise\n\n", line, "def f():\n    pass\n"));
  Becomes(StrCat("import torch\n", line), {tf32}, StrCat("import torch\n", line));
  Becomes("# nothing yet\n", {tf32}, StrCat("# nothing yet\nimport torch\n\n", line));
}

TEST_F(PatchTest, ASettingOfTheProgramItselfChanges) {
  const Edit threads = Lines(EditKind::kAfterImports, 0, {"torch.set_num_threads(4)"}, {"import torch"});
  Becomes("import torch\ndef main():\n    torch.set_num_threads(1)  # why\n", {threads, threads},
          "import torch\ndef main():\n    torch.set_num_threads(4)  # why\n");
  Becomes("import torch as th\nth.set_num_threads(\n  1)\n", {threads},
          "import torch as th\nimport torch\ntorch.set_num_threads(4)\n");
  const Edit flag = Lines(EditKind::kAfterImports, 0, {"torch.backends.cudnn.benchmark = True"}, {"import torch"});
  Becomes("import torch\nfrom torch.backends import cudnn\ncudnn.benchmark = False\n", {flag},
          "import torch\nfrom torch.backends import cudnn\ntorch.backends.cudnn.benchmark = True\n");
  const Edit freeze = Lines(EditKind::kAfterImports, 0, {"gc.freeze()"}, {"import gc"});
  Becomes("import gc\nmodel.freeze()\n", {freeze}, "import gc\n\ngc.freeze()\nmodel.freeze()\n");
  IsLeftOut("import torch\ntorch.set_num_threads(1)\ntorch.set_num_threads(2)\n", threads, "lines 2 and 3 both set");
}

TEST_F(PatchTest, ASettingThatMayNotRunIsNoneOfTheProgram) {
  const std::string line = "torch.set_num_threads(4)\n", imports = "import torch\n";
  const Edit threads = Lines(EditKind::kAfterImports, 0, {"torch.set_num_threads(4)"}, {"import torch"});
  for (const std::string head : {"if a:\n    ", "for a in b:\n    ", "class A:\n    def f(self):\n        "})
    Becomes(StrCat(imports, head, "torch.set_num_threads(1)\n"), {threads}, StrCat(imports, "\n", line, head, line));
  Becomes(StrCat(imports, "if a:\n    ", line), {threads}, StrCat(imports, "\n", line, "if a:\n    ", line));
  const std::string main = "if __name__ == '__main__':\n    ";
  Becomes(StrCat(imports, main, "torch.set_num_threads(1)\n"), {threads}, StrCat(imports, main, line));
}

TEST_F(PatchTest, AnImportComesOnceAndBeforeItsUse) {
  Becomes("import os, torch\nx = 1\n", {Lines(EditKind::kBefore, 2, {"torch.a()"}, {"import torch"})},
          "import os, torch\ntorch.a()\nx = 1\n");
  Becomes("import os\nx = 1\ny = 2\n",
          {Lines(EditKind::kBefore, 2, {"torch.a()"}, {"import torch"}),
           Lines(EditKind::kBefore, 3, {"torch.b()"}, {"import torch"})},
          "import os\nimport torch\ntorch.a()\nx = 1\ntorch.b()\ny = 2\n");
}

TEST_F(PatchTest, LineEndsEncodingsAndLastLinesStay) {
  Becomes("import torch\r\nx = f(\r\n  1,\r\n)\r\ny = 1\r\n",
          {CallWith(2, "f", {{"a", "1"}}), Lines(EditKind::kAfter, 5, {"z = 1"})},
          "import torch\r\nx = f(\r\n  1,\r\n  a=1,\r\n)\r\ny = 1\r\nz = 1\r\n");
  Becomes("x = f()", {CallWith(1, "f", {{"a", "1"}}), Lines(EditKind::kAfter, 1, {"y = 1"})}, "x = f(a=1)\ny = 1");
  Becomes("# -*- coding: latin-1 -*-\nname = '\xE9\xFC'\nx = f('\xE9')\n", {CallWith(3, "f", {{"a", "1"}})},
          "# -*- coding: latin-1 -*-\nname = '\xE9\xFC'\nx = f('\xE9', a=1)\n");
  Becomes("\xEF\xBB\xBFx = f()\n", {Lines(EditKind::kBefore, 1, {"y = 1"}), CallWith(1, "f", {{"a", "1"}})},
          "\xEF\xBB\xBFy = 1\nx = f(a=1)\n");
}

TEST_F(PatchTest, SeveralFilesWithUnusualNames) {
  std::string before = "x = 1\n";
  for (int i = 0; i < 30; ++i) before += StrCat("a", i, " = f(", i, ")\n");
  std::vector<Change> changes;
  const std::vector<std::string> names{"my pack\"age/a file.py", "b.py", "\xC3\xA9t\xC3\xA9.py"};
  for (const std::string& name : names) {
    Write(name, before);
    for (const int line : {2, 20, 31}) changes.push_back(Made(CallWith(line, "f", {{"k", "1"}}), "fix", name));
  }
  const Patch patch = WritePatch(changes, Folder());
  EXPECT_TRUE(patch.left_out.empty());
  for (const std::string& name : names) {
    const std::string after = Applied(patch.diff, name);
    for (const char* line : {"a0 = f(0, k=1)\n", "a18 = f(18, k=1)\n", "a29 = f(29, k=1)\n"})
      EXPECT_NE(after.find(line), std::string::npos) << name;
  }
}

TEST_F(PatchTest, AFileThatHasChangedSinceIsLeftOut) {
  IsLeftOut("x = 1\n", CallWith(1, "DataLoader", kWorkers), "train.py: line 1 holds no call of DataLoader");
  IsLeftOut("x = 1\n", CallWith(9, "DataLoader", kWorkers), "line 9 holds no statement");
  IsLeftOut("def DataLoader(): pass\n", CallWith(1, "DataLoader", kWorkers), "holds no call of DataLoader");
  IsLeftOut("x = 'DataLoader('\n", CallWith(1, "DataLoader", kWorkers), "holds no call of DataLoader");
  IsLeftOut("x = DataLoader(\n", CallWith(1, "DataLoader", kWorkers), "is no Python 3 that gapless can read (line 1)");
  IsLeftOut("x = 'a\n", CallWith(1, "DataLoader", kWorkers), "is no Python 3 that gapless can read (line 1)");
  IsLeftOut("if x:\n  a()\n b()\n", CallWith(2, "a", kWorkers), "indentation that does not fit (line 3)");
  IsLeftOut(std::string("x = f(1)\0\n", 10), CallWith(1, "f", kWorkers), "is no text");
}

TEST_F(PatchTest, WhatCannotBeToldIsLeftOut) {
  IsLeftOut("a, b = DataLoader(x), DataLoader(y)\n", CallWith(1, "DataLoader", kWorkers),
            "line 1 holds 2 calls of DataLoader");
  IsLeftOut("if a: b()\n", Lines(EditKind::kAfter, 1, {"c()"}), "line 1 holds several statements");
  IsLeftOut("a(); b()\n", Lines(EditKind::kWith, 1, {"with x:"}), "line 1 holds several statements");
  IsLeftOut("if a:\n    b()\nelse:\n    c()\n", Lines(EditKind::kBefore, 3, {"d()"}), "begins no statement of its own");
  IsLeftOut("def f():\n    return Net()\n", Lines(EditKind::kAfter, 2, {"d()"}), "nothing runs behind the return");
  IsLeftOut("'''Doc.'''\nfrom __future__ import annotations\n", Lines(EditKind::kAfter, 1, {"d()"}),
            "only `from __future__ import`");
  IsLeftOut("a()\n", Lines(EditKind::kBefore, 1, {}), "the edit says nothing");
  IsLeftOut("a()\n", Lines(EditKind::kWith, 1, {"x()"}), "no head of a with block");
  IsLeftOut("a()\n", CallWith(1, "a", {{"b", "1\nimport os"}}), "no line of Python");
  IsLeftOut("a()\n", CallWith(1, "a", {{"b c", "1"}}), "no line of Python");
  IsLeftOut("a()\n", Lines(EditKind::kBefore, 1, {"b()"}, {"os.remove('x')"}), "is no import");
}

TEST_F(PatchTest, AChangeWithinWhatAnotherReplacesIsLeftOut) {
  Write("train.py", "x = f(a=g(1))\n");
  const std::vector<Change> changes{Made(CallWith(1, "f", {{"a", "2"}})), Made(CallWith(1, "g", {{"b", "3"}}))};
  const Patch patch = WritePatch(changes, Folder());
  EXPECT_EQ(Applied(patch.diff), "x = f(a=2)\n");
  ASSERT_EQ(patch.left_out.size(), 1U);
  EXPECT_NE(patch.left_out[0].find("another change replaces line 1"), std::string::npos);
}

TEST_F(PatchTest, AClassThatTheRunChoseIsNotAssumed) {
  IsLeftOut(
      "x = getattr(optim, name)(p, **rest)\n", CallWith(1, "AdamW", {{"fused", "True"}}),
      "train.py: line 1 makes AdamW by calling getattr(optim, name), which may make something else in another run");
  IsLeftOut("x = kinds[name](p)\n", CallWith(1, "AdamW", {{"fused", "True"}}), "by calling kinds[name], which may");
}

TEST_F(PatchTest, ArgumentsOfAClassUnderAnotherNameKnowTheirPositions) {
  Edit edit = CallWith(2, "__init__", {{"num_workers", "4"}});
  edit.of = "DataLoader";
  const std::string head = "class A:\n  def __init__(self): super().__init__(";
  Becomes(StrCat(head, "data, 8, False, None, None, 0)\n"), {edit}, StrCat(head, "data, 8, False, None, None, 4)\n"));
}

TEST_F(PatchTest, AFileThatIsTakenOutLeavesTheOthers) {
  Write("a.py", "x = f()\n"), Write("b.py", "y = f()\n");
  const std::vector<Change> changes{Made(CallWith(1, "f", {{"k", "1"}}), "pin", "a.py"),
                                    Made(CallWith(1, "f", {{"k", "1"}}), "workers", "b.py")};
  Patch patch = WritePatch(changes, Folder());
  ASSERT_EQ(patch.files.size(), 2U);
  EXPECT_EQ(patch.files[1].text, "y = f(k=1)\n");
  LeaveOut(patch, "a.py", "it is mine");
  EXPECT_EQ(patch.diff, patch.files[0].diff);
  EXPECT_TRUE(patch.diff.starts_with("diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n")) << patch.diff;
  EXPECT_EQ(patch.left_out, std::vector<std::string>{"pin: what was done, in a.py:1: it is mine"});
}

TEST_F(PatchTest, AChangeThatBreaksTheScriptIsLeftOutAlone) {
  Write("train.py", "if a:\n  f()\nif b:\n\tg()\n");
  const std::vector<Change> changes{Made(Lines(EditKind::kWith, 4, {"with w():"}), "block"),
                                    Made(CallWith(2, "f", {{"x", "1"}}))};
  const Patch patch = WritePatch(changes, Folder());
  EXPECT_EQ(Applied(patch.diff), "if a:\n  f(x=1)\nif b:\n\tg()\n");
  EXPECT_EQ(patch.left_out, std::vector<std::string>{"block: train.py: the change does not fit the script: "
                                                     "indentation that does not fit"});
}

TEST_F(PatchTest, OtherChangesAreAdvice) {
  Write("lib/python3.11/site-packages/lib.py", "x = f()\n");
  Edit outside = CallWith(1, "f", {{"a", "1"}});
  outside.file = "/nowhere/else.py";
  const Change none{.fix = "sdpa", .what = "set attn_implementation=\"sdpa\"", .edit = {}};
  Change refused = Made(CallWith(1, "f", {{"a", "1"}}));
  refused.state = ChangeState::kRefused;
  const std::vector<Change> changes{
      Made({.kind = EditKind::kEnvironment, .set = {{"A", "1"}, {"B", "2"}}}, "allocator"),
      none,
      none,
      Made(outside, "workers"),
      Made(CallWith(1, "f", {{"a", "1"}}), "pin", "lib/python3.11/site-packages/lib.py"),
      refused};
  const Patch patch = WritePatch(changes, Folder());
  EXPECT_EQ(patch.diff, "");
  EXPECT_TRUE(patch.left_out.empty());
  ASSERT_EQ(patch.advice.size(), 4U);
  EXPECT_EQ(patch.advice[0], "allocator: start the command with A=1 B=2");
  EXPECT_EQ(patch.advice[1], "sdpa: set attn_implementation=\"sdpa\"");
  EXPECT_EQ(patch.advice[2],
            StrCat("workers: what was done, in /nowhere/else.py:1, which lies outside of the checkout ", Folder()));
  EXPECT_EQ(patch.advice[3], StrCat("pin: what was done, in ", PathOf("lib/python3.11/site-packages/lib.py"),
                                    ":1, which belongs to an installed package"));
}

TEST_F(PatchTest, AFileThatIsGoneIsLeftOut) {
  const std::vector<Change> changes{Made(CallWith(1, "f", {{"a", "1"}}))};
  const Patch patch = WritePatch(changes, Folder());
  EXPECT_EQ(patch.left_out, std::vector<std::string>{"fix: train.py: is no file any more"});
}

}  // namespace
}  // namespace gapless::internal
