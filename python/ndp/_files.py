"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that is there once all of it is written, and not at all where that fails."""
    part = f"{os.fspath(path)}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(part, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def write_whole(path: str | os.PathLike[str], text: bytes) -> None:
    """All of it or nothing, whenever the machine stops."""
    with whole_file(path) as file:
        file.write(text)
