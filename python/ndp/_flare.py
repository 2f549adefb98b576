"""NVIDIA FLARE: a filter that clips, draws noise and counts what was sent, in files that outlive the process."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._calibrated import calibrated, noised
from ._checks import _whole
from ._meter import _floats, _like
from ._ndp import NdpError
from ._files import write_whole
from ._rounded import UpperEnd

#: What the name of a site may be made of, since it names a folder.
_SITE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
#: The class of the filter, once it was made.
_MADE: list[Any] = []


class Count:
    """How many updates were sent, as files of a folder: the update ``k`` may be sent by whoever made the file ``k``.

    A file is made once, by one process, whole or not at all: there is nothing to lock, and nothing to be cut off.
    """

    def __init__(self, folder: str, settings: dict[str, int | float]) -> None:
        self.folder, self.settings = folder, {**settings, "rounds": _whole(settings["rounds"], "rounds")}
        self._known = 0

    def take(self) -> int:
        """The number of the next update, on disk before it is returned; refused beyond ``rounds``."""
        os.makedirs(self.folder, exist_ok=True)
        self._agree()
        rounds = self.settings["rounds"]
        while self._known < rounds:
            self._known += 1
            try:
                os.close(os.open(os.path.join(self.folder, str(self._known)), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                continue
            self._synced()
            return self._known
        raise NdpError(f"the noise was calibrated for {rounds} rounds, and as many updates were sent: nothing more is ({self.folder})")

    def _agree(self) -> None:
        path = os.path.join(self.folder, "settings.json")
        if not os.path.exists(path):
            # They are there before the first number is, whoever writes them.
            if any(name.isdigit() for name in os.listdir(self.folder)) and not os.path.exists(path):
                raise NdpError(f"{self.folder} counts updates, but its settings.json is gone: how much noise they had is not known")
            part = f"{path}.{os.getpid()}-{threading.get_ident()}"
            write_whole(part, (json.dumps({"ndp-count": 1, **self.settings}) + "\n").encode())
            # Of several processes the first.
            with contextlib.suppress(FileExistsError):
                os.link(part, path)
            os.unlink(part)
        try:
            with open(path, "rb") as file:
                found = json.load(file)
        except ValueError:
            found = None
        if found != {"ndp-count": 1, **self.settings}:
            raise NdpError(
                f"{path} counts for other settings than {self.settings}: updates with other noise are another release, whose losses add; "
                "count them in a folder of their own"
            )

    def _synced(self) -> None:
        """The names of new files, too, are on disk; Windows has no such call for folders."""
        if os.name != "nt":
            for folder in (self.folder, os.path.dirname(os.path.abspath(self.folder))):
                handle = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)


def flare(
    *,
    epsilon: float,
    delta: float,
    rounds: int,
    clip: float,
    folder: str,
    public_meta: Sequence[str] = (),
    seed: int | None = None,
) -> Any:
    """A filter of task results for NVIDIA FLARE whose noise keeps ``(epsilon, delta)`` over all rounds of a training.

    As `flower`: protected are all data of one site, replaced by other data, from whoever sees every update that it sends. Each update,
    a ``DXO`` of kind ``WEIGHT_DIFF``, is clipped to ``clip`` and gets Gaussian noise of deviation ``sigma``. Results of any other kind
    are blocked, a failed task is passed on as its return code alone, and of ``meta`` nothing is sent but what is named. Numbers that
    are integers are sent as 0.

    The count is in ``folder``, one for each site by its name, on disk before an update is handed on: it goes on after a restart, and in
    another job. An update that was counted and not sent, because of a crash, say, is lost. Assumed is that the folder is kept, that
    names and shapes of arrays do not depend on the data, and that no result leaves on a way around the filter. In a
    scope of the site's ``privacy.json`` it stands before the results of all tasks of the jobs in this scope; in a job before those of
    the tasks alone that are named, and a name with ``"*"`` is none: version 2.9 filters nothing then. FLARE's simulator reads no
    ``privacy.json`` of sites. Not protected is who takes part and when.

    Parameters
    ----------
    epsilon, delta, rounds, clip
        As in `flower`.
    folder : str
        Where updates are counted, an absolute path, the same after a restart.
    public_meta : sequence of str
        Keys of ``meta`` that are sent as they are, because they are public; as ``"NUM_STEPS_CURRENT_ROUND"`` must be where the
        aggregator weights by it.
    seed : int, optional
        For tests alone.

    Returns
    -------
    nvflare.apis.filter.Filter
        With ``sigma``, ``kept`` (the `Guarantee` on epsilon), and as ``ndp.frameworks.FlareFilter`` in configurations.
    """
    return filter_class()(epsilon, delta, rounds, clip, folder, list(public_meta), seed)


def filter_class() -> Any:
    """The class of the filter, made once, when NVIDIA FLARE is there."""
    if not _MADE:
        base: Any = importlib.import_module("nvflare.apis.filter").Filter
        # The name by which configurations find it.
        _MADE.append(type("FlareFilter", (_Filter, base), {"__module__": "ndp.frameworks", "__doc__": _Filter.__doc__}))
    return _MADE[0]


class _Filter:
    """Clips, adds noise and counts; made by `flare`."""

    # Attributes have the names of the arguments: the job API writes configurations from them.
    def __init__(
        self,
        epsilon: float,
        delta: float,
        rounds: int,
        clip: float,
        folder: str,
        public_meta: list[str] | None = None,
        seed: int | None = None,
    ) -> None:
        parent: Any = super()
        parent.__init__()
        whole = calibrated(epsilon, delta, rounds, clip)
        if not os.path.isabs(folder):
            raise NdpError(f"folder must be an absolute path, got {folder!r}: jobs run in folders that are wiped, and with one its count")
        self.epsilon, self.delta, self.rounds, self.clip = epsilon, delta, _whole(rounds, "rounds"), clip
        self.folder, self.public_meta, self.seed = os.fspath(folder), list(public_meta or ()), seed
        self.sigma, self.kept = UpperEnd(whole.sigma), whole.epsilon(delta=delta)
        self._rng = None if seed is None else np.random.default_rng(seed)
        self._counts: dict[str, Count] = {}

    def process(self, shareable: Any, fl_ctx: Any) -> Any:
        """What NVIDIA FLARE calls; what it raises blocks the result."""
        dxos: Any = importlib.import_module("nvflare.apis.dxo")
        if fl_ctx.get_prop("__filter_dir__") == "in":
            raise NdpError("the filter stands where results are received, and they were sent without noise: it belongs to the sites")
        code = shareable.get_return_code()
        if code != "OK":
            codes: Any = importlib.import_module("nvflare.apis.fl_constant").ReturnCode
            if code not in {value for name, value in vars(codes).items() if name.isupper()}:
                raise NdpError("a return code that NVIDIA FLARE does not know is blocked: it may say what is in the data")
            return importlib.import_module("nvflare.apis.shareable").make_reply(code)
        try:
            found = dxos.from_shareable(shareable)
        except ValueError as wrong:
            raise NdpError(f"a result that would be sent without noise is blocked: {wrong}") from None
        if found.data_kind != dxos.DataKind.WEIGHT_DIFF:
            raise NdpError(
                f"a result of kind {str(found.data_kind)!r} would be sent without noise and is blocked: send WEIGHT_DIFF "
                "(params_transfer_type DIFF), and evaluate on the server"
            )
        numbers = {key: np.asarray(_floats(part, key)) for key, part in found.data.items()}
        trained = {key: x for key, x in numbers.items() if _is_float(found.data[key])}
        changes = noised(trained, self.clip, self.sigma, self._rng)
        # Before the update is handed over. What is counted and then not sent is lost.
        self._count(fl_ctx).take()
        sent = {key: _like_part(part, changes.get(key), numbers[key].shape) for key, part in found.data.items()}
        meta = {key: found.meta[key] for key in self.public_meta if key in (found.meta or {})}
        return dxos.DXO(dxos.DataKind.WEIGHT_DIFF, sent, meta).to_shareable()

    def add_to_fed_job(self, job: Any, ctx: Any, **kwargs: Any) -> Any:
        """What the job API calls: tasks are named, since it takes ``"*"`` for the name of one, and filters no other."""
        tasks = kwargs.get("tasks")
        named = isinstance(tasks, list) and tasks and all(isinstance(task, str) and task and "*" not in task for task in tasks)
        if not named:
            raise NdpError(f"a filter for the tasks {tasks!r} filters none of them: name them, as tasks=['train']")
        kind = kwargs.get("filter_type")
        if kind != "TASK_RESULT":
            raise NdpError(f"a filter of kind {kind!r} does not filter what a site sends: filter_type must be TASK_RESULT")
        parent: Any = super()
        return parent.add_to_fed_job(job, ctx, **kwargs)

    def _count(self, fl_ctx: Any) -> Count:
        site = str(fl_ctx.get_identity_name())
        if not _SITE.fullmatch(site):
            raise NdpError(f"a site of the name {site!r} has no folder to count in: letters, digits, '.', '-' and '_' make a name")
        settings = {"rounds": self.rounds, "clip": float(self.clip), "sigma": float(self.sigma)}
        return self._counts.setdefault(site, Count(os.path.join(self.folder, site), settings))


def _is_float(part: Any) -> bool:
    return bool(part.is_floating_point()) if hasattr(part, "is_floating_point") else np.asarray(part).dtype.kind == "f"


def _like_part(part: Any, change: Any, shape: tuple[int, ...]) -> Any:
    """The noised numbers, or zeros, in the type of what was to be sent."""
    if change is None:
        return part * 0 if hasattr(part, "detach") else np.zeros(shape, np.asarray(part).dtype)
    return _like(part, change)
