# SPDX-License-Identifier: Apache-2.0
"""Records the first optimiser steps of a training, so that the program can decide whether another run is the same training.

docs/parity.md describes the runs and the rule, python/gapless/agent/README.md the files. `watch.py` connects everything to the training and disconnects itself after the
last step; `prints.py` reduces tensors to numbers, `batches.py` digests what goes into a step, `shadow.py` checks the update, `modules.py`
finds the models, `noise.py` makes the probe's noise, `files.py` writes and reads a recording. Nothing is decided here.
"""
