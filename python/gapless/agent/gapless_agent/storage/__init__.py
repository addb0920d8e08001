# SPDX-License-Identifier: Apache-2.0
"""Measures the storage and the decoding of samples for `gapless tune storage`: `python -m gapless_agent.storage PLAN RESULT`.

Both are JSON files. The plan has `files` (paths in the order of loading), `decoder` (the library that decodes them in the program, or ""),
`folder` (an empty folder for copies), `memory_folder` (another one in memory, or ""), `most_files`, `most_bytes`, `rounds`, `seconds` and
`seed`. The result is described in __main__.py. Files of the plan are only read. Whoever made the folders removes them.
"""
