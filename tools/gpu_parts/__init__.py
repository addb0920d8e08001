# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/gpu_check: what is worth measuring where a GPU is lent for half an hour."""
