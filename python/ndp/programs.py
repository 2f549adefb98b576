"""Bring your own protocol: state who contributes what, which noises are added and who sees what; the rest is answered.

Examples
--------
>>> import ndp
>>> p = ndp.Program(([0, 1], [1, 2]))
>>> x, z = p.contribute_all("nothing"), p.noise_all(variance=1)
>>> y = p.add_all(x, z)
>>> p.send_to_neighbors(y)
>>> p.account(observer=2).profile(1, sigma=1.0).mu
Exact(1, 'mu')
"""

from ._program import Program
from ._program_account import Attack, Designed, NoiseShift, ProgramAccount, ProgramRun, Sensitivity, Verdict
from ._published import (
    corn_dsgd,
    decor,
    dsgd,
    fresh_noise,
    gopa,
    hierarchical,
    inverse_of_lower,
    muffliato,
    randomized_gossip,
    secure_neighbor_sums,
    toeplitz,
    zip_dl,
)

__all__ = [
    "Attack",
    "Designed",
    "NoiseShift",
    "Program",
    "ProgramAccount",
    "ProgramRun",
    "Sensitivity",
    "Verdict",
    "corn_dsgd",
    "decor",
    "dsgd",
    "fresh_noise",
    "gopa",
    "hierarchical",
    "inverse_of_lower",
    "muffliato",
    "randomized_gossip",
    "secure_neighbor_sums",
    "toeplitz",
    "zip_dl",
]
