"""What each API answers: a file for each family, a function for each API, named like it."""
