#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of the table of layouts in bench/README.md finds a missed aim, an old table and a small measurement.

usage: layouts_check_test.py
"""

from __future__ import annotations

import datetime
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from layout_table import Row, check, table_of

DAY = datetime.date(2026, 1, 1)
MET = Row("a layout", "analyze ÷ tables", 1.5, 1.5)


class Check(unittest.TestCase):
    def test_a_recent_table_that_meets_its_aims_holds(self) -> None:
        table = table_of([MET], "abc1234", DAY, 1000, True)
        self.assertEqual(check(table, DAY + datetime.timedelta(days=30)), [])

    def test_each_reason_is_given(self) -> None:
        table = table_of([MET, MET._replace(value=1.75)], "abc1234", DAY, 300, False)
        age, size, tenfold, missed = check(table, DAY + datetime.timedelta(days=31))
        self.assertIn("31 days old", age)
        self.assertIn("300 MB", size)
        self.assertIn("ten times", tenfold)
        self.assertEqual(missed, "a layout: analyze ÷ tables is 1.75, aim 1.5")

    def test_without_a_table(self) -> None:
        (problem,) = check("<!-- layouts -->\n<!-- /layouts -->", DAY)
        self.assertIn("no table of layouts", problem)


if __name__ == "__main__":
    unittest.main()
