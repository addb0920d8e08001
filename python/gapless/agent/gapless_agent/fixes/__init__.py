# SPDX-License-Identifier: Apache-2.0
"""Changes to a program that nobody edits. A fix is one module of this package, and its name is the fix's id: a class of fix.py's `ProgramFix`,
which says what each method is for. The module's last line names the class `FIX`.

Modules with an underscore in front are what several fixes share: `ModelFix` for those that work on the model, `LoaderFix` and `DdpFix`.
"""
