# SPDX-License-Identifier: Apache-2.0
"""Analysis of recordings: `bottleneck_analyzer`."""
