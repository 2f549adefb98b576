"""What is said beside a number: what may differ, who looks, who is covered, what is assumed, by which theorem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from . import _ndp


class Statement:
    """What is protected, from whom, under what, and how surely: without it an epsilon is no guarantee.

    Its words are those of the command ``ndp``, made in one place.

    Attributes
    ----------
    line : str
        Everything in one line.
    paragraph : str
        Everything in sentences.
    data : dict
        Everything as data, as in the JSON of the command; nodes by their places, not their labels.
    by : list of str
        The theorems by which the numbers hold.

    Examples
    --------
    >>> import ndp
    >>> said = ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2).statement
    >>> said
    <Statement: the value of one node, anywhere in its range; observed by 2; assumed: nobody hands out what it holds in the end, no result and no model, beyond what the protocol sends>
    >>> said.data["coverage"] == ndp.gossip(([0, 1], [1, 2]), rounds=2).all_losses().statement.data["coverage"]
    False
    """

    __slots__ = ("by", "data", "line", "paragraph")

    def __init__(self, line: str, paragraph: str, data: str, by: Sequence[str]) -> None:
        import json

        self.line = line
        self.paragraph = paragraph
        self.data: dict[str, Any] = json.loads(data)
        self.by = list(by)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statement):
            return NotImplemented
        return self.data == other.data and self.paragraph == other.paragraph

    def __hash__(self) -> int:
        return hash(self.paragraph)

    def __reduce__(self) -> tuple[Any, ...]:
        import json

        return (Statement, (self.line, self.paragraph, json.dumps(self.data), self.by))

    def __str__(self) -> str:
        return self.paragraph

    def __repr__(self) -> str:
        return f"<Statement: {self.line}>"

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(self.paragraph)}</p>"


def names_of(labels: Iterable[Hashable]) -> list[str]:
    """Labels as they stand in sentences; those that would read alike, such as 1 and "1", as Python writes them."""
    labels = list(labels)
    said = [str(label) for label in labels]
    if len(set(said)) == len(said):
        return said
    alike = Counter(said)
    return [repr(label) if alike[name] > 1 else name for name, label in zip(said, labels)]


def statement_of(accounts: Sequence[_ndp.Account], labels: Iterable[Hashable]) -> Statement:
    """What is said beside the numbers of these accounts."""
    return Statement(*_ndp.statement(accounts, names_of(labels)))


def saying_of(accounts: Sequence[_ndp.Account], places: Sequence[int] | None = None) -> _ndp.Saying:
    """What the accounts of one run say of themselves, kept where they are not."""
    return _ndp.saying(accounts, places)


def statement_of_runs(
    runs: Sequence[_ndp.Saying], labels: Iterable[Hashable], only: Sequence[int] | None = None, *, chosen_by_seen: bool = False
) -> Statement:
    """What is said of several runs together; of one observer alone, where its members are given."""
    return Statement(*_ndp.statement_of_runs(runs, names_of(labels), only, chosen_by_seen))


def statements_html(statements: Iterable[Statement | None]) -> str:
    """Each statement once, below a table."""
    kept = dict.fromkeys(said for said in statements if said is not None)
    return "".join(said._repr_html_() for said in kept)
