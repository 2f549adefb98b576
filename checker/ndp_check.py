#!/usr/bin/env python3
"""Checks proof files of ndp: python3 ndp_check.py FILE [--quiet]; - for what is piped in

A proof file holds a protocol, written out value by value, and for every pair of an observer and a node
shifts of noises that look to the observer like changes of the node's data (no more is learnt than they
cost), and an attack (no less is learnt than it tells). This program follows them in fractions. It is
written from docs/formats.md and docs/theory.md alone and shares no line with the libraries.

Exit code 0: accepted. 1: rejected, with the first line that fails. 2: the file cannot be read.
"""

import gzip, io, json, re, sys, zlib
from fractions import Fraction
from math import lcm

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")
MOST_DIGITS, MOST_NODES, MOST_SHOWN = 100_000, 1_000_000, 10**300

# Steps by which a value is seen, and the nodes that they name.
SEEN = {"send": ("from", "to"), "broadcast": ("from",), "publish": (), "deliver": ("to", "group"), "hold": ("by",)}

class Rejected(Exception):
    """Why a line proves nothing."""

def need(condition, why):
    if not condition:
        raise Rejected(why)

def pairs_once(pairs):
    found = dict(pairs)
    need(len(found) == len(pairs), f"a key is given twice: {[key for key, _ in pairs]}")
    return found

def parse(line):
    def inexact(text):
        return need(text != "-0" and text.removeprefix("-").isdecimal(), f"the number {text} is no exact one: write it as text, such as \"1/10\"") or int(text)
    try:
        found = json.loads(line, object_pairs_hook=pairs_once, parse_float=inexact, parse_constant=inexact, parse_int=inexact)
        need(isinstance(found, dict) and ("\\u" not in line or json.dumps(found, ensure_ascii=False).encode()), "a line is one JSON object")
    except (ValueError, RecursionError) as error:
        raise Rejected(f"this is not JSON: {error}") from None
    return found

def number(text):
    """An exact number, written as text."""
    need(isinstance(text, str) and len(text) <= MOST_DIGITS and NUMBER.match(text), f"{text!r} is no exact number")
    top, _, bottom = text.partition("/")
    need(bottom == "" or int(bottom) != 0, f"{text!r} divides by 0")
    return Fraction(int(top), int(bottom or "1"))

def whole(x, what, least=0):
    need(type(x) is int and least <= x, f"{what} is {x!r}, no whole number from {least} on")
    return x

def keys(table, *needed, optional=()):
    need(isinstance(table, dict), f"{table!r} is no table")
    for key in needed:
        need(key in table, f"the key {key!r} is missing")
    for key in table:
        need(key in needed or key in optional, f"the key {key!r} does not belong here")

class Program:
    """The protocol: values in order of time, and who sees what when."""
    def __init__(self, head):
        keys(head, "ndp-program", "nodes", optional=("holdings",))
        need(head["ndp-program"] == 1 and type(head["ndp-program"]) is int, "this is not version 1 of a program")
        self.nodes = whole(head["nodes"], "the number of nodes", 1)
        need(self.nodes <= MOST_NODES, f"{self.nodes} nodes are more than {MOST_NODES}")
        need(head.get("holdings", "assumed") == "assumed", "holdings are \"assumed\" or not said")
        self.names, self.assumed_holdings = {}, "holdings" in head
        self.values = []      # ("use", node, number) | ("noise", variance) | ("sum", [(value, weight)])
        self.story = []       # in order of time: ("value", v) | ("seen", v, event, nodes) | ("reads", v, kind, values)
        self.matrices, self.uses = {}, [0] * self.nodes

    def node(self, x):
        need(whole(x, "a node") < self.nodes, f"there is no node {x}")
        return x

    def value(self, name):
        need(isinstance(name, str) and name in self.names, f"there is no value {name!r}")
        return self.names[name]

    def new(self, name, definition):
        need(isinstance(name, str) and name not in self.names, f"the name {name!r} is taken or none")
        self.names[name] = len(self.values)
        self.values.append(definition)
        self.story.append(("value", self.names[name]))
        return self.names[name]

    def terms(self, table, what):
        need(isinstance(table, dict), f"{what} is no table of names and numbers")
        return [(self.value(name), number(weight)) for name, weight in table.items()]

    def step(self, step):
        """One line of the program."""
        if "matrix" in step:
            keys(step, "matrix", "entries")
            rows, name = step["entries"], step["matrix"]
            need(isinstance(name, str) and name not in self.matrices, f"the matrix {name!r} is there already")
            need(isinstance(rows, list) and len(rows) == self.nodes, "a matrix has a row for every node")
            need(all(isinstance(row, dict) for row in rows), "a row of a matrix is a table")
            need(all(x.isdecimal() and str(int(x)) == x for row in rows for x in row), "a column is no number")
            self.matrices[name] = [[(self.node(int(x)), number(weight)) for x, weight in row.items()] for row in rows]
        elif "contribute" in step:
            keys(step, "contribute", "node", "reads")
            node, reads, listed = self.node(step["node"]), step["reads"], []
            need(isinstance(reads, dict) or reads in ("nothing", "seen"), "what is read is hidden: this file proves nothing of it")
            if isinstance(reads, dict):
                need(list(reads) == ["seen"], "what is read is hidden: this file proves nothing of it")
                need(isinstance(reads["seen"], list), "what is read is a list")
                reads, listed = "listed", [self.value(name) for name in reads["seen"]]
            value = self.new(step["contribute"], ("use", node, self.uses[node]))
            self.uses[node] += 1
            self.story.append(("reads", value, reads, listed))
        elif "noise" in step:
            keys(step, "noise", "shared", "variance")
            need(step["shared"] == [], "who knows a noise is said by \"hold\"")
            variance = number(step["variance"])
            need(variance >= 0, "a variance is negative")
            self.new(step["noise"], ("noise", variance))
        elif "sum" in step:
            keys(step, "let", "sum")
            self.new(step["let"], ("sum", self.terms(step["sum"], "a sum")))
        elif "gossip" in step:
            keys(step, "let", "gossip", "of")
            name, new, old = step["gossip"], step["let"], step["of"]
            need(isinstance(name, str) and name in self.matrices, f"there is no matrix {name!r}")
            need(isinstance(new, list) and isinstance(old, list) and len(new) == len(old) == self.nodes, "gossip is from and to a value of every node")
            old = [self.value(name) for name in old]
            for name, row in zip(new, self.matrices[name]):
                self.new(name, ("sum", [(old[column], weight) for column, weight in row]))
        elif set(step) & set(SEEN):
            event = next(name for name in SEEN if name in step)
            keys(step, event, *SEEN[event])
            nodes = tuple(self.node(step[key]) for key in SEEN[event] if key != "group")
            if event == "deliver":
                need(isinstance(step["group"], list) and len({self.node(v) for v in step["group"]}) > 1, "a secure sum is one of two or more nodes")
            self.story.append(("seen", self.value(step[event]), event, nodes))
        elif "join" in step or "leave" in step:
            keys(step, "join" if "join" in step else "leave")
            self.node(next(iter(step.values())))
        elif "result" in step:
            keys(step, "result", "nodes")
            self.value(step["result"])
        else:
            raise Rejected(f"this step is not one of a program that is written out: {sorted(step)}")

class Observer:
    """Who looks: nodes together, and who taps edges; with nobody, whoever hears what is published."""
    def __init__(self, program, said):
        keys(said, "members", "taps")
        members, taps = said["members"], said["taps"]
        need(isinstance(members, list) and isinstance(taps, list), "members and taps are lists")
        self.members = [program.node(node) for node in members]
        need(all(isinstance(tap, list) and len(tap) == 2 for tap in taps), "a tap is a pair of two nodes")
        self.taps = [(program.node(a), program.node(b)) for a, b in taps]
        need(all(a != b for a, b in self.taps), "a tap is a pair of two nodes")
        need(len(set(self.members + self.taps)) == len(self.members + self.taps), "a member or a tap is named twice")
        self.taps = [tap for tap in self.taps if not set(tap) & set(self.members)]  # members see what they send and receive
        self.program, self.assumes, self.seen = program, False, set()
        known = set()         # what follows from what is seen, at each moment
        own = {}              # what each node has contributed so far
        for what, value, *more in program.story:
            kind, first, *_ = program.values[value]
            if what == "seen":
                if self.sees(*more):
                    self.seen.add(value)
                    known.add(value)
            elif what == "reads":
                self.assumes |= more[0] == "seen"
                mine = own.setdefault(first, set())
                need(all(v in known or v in mine for v in more[1]), f"a contribution of node {first} reads what the observer need not have seen by then")
                mine.add(value)
            elif kind == "use" and first in self.members or kind == "noise" and first == 0:
                known.add(value)
            elif kind == "sum" and all(v in known for v, _ in first):
                known.add(value)

    def sees(self, event, nodes):
        return event in ("broadcast", "publish") or event == "send" and nodes in self.taps or any(v in self.members for v in nodes)

    def cost(self, source, change, shift):
        """The shift of every noise and what it costs, if the observer cannot tell it from the change."""
        program, moves, price = self.program, {}, dict(shift)
        for v, by in shift:
            kind, variance, *_ = program.values[v]
            need(kind == "noise", "what is shifted is no noise")
            need(by == 0 or variance > 0, "a noise of variance 0 is shifted")
        for v, (kind, *rest) in enumerate(program.values):
            if kind == "use":
                move = change[rest[1]] if rest[0] == source else 0
            elif kind == "noise":
                move = -price.get(v, 0)
            else:
                move = sum(weight * moves[w] for w, weight in rest[0] if w in moves)
            if move:
                need(v not in self.seen, "the observer sees a value that moves: the shift does not hide the change")
                moves[v] = move
        return {v: by for v, by in price.items() if by}

    def told(self, source, change, sums):
        """What an attack tells at least: the squared move of its combination over its variance."""
        program, open_ = self.program, dict(sums)
        need(self.seen.issuperset(open_), "an attack uses a value that the observer does not see")
        move, variance = Fraction(0), Fraction(0)
        for v in range(len(program.values) - 1, -1, -1):
            weight, (kind, first, *rest) = open_.pop(v, 0), program.values[v]
            if kind == "sum" and weight:
                for w, share in first:
                    open_[w] = open_.get(w, 0) + weight * share
            elif kind == "use":
                move += weight * change[rest[0]] if first == source else 0
            elif kind == "noise" and v not in self.seen:
                variance += weight * weight * first
        need(move == 0 or variance > 0, "an attack shows the change without noise: there is no upper end")
        return move * move / variance if move else Fraction(0)

def is_semidefinite(rows):
    """Whether a symmetric matrix of whole numbers is positive semidefinite, by elimination without fractions."""
    rows, before = [list(row) for row in rows], 1
    for i, pivot in enumerate(rows):
        if pivot[i] < 0 or pivot[i] == 0 and any(pivot[i + 1:]):
            return False
        for row in rows[i + 1:] if pivot[i] else []:
            factor = row[i]
            row[i:] = [(x * pivot[i] - factor * y) // before for x, y in zip(row[i:], pivot[i:])]
        before = pivot[i] or before
    return True

class Checker:
    """Reads a file from its first line to its last."""
    def __init__(self):
        self.set, self.program, self.done, self.observers = None, None, False, {}
        self.ended, self.proved, self.largest, self.assumes = False, set(), Fraction(0), False

    def line(self, line):
        need(not self.ended, "there is a line after the end")
        said = parse(line)
        if self.set is None:
            keys(said, "ndp-proof", "set")
            need(said["ndp-proof"] == 1 and type(said["ndp-proof"]) is int, "this is not version 1 of a proof")
            self.read_set(said["set"])
        elif self.program is None:
            self.program = Program(said)
        elif not self.done and said == {"end": "program"}:
            self.done = True
        elif not self.done:
            self.program.step(said)
        elif "end" in said:
            self.end(said)
        else:
            self.pair(said)

    def read_set(self, said):
        self.detail, self.along = said, None
        if isinstance(said, dict) and list(said) == ["vectors"]:
            keys(said["vectors"], "dimension")
            need(whole(said["vectors"]["dimension"], "the dimension", 1) < 1 << 64, "the dimension is 2^64 or more")
            self.set = "vectors"
        elif isinstance(said, dict) and list(said) == ["along"] and isinstance(said["along"], list):
            self.set, self.along = "along", [number(x) for x in said["along"]]
        else:
            need(said in ("use-level", "same-direction", "signs"), f"this set is not known: {said!r}")
            self.set = said

    def directions(self, uses):
        """The changes for which shifts are asked for."""
        if self.set == "same-direction":
            return [[Fraction(1)] * uses]
        if self.set == "along":
            need(len(self.along) == uses, "the set has another number of uses than the node")
            return [self.along]
        return [[Fraction(int(i == j)) for j in range(uses)] for i in range(uses)]

    def is_allowed(self, change):
        """Whether the change of an attack belongs to the set."""
        if self.set in ("same-direction", "along"):
            return change == self.directions(len(change))[0]
        return all(abs(x) <= 1 for x in change) and (self.set != "use-level" or sum(x != 0 for x in change) <= 1)

    def products(self, shifts):
        """What shifts cost, and their products where all uses change, in whole multiples of a fraction."""
        variances = {v: self.program.values[v][1] for shift in shifts for v in shift}
        common = lcm(*(by.denominator for shift in shifts for by in shift.values()))
        tops = lcm(*(x.numerator for x in variances.values()))
        price = {v: tops // x.numerator * x.denominator for v, x in variances.items()}
        whole = [{v: by.numerator * (common // by.denominator) for v, by in shift.items()} for shift in shifts]
        joint = self.set in ("signs", "vectors")
        both = lambda a, b: sum(x * price[v] * b[v] for v, x in a.items() if v in b)
        return [[both(a, b) if joint or a is b else 0 for b in whole] for a in whole], tops * common * common

    def pair(self, said):
        keys(said, "observer", "source", "upper", "lower", "shifts", "attack", optional=("diagonal",))
        who = json.dumps(said["observer"], sort_keys=True)
        if who not in self.observers:
            self.observers = {who: Observer(self.program, said["observer"])}
        observer, source = self.observers[who], self.program.node(said["source"])
        need(source not in observer.members, "the node is a member of those who look")
        upper, lower, shifts = number(said["upper"]), number(said["lower"]), said["shifts"]
        directions = self.directions(self.program.uses[source])
        need(isinstance(shifts, list) and len(shifts) == len(directions), f"{len(directions)} shifts are needed")
        found = [observer.cost(source, change, self.program.terms(shift, "a shift")) for change, shift in zip(directions, shifts)]
        gram, below = self.products(found)
        if "diagonal" in said:
            need(self.set in ("signs", "vectors"), "a diagonal belongs to signs and vectors")
            need(isinstance(said["diagonal"], list) and len(said["diagonal"]) == len(gram), "the diagonal has another length")
            diagonal = [number(x) for x in said["diagonal"]]
            common = lcm(below, *(x.denominator for x in diagonal))
            rest = [[int(diagonal[i] * common) * (i == j) - x * (common // below) for j, x in enumerate(row)] for i, row in enumerate(gram)]
            need(is_semidefinite(rest), "the diagonal does not cover the costs")
            proved = sum(diagonal, Fraction(0))
        elif self.set in ("signs", "vectors"):
            proved = Fraction(sum(abs(x) for row in gram for x in row), below)
        else:
            proved = Fraction(max((row[i] for i, row in enumerate(gram)), default=0), below)
        need(proved <= upper, f"the shifts prove {proved}, more than the upper end {upper}")
        keys(said["attack"], "change", "sum")
        change = said["attack"]["change"]
        need(isinstance(change, list) and len(change) == self.program.uses[source], "an attack says how every use changes")
        change = [number(x) for x in change]
        need(self.is_allowed(change), "the change of the attack is not in the set")
        told = observer.told(source, change, self.program.terms(said["attack"]["sum"], "an attack"))
        need(lower <= told, f"the attack tells {told}, less than the lower end {lower}")
        place = (tuple(sorted(observer.members)), tuple(sorted(observer.taps)), source)
        need(place not in self.proved, "this pair was there before")
        self.proved.add(place)
        self.largest = max(self.largest, upper)
        self.assumes |= observer.assumes

    def end(self, said):
        keys(said, "end", "pairs", "largest", "covers")
        need(said["end"] == "proof", "this does not end a proof")
        need(self.proved, "no pair is proved")
        need(type(said["pairs"]) is int and said["pairs"] == len(self.proved), f"{len(self.proved)} pairs are proved, not {said['pairs']}")
        need(self.largest <= number(said["largest"]), f"the largest loss is {self.largest}")
        need(said["covers"] in ("every-pair", "these-pairs"), "what is covered is not said")
        self.every = said["covers"] == "every-pair"
        if self.every:
            n = self.program.nodes
            missing = [f"node {v} about node {u}" for v in range(n) for u in range(n) if u != v and ((v,), (), u) not in self.proved]
            need(not missing, f"{len(missing)} pairs are missing, the first: {missing[:1]}")
        self.ended = True

    def statement(self):
        differs = {
            "use-level": "one use of one node's data changes, by a vector of length at most 1; its other uses do not change",
            "same-direction": "all uses of one node's data change by the same vector of length at most 1",
            "along": f"the uses of one node's data change by one vector of length at most 1, times {self.detail}",
            "signs": "every use of one node's data changes by a number of size at most 1",
            "vectors": f"every use of one node's data changes by a vector of length at most 1: {self.detail}",
        }[self.set]
        who = "every node alone, about every other node" if self.every else "the observers and nodes that the file names, and no others"
        yield f"what may differ: {differs}"
        yield f"who looks: {who} ({len(self.proved)} pairs)"
        yield "what they see: what the file says that they are sent, overhear, hold or is published, and their own data; they follow the protocol"
        about = "" if self.largest.denominator == 1 or self.largest > MOST_SHOWN else f" (about {float(self.largest):.6g} / s^2)"
        yield f"proved: with noises of standard deviation s times the root of their variance, each view is mu-GDP, mu^2 at most {self.largest} / s^2{about}"
        yield "assumed: noises are drawn as the file says, independently, and known to nobody else; secure sums show their receivers the sums alone"
        yield "assumed: contributions depend on their owner's data, and on nothing else but what the file says that they read"
        if self.assumes:
            yield "assumed: what contributions read had been seen by the observer; the file does not list it"
        said = ", and the file says that nobody has checked it" if self.program.assumed_holdings else ""
        yield f"assumed: nodes can form what they send: this is not checked here{said}"

def check(lines, quiet=False, say=print):
    """Checks the lines of a file; whether they are accepted."""
    checker, count = Checker(), 0
    for count, line in enumerate(lines, 1):
        try:
            if line.strip(" \t\r\n") and not line.startswith("#"):
                checker.line(line)
        except Rejected as why:
            say(f"rejected: line {count}: {why}")
            return False
    if not checker.ended:
        say(f"rejected: the file ends after line {count} without its last line")
        return False
    for sentence in () if quiet else checker.statement():
        say(sentence)
    say("accepted")
    return True

def main(words):
    quiet, files = "--quiet" in words, [word for word in words if word != "--quiet"]
    if len(files) != 1 or files[0] in ("-h", "--help"):
        print(__doc__)
        return 2
    # Whole numbers in proofs may be longer than Python reads by default.
    getattr(sys, "set_int_max_str_digits", lambda digits: None)(0)
    try:
        with sys.stdin.buffer if files[0] == "-" else open(files[0], "rb") as file:
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            with io.TextIOWrapper(gzip.GzipFile(fileobj=file) if packed else file, encoding="utf-8", newline="\n") as lines:
                return 0 if check(lines, quiet) else 1
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        print(f"ndp_check: {files[0]}: {error}", file=sys.stderr)
        return 2

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
