"""Answers that are tables: a row for each, as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class Rows(Sequence[dict[str, Any]]):
    """The rows of an answer, in order."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __getitem__(self, i: Any) -> Any:
        return self.rows[i]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


def table_html(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in HTML, with these names above it."""
    import html

    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    cells = ("".join(f"<td>{html.escape(x)}</td>" for x in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
