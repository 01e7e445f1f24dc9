"""The transaction coordinator: `decide_*` says what to append and answer, `apply` folds what was appended."""
