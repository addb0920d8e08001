# SPDX-License-Identifier: Apache-2.0
"""`python -m gapless.compat SCRIPT`: runs a script in which the short names can be imported."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
