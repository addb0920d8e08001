# SPDX-License-Identifier: Apache-2.0
"""Proof of a gain: `performance_validator`."""
