"""`python -m fencepost` is the `fencepost` command."""

from fencepost.cli.main import main

main()
