# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/fetch_corpus, which brings the recordings that tests/truth names."""
