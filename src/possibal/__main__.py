"""`python -m possibal` does what `possibal` does."""

import sys

from possibal.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
