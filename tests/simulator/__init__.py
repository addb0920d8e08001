# SPDX-License-Identifier: Apache-2.0
"""A simulator of programs that drive a GPU, whose every duration is known: what `gapless predict` is held against.

program.py    what a training script does, as data
device.py     streams and engines: discrete events, after the CUDA programming guide
machine.py    the host's threads that drive it, and what a profiler sees of both
changes.py    the same program with faster kernels, a faster host, without synchronisations
kineto.py     the file that PyTorch's profiler would have written
script.py     how PyTorch would carry out a step
schedules.py  random programs of several kinds
cases.py      small programs, one for each thing that is easy to get wrong
judge.py      what `gapless predict` says of their recordings, beside the truth

Nothing here knows how gapless replays a recording: both are written from what the device does.
"""
