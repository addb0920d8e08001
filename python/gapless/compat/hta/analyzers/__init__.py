# SPDX-License-Identifier: Apache-2.0
"""Names that HTA has in its package `analyzers`."""
