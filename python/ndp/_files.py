"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
import threading


def write_whole(path: str | os.PathLike[str], text: bytes) -> None:
    """All of it or nothing, whenever the machine stops."""
    part = f"{os.fspath(path)}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(part, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
