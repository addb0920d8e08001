# SPDX-License-Identifier: Apache-2.0
"""Changes that make a training faster: `optimizers`, `auto_optimizer`."""
