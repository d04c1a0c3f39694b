"""`python -m vault_memory` is the command line."""

import sys

from vault_memory.cli import main

if __name__ == "__main__":
    sys.exit(main())
