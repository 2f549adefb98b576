#!/usr/bin/env python3
"""Checks proof files of ndp: python3 ndp_check.py FILE [--quiet]; - for what is piped in

A proof file holds a protocol, written out value by value, and for every pair of an observer and a node two
vectors that prove what the observer learns about the node: a shift of noises that looks to the observer like
the change of the node's data (no more is learnt than it costs), and an attack (no less is learnt than it
tells). This program follows both through the protocol in fractions. It needs no rank, no rounding and no
other file; it is written from docs/formats.md and docs/theory.md alone and shares no line with the libraries.

Exit code 0: accepted. 1: rejected, with the first line that fails. 2: the file cannot be read.
"""

import gzip
import io
import json
import re
import sys
from fractions import Fraction

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")
MOST_DIGITS = 100_000
MOST_NODES = 1_000_000

class Rejected(Exception):
    """Why a line proves nothing."""

def need(condition, why):
    if not condition:
        raise Rejected(why)

def pairs_once(pairs):
    found = {}
    for key, value in pairs:
        need(key not in found, f"the key {key!r} is given twice")
        found[key] = value
    return found

def no_float(text):
    raise Rejected(f"the number {text} is no exact one: write it as text, such as \"1/10\"")

def parse(line):
    try:
        found = json.loads(line, object_pairs_hook=pairs_once, parse_float=no_float, parse_constant=no_float)
    except (ValueError, RecursionError) as error:
        raise Rejected(f"this is not JSON: {error}") from None
    need(isinstance(found, dict), "a line is one JSON object")
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

def keys(step, *needed, optional=()):
    for key in needed:
        need(key in step, f"the key {key!r} is missing")
    for key in step:
        need(key in needed or key in optional, f"the key {key!r} does not belong here")

class Program:
    """The protocol: values in order of time, and who sees what when."""

    def __init__(self, head):
        keys(head, "ndp-program", "nodes", optional=("holdings",))
        need(head["ndp-program"] == 1 and type(head["ndp-program"]) is int, "this is not version 1 of a program")
        self.nodes = whole(head["nodes"], "the number of nodes", 1)
        need(self.nodes <= MOST_NODES, f"{self.nodes} nodes are more than {MOST_NODES}")
        need(head.get("holdings", "assumed") == "assumed", "holdings are \"assumed\" or not said")
        self.assumed_holdings = "holdings" in head
        self.names = {}
        self.values = []      # ("use", node, number) | ("noise", variance) | ("sum", [(value, weight)])
        self.story = []       # in order of time: ("value", v) | ("seen", v, how) | ("reads", v, kind, values)
        self.matrices = {}
        self.uses = [0] * self.nodes

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
            found = []
            for row in rows:
                need(isinstance(row, dict), "a row of a matrix is a table")
                need(all(column.isdecimal() and str(int(column)) == column for column in row), "a column is no number")
                found.append([(self.node(int(column)), number(weight)) for column, weight in row.items()])
            self.matrices[name] = found
        elif "contribute" in step:
            keys(step, "contribute", "node", "reads")
            node, reads = self.node(step["node"]), step["reads"]
            if isinstance(reads, dict):
                need(len(reads) == 1 and set(reads) <= {"seen"}, "what is read is hidden: this file proves nothing of it")
                need(isinstance(reads["seen"], list), "what is read is a list")
                reads = ("listed", [self.value(name) for name in reads["seen"]])
            else:
                need(reads in ("nothing", "seen"), "what is read is hidden: this file proves nothing of it")
                reads = (reads, [])
            value = self.new(step["contribute"], ("use", node, self.uses[node]))
            self.uses[node] += 1
            self.story.append(("reads", value) + reads)
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
            rows, new, old = self.matrices.get(step["gossip"]), step["let"], step["of"]
            need(rows is not None, f"there is no matrix {step['gossip']!r}")
            need(isinstance(new, list) and isinstance(old, list) and len(new) == len(old) == self.nodes, "gossip is from and to a value of every node")
            old = [self.value(name) for name in old]
            for name, row in zip(new, rows):
                self.new(name, ("sum", [(old[column], weight) for column, weight in row]))
        elif "send" in step:
            keys(step, "send", "from", "to")
            how = ("message", self.node(step["from"]), self.node(step["to"]))
            self.story.append(("seen", self.value(step["send"]), how))
        elif "broadcast" in step or "publish" in step:
            keys(step, *(("broadcast", "from") if "broadcast" in step else ("publish",)))
            self.node(step.get("from", 0))
            self.story.append(("seen", self.value(step.get("broadcast", step.get("publish"))), ("all",)))
        elif "deliver" in step or "hold" in step:
            keys(step, *(("deliver", "to", "group") if "deliver" in step else ("hold", "by")))
            node = self.node(step.get("to", step.get("by")))
            self.story.append(("seen", self.value(step.get("deliver", step.get("hold"))), ("node", node)))
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
        self.taps = []
        for tap in taps:
            need(isinstance(tap, list) and len(tap) == 2, "a tap is a pair of nodes")
            self.taps.append((program.node(tap[0]), program.node(tap[1])))
        need(len(set(self.members)) == len(self.members), "a member is named twice")
        self.program, self.assumes, self.seen = program, False, set()
        known = set()         # what follows from what is seen, at each moment
        own = {}              # what each node has contributed so far
        for event in program.story:
            if event[0] == "seen":
                if self.sees(event[2]):
                    self.seen.add(event[1])
                    known.add(event[1])
            elif event[0] == "reads":
                _, value, kind, read = event
                self.assumes |= kind == "seen"
                node = program.values[value][1]
                if node not in self.members:
                    for v in read:
                        need(v in known or v in own.get(node, ()), f"a contribution of node {node} reads what the observer need not have seen by then")
                own.setdefault(node, set()).add(value)
            else:
                kind, *rest = program.values[event[1]]
                if kind == "use" and rest[0] in self.members or kind == "noise" and rest[0] == 0:
                    known.add(event[1])
                elif kind == "sum" and all(v in known for v, _ in rest[0]):
                    known.add(event[1])

    def sees(self, how):
        if how[0] == "message":
            return how[1] in self.members or how[2] in self.members or how[1:] in self.taps
        return how[0] == "all" or how[1] in self.members

    def cost(self, source, change, shift):
        """The shift of every noise and what it costs, if the observer cannot tell it from the change."""
        program, moves, price = self.program, {}, {}
        for v, by in shift:
            kind, *rest = program.values[v]
            need(kind == "noise", "what is shifted is no noise")
            if by:
                need(rest[0] > 0, "a noise of variance 0 is shifted")
                price[v] = by
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
        return price

    def told(self, source, change, sums):
        """What an attack tells at least: the squared move of its combination over its variance."""
        program, open_ = self.program, {}
        for v, weight in sums:
            need(v in self.seen, "an attack uses a value that the observer does not see")
            open_[v] = weight
        move, variance = Fraction(0), Fraction(0)
        for v in range(len(program.values) - 1, -1, -1):
            weight = open_.pop(v, 0)
            if not weight:
                continue
            kind, *rest = program.values[v]
            if kind == "sum":
                for w, share in rest[0]:
                    open_[w] = open_.get(w, 0) + weight * share
            elif kind == "use":
                move += weight * change[rest[1]] if rest[0] == source else 0
            elif v not in self.seen:
                variance += weight * weight * rest[0]
        if move == 0:
            return Fraction(0)
        need(variance > 0, "an attack shows the change without noise: there is no upper end")
        return move * move / variance

def least_eigenvalue_is_not_negative(rows):
    """Whether a symmetric matrix of fractions is positive semidefinite, by elimination."""
    rows = [list(row) for row in rows]
    for i in range(len(rows)):
        if rows[i][i] < 0 or rows[i][i] == 0 and any(rows[i][j] for j in range(i + 1, len(rows))):
            return False
        if rows[i][i]:
            for k in range(i + 1, len(rows)):
                factor = rows[k][i] / rows[i][i]
                for j in range(i, len(rows)):
                    rows[k][j] -= factor * rows[i][j]
    return True

class Checker:
    """Reads a file from its first line to its last."""

    def __init__(self):
        self.set, self.program, self.done, self.observers = None, None, False, {}
        self.ended, self.proved, self.largest, self.assumes = False, {}, Fraction(0), False

    def line(self, line):
        need(not self.ended, "there is a line after the end")
        said = parse(line)
        if self.set is None:
            keys(said, "ndp-proof", "set")
            need(said["ndp-proof"] == 1 and type(said["ndp-proof"]) is int, "this is not version 1 of a proof")
            self.read_set(said["set"])
        elif self.program is None:
            self.program = Program(said)
        elif not self.done:
            if said == {"end": "program"}:
                self.done = True
            else:
                self.program.step(said)
        elif "end" in said:
            self.end(said)
        else:
            self.pair(said)

    def read_set(self, said):
        self.along = None
        if isinstance(said, dict):
            need(len(said) == 1, "a set is one word or one key")
            (kind, more), = said.items()
            if kind == "vectors":
                keys(more, "dimension")
                whole(more["dimension"], "the dimension", 1)
            else:
                need(kind == "along" and isinstance(more, list), f"this set is not known: {kind!r}")
                self.along = [number(x) for x in more]
        else:
            need(said in ("use-level", "same-direction", "signs"), f"this set is not known: {said!r}")
            kind = said
        self.set, self.detail = kind, said

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
        if self.set == "use-level":
            return sum(x != 0 for x in change) <= 1 and all(abs(x) <= 1 for x in change)
        if self.set in ("same-direction", "along"):
            return change == self.directions(len(change))[0]
        return all(abs(x) <= 1 for x in change)

    def pair(self, said):
        keys(said, "observer", "source", "upper", "lower", "shifts", "attack", optional=("diagonal",))
        need(isinstance(said["observer"], dict), "an observer is a table")
        who = json.dumps(said["observer"], sort_keys=True)
        if who not in self.observers:
            self.observers = {who: Observer(self.program, said["observer"])}
        observer, source = self.observers[who], self.program.node(said["source"])
        need(source not in observer.members, "the node is a member of those who look")
        upper, lower, shifts = number(said["upper"]), number(said["lower"]), said["shifts"]
        directions = self.directions(self.program.uses[source])
        need(isinstance(shifts, list) and len(shifts) == len(directions), f"{len(directions)} shifts are needed")
        found = []
        for change, shift in zip(directions, shifts):
            found.append(observer.cost(source, change, self.program.terms(shift, "a shift")))
        values = self.program.values
        gram = [[sum((x * b[v] / values[v][1] for v, x in a.items() if v in b), Fraction(0)) for b in found] for a in found]
        if "diagonal" in said:
            need(self.set in ("signs", "vectors"), "a diagonal belongs to signs and vectors")
            need(isinstance(said["diagonal"], list) and len(said["diagonal"]) == len(gram), "the diagonal has another length")
            diagonal = [number(x) for x in said["diagonal"]]
            rest = [[(diagonal[i] if i == j else 0) - x for j, x in enumerate(row)] for i, row in enumerate(gram)]
            need(least_eigenvalue_is_not_negative(rest), "the diagonal does not cover the costs")
            proved = sum(diagonal, Fraction(0))
        elif self.set in ("signs", "vectors"):
            proved = sum((abs(x) for row in gram for x in row), Fraction(0))
        else:
            proved = max((gram[i][i] for i in range(len(gram))), default=Fraction(0))
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
        self.proved[place] = upper
        self.largest = max(self.largest, upper)
        self.assumes |= observer.assumes

    def end(self, said):
        keys(said, "end", "pairs", "largest", "covers")
        need(said["end"] == "proof", "this does not end a proof")
        need(type(said["pairs"]) is int and said["pairs"] == len(self.proved), f"{len(self.proved)} pairs are proved, not {said['pairs']}")
        need(self.largest <= number(said["largest"]), f"the largest loss is {self.largest}")
        need(said["covers"] in ("every-pair", "these-pairs"), "what is covered is not said")
        self.every = said["covers"] == "every-pair"
        if self.every:
            n = self.program.nodes
            missing = [(v, u) for v in range(n) for u in range(n) if u != v and ((v,), (), u) not in self.proved]
            need(not missing, f"{len(missing)} pairs are missing, the first: node {missing[0][0] if missing else 0} about node {missing[0][1] if missing else 0}")
        self.ended = True

    def statement(self):
        differs = {
            "use-level": "one use of one node's data changes, by a vector of length at most 1",
            "same-direction": "all uses of one node's data change by the same vector of length at most 1",
            "along": f"the uses of one node's data change by one vector of length at most 1, times {self.detail}",
            "signs": "every use of one node's data changes by a number of size at most 1",
            "vectors": f"every use of one node's data changes by a vector of length at most 1: {self.detail}",
        }[self.set]
        who = "every node alone, about every other node" if self.every else "the observers and nodes that the file names, and no others"
        yield f"what may differ: {differs}"
        yield f"who looks: {who} ({len(self.proved)} pairs)"
        yield "what they see: what the file says that they are sent, overhear, hold or is published, and their own data; they follow the protocol"
        yield f"proved: with noises of standard deviation s times the root of their variance, each view is mu-GDP, mu^2 at most {self.largest} / s^2 (about {float(self.largest):.6g} / s^2)"
        yield "assumed: noises are drawn as the file says, independently and by nobody else"
        yield "assumed: contributions depend on their owner's data, and on nothing else but what the file says that they read"
        if self.assumes:
            yield "assumed: what contributions read had been seen by the observer; the file does not list it"
        if self.program.assumed_holdings:
            yield "assumed: nodes can form what they send; the file says that this was not checked"

def check(lines, quiet=False, say=print):
    """Checks the lines of a file; whether they are accepted."""
    checker, count = Checker(), 0
    for count, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            checker.line(line)
        except Rejected as why:
            say(f"rejected: line {count}: {why}")
            return False
    if not checker.ended:
        say(f"rejected: the file ends after line {count} without its last line")
        return False
    if not quiet:
        for sentence in checker.statement():
            say(sentence)
    say("accepted")
    return True

def main(words):
    quiet = "--quiet" in words
    files = [word for word in words if word != "--quiet"]
    if len(files) != 1 or files[0] in ("-h", "--help"):
        print(__doc__)
        return 2
    # Whole numbers in proofs may be longer than Python reads by default.
    getattr(sys, "set_int_max_str_digits", lambda digits: None)(0)
    try:
        with sys.stdin.buffer if files[0] == "-" else open(files[0], "rb") as file:
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            with io.TextIOWrapper(gzip.GzipFile(fileobj=file) if packed else file, encoding="utf-8") as lines:
                return 0 if check(lines, quiet) else 1
    except (OSError, EOFError, UnicodeDecodeError) as error:
        print(f"ndp_check: {files[0]}: {error}", file=sys.stderr)
        return 2

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
