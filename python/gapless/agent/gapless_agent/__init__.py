# SPDX-License-Identifier: Apache-2.0
"""The agent: what runs inside a training process, standard library and torch only.

`bootstrap` waits for `import torch`; `install` then hooks torch; `agent` is the state they share. docs/agent_protocol.md says
what the agent writes and obeys. Importing this package costs nothing and changes nothing.
"""
