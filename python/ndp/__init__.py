"""Network differential privacy: what a neighbour learns in a decentralized protocol.

A protocol on a graph says what each node sees; an accountant turns that into a loss whose class says what it may be used
for: `Exact` and `UpperBound` are guarantees, `Printed` (a paper's formula) and `Estimate` are none.

Examples
--------
>>> import ndp
>>> r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(observer=3)
>>> r
<Losses observer=3 of gossip of 2 rounds, metropolis weights: exact, max 1>
>>> r.epsilon(sigma=4.0, delta=1e-5).round(3)
array([0.   , 0.927, 0.927, 0.927])
"""

from . import accountants, frameworks, printed, programs, training, walks
from ._account import Account, Profile
from ._draw import draw
from ._grades import Estimate, Exact, Graded, Guarantee, Printed, UpperBound
from ._graph import Graph
from ._losses import Check, LeastNoise, Losses, PairwiseLosses
from ._meter import Meter, Reading, Refused
from ._ndp import LossLaw, NdpError, __version__
from ._plan import Plan, plan
from ._protocols import (
    AcceleratedGossip,
    FreshNoise,
    Gossip,
    NamedProtocol,
    NoisyGossip,
    OnePeer,
    TokenProtocol,
    Protocol,
    RandomizedGossip,
    Run,
    TimeVaryingGossip,
    accelerated_gossip,
    fresh_noise,
    gossip,
    noisy_gossip,
    one_peer,
    protocol,
    protocols,
    randomized_gossip,
    time_varying_gossip,
)
from ._refute import Counterexample, Refutation, refute
from ._rounded import upper
from ._save import Recorded, load, save
from ._statement import Statement
from ._sweep import Sweep, sweep
from ._tools import Audit, Comparison, Ledger, audit, check, compare, least_noise
from .programs import Program, ProgramAccount, ProgramRun, Sensitivity

__all__ = [
    "AcceleratedGossip",
    "Account",
    "Audit",
    "Check",
    "Comparison",
    "Counterexample",
    "Estimate",
    "Exact",
    "FreshNoise",
    "Gossip",
    "Graded",
    "Graph",
    "Guarantee",
    "LeastNoise",
    "Ledger",
    "LossLaw",
    "Losses",
    "Meter",
    "NamedProtocol",
    "NdpError",
    "NoisyGossip",
    "OnePeer",
    "PairwiseLosses",
    "TokenProtocol",
    "Plan",
    "Printed",
    "Profile",
    "Program",
    "ProgramAccount",
    "ProgramRun",
    "Protocol",
    "RandomizedGossip",
    "Reading",
    "Recorded",
    "Refutation",
    "Refused",
    "Run",
    "Sensitivity",
    "Statement",
    "Sweep",
    "TimeVaryingGossip",
    "UpperBound",
    "__version__",
    "accelerated_gossip",
    "accountants",
    "audit",
    "check",
    "compare",
    "draw",
    "frameworks",
    "fresh_noise",
    "gossip",
    "least_noise",
    "load",
    "noisy_gossip",
    "one_peer",
    "plan",
    "printed",
    "programs",
    "protocol",
    "protocols",
    "randomized_gossip",
    "refute",
    "save",
    "sweep",
    "time_varying_gossip",
    "training",
    "upper",
    "walks",
]
