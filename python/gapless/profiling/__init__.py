# SPDX-License-Identifier: Apache-2.0
"""Recording of a training: `profile_collector`."""
