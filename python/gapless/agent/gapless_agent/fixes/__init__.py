# SPDX-License-Identifier: Apache-2.0
"""Changes to a program that nobody edits. A fix is one module of this package, and its name is the fix's id:

    LIVE: bool                          may be switched on and off between two steps of a running program
    why_not(agent, value: str) -> str   why it cannot be applied here at all; "" when it can
    on(agent, value: str) -> str        applies it; says what it changed now, "" when it waits for an object to be made
    off(agent) -> str                   takes it back, says what it changed; only where LIVE
    cannot_switch(agent) -> str         optional: why it can only be on from the start in this program, though LIVE; "" when it can
    nothing(agent) -> str               optional: why it never took effect
    in_child(agent) -> None             optional: called in the child after a fork

Here it runs right after `import torch`, before the script goes on, or between two steps. It reports what it does later with
`agent.fixes.changed(id, what, edit)`; an object that must stay as it is, with `agent.fixes.pass_over(id, why)`; that it cannot be
applied after all, with `agent.fixes.refuse(id, why)`. Arguments of constructors are changed through `agent.constructors`, models
are found by `agent.models`, everything else goes through `agent.patches`: constructors and methods of classes, never names of modules.

Modules with an underscore in front are what several fixes share.
"""
