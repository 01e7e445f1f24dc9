"""Our error codes are Kafka's: the same numbers under the same names as in kio's list."""

import kio.schema.errors

from fencepost.errors import ErrorCode


def test_error_codes_have_the_names_and_numbers_of_kio() -> None:
    theirs = {code.name.upper(): int(code.value) for code in kio.schema.errors.ErrorCode}
    assert {code.name: int(code) for code in ErrorCode} == theirs
