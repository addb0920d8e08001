# SPDX-License-Identifier: Apache-2.0
"""The agent: what runs inside a training process, standard library and torch only.

`bootstrap` waits for `import torch`; `install` then makes the parts and hooks torch; each part is given a `context`, and beside it the
parts that it builds on. python/gapless/agent/README.md says what the agent writes and obeys. Importing this package costs nothing and changes nothing.
"""
