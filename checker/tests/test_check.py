"""python3 -m unittest discover checker/tests: random programs with proofs made here, by elimination in fractions,
and files that were changed. Nothing of the libraries takes part.
"""

import copy
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

# The other checker, where this names it: it is asked about the same files.
OTHER = os.environ.get("NDP_CHECK")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import ndp_check  # noqa: E402

PATH = [  # two rounds of gossip on a path of three nodes, each with a noise of its own
    {"ndp-program": 1, "nodes": 3},
    {"matrix": "W0", "entries": [{"0": "2/3", "1": "1/3"}, {"0": "1/3", "1": "1/3", "2": "1/3"}, {"1": "1/3", "2": "2/3"}]},
]


def gossip(rounds=2):
    lines = copy.deepcopy(PATH)
    names = []
    for v in range(3):
        lines.append({"contribute": f"x{v}", "node": v, "reads": "nothing"})
        lines.append({"noise": f"z{v}", "shared": [], "variance": "1"})
        lines.append({"hold": f"z{v}", "by": v})
        lines.append({"let": f"y{v}", "sum": {f"x{v}": "1", f"z{v}": "1"}})
        names.append(f"y{v}")
    for t in range(rounds):
        for a, b in ((0, 1), (1, 0), (1, 2), (2, 1)):
            lines.append({"send": names[a], "from": a, "to": b})
        new = [f"y{v}_{t}" for v in range(3)]
        lines.append({"let": new, "gossip": "W0", "of": names})
        names = new
    return lines + [{"end": "program"}]


def random_program(rng):
    """A program of up to four nodes with sums, gossip, messages, noises known to some, and several uses."""
    n = rng.randint(2, 4)
    lines = [{"ndp-program": 1, "nodes": n}]
    rows = [{str(v): str(Fraction(rng.randint(0, 3), rng.randint(1, 3))) for v in range(n)} for _ in range(n)]
    lines.append({"matrix": "W0", "entries": rows})
    values = []
    for i in range(rng.randint(6, 14)):
        kind = rng.random()
        if kind < 0.3 or not values:
            lines.append({"contribute": f"v{i}", "node": rng.randrange(n), "reads": "nothing"})
        elif kind < 0.65:
            lines.append({"noise": f"v{i}", "shared": [], "variance": rng.choice(["1", "1/4", "3", "0"])})
            if rng.random() < 0.5:
                lines.append({"hold": f"v{i}", "by": rng.randrange(n)})
        elif kind < 0.92 or len(values) < n:
            some = rng.sample(values, min(len(values), rng.randint(1, 3)))
            lines.append({"let": f"v{i}", "sum": {name: str(Fraction(rng.randint(-3, 3), rng.randint(1, 4))) for name in some}})
        else:
            lines.append({"let": [f"v{i}_{v}" for v in range(n)], "gossip": "W0", "of": rng.sample(values, n)})
            values += [f"v{i}_{v}" for v in range(n)]
            continue
        values.append(f"v{i}")
        if rng.random() < 0.5:
            shown = rng.choice(values)
            a, b = rng.sample(range(n), 2)
            lines.append(rng.choice([{"send": shown, "from": a, "to": b}, {"broadcast": shown, "from": a}, {"publish": shown}]))
    return lines + [{"end": "program"}]


def rows_of(program, observer):
    """What is seen, over contributions and noises, by substitution forwards: not as the checker does it."""
    forms = []
    for v, (kind, *rest) in enumerate(program.values):
        if kind == "sum":
            form = {}
            for w, weight in rest[0]:
                for key, x in forms[w].items():
                    form[key] = form.get(key, Fraction(0)) + weight * x
            forms.append(form)
        else:
            forms.append({v: Fraction(1)})
    known = {v for v in observer.seen if program.values[v][0] == "noise"}
    known |= {v for v, x in enumerate(program.values) if x[0] == "use" and x[1] in observer.members}
    return [{key: x for key, x in forms[v].items() if key not in known} for v in sorted(observer.seen)]


def solve(matrix, right):
    """Some solution of a system, or None."""
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    width = len(matrix[0]) if matrix else 0
    pivots, at = [], 0
    for column in range(width):
        best = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if best is None:
            continue
        rows[at], rows[best] = rows[best], rows[at]
        scale = rows[at][column]
        rows[at] = [x / scale for x in rows[at]]
        for r in range(len(rows)):
            if r != at and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[at])]
        pivots.append(column)
        at += 1
    if any(row[-1] for row in rows[at:]):
        return None
    found = [Fraction(0)] * width
    for r, column in enumerate(pivots):
        found[column] = rows[r][-1]
    return found


def truth(program, observer, source, change):
    """The loss, the weights of the best attack and the best shift; None where the change is seen without noise."""
    rows = rows_of(program, observer)
    noises = [v for v, x in enumerate(program.values) if x[0] == "noise" and x[1] > 0]
    uses = [v for v, x in enumerate(program.values) if x[0] == "use" and x[1] == source]
    moved = [sum((row.get(v, 0) * c for v, c in zip(uses, change)), Fraction(0)) for row in rows]
    variance = {v: program.values[v][1] for v in noises}
    gram = [[sum((a.get(v, 0) * b.get(v, 0) * variance[v] for v in noises), Fraction(0)) for b in rows] for a in rows]
    y = solve(gram, moved) if rows else []
    if y is None:
        return None
    shift = {v: variance[v] * sum((row.get(v, 0) * w for row, w in zip(rows, y)), Fraction(0)) for v in noises}
    loss = sum((w * m for w, m in zip(y, moved)), Fraction(0))
    return loss, dict(zip(sorted(observer.seen), y)), shift


def parsed(lines):
    checker = ndp_check.Checker()
    for line in lines:
        checker.line(json.dumps(line))
    return checker


def proved(lines, members, source, kind="use-level"):
    """The file with a line for one pair; None where some change is seen without noise."""
    checker = parsed([{"ndp-proof": 1, "set": kind}] + lines)
    program = checker.program
    said = {"members": members, "taps": []}
    observer = ndp_check.Observer(program, said)
    names = {v: name for name, v in program.names.items()}
    table = lambda weights: {names[v]: str(x) for v, x in weights.items() if x}  # noqa: E731
    found = [truth(program, observer, source, change) for change in checker.directions(program.uses[source])]
    if None in found:
        return None
    best = max(range(len(found)), key=lambda i: found[i][0], default=None)
    upper = found[best][0] if found else Fraction(0)
    change = [str(int(i == best)) for i in range(len(found))] if kind == "use-level" else ["1"] * program.uses[source]
    pair = {"observer": said, "source": source, "upper": str(upper), "lower": str(upper),
            "shifts": [table(x[2]) for x in found], "attack": {"change": change, "sum": table(found[best][1]) if found else {}}}
    end = {"end": "proof", "pairs": 1, "largest": str(upper), "covers": "these-pairs"}
    return [{"ndp-proof": 1, "set": kind}] + lines + [pair, end]


def verdict(lines):
    said = []
    lines = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    accepted = ndp_check.check(lines, True, said.append)
    if OTHER:
        ran = subprocess.run([OTHER, "-", "--quiet"], input="\n".join(lines), capture_output=True, text=True, check=False)
        # Both accept, or name the same line.
        here, there = said[-1].split(":")[:2], ran.stdout.strip().split(":")[:2]
        if here != there or ran.returncode != (0 if accepted else 1):
            raise AssertionError(f"{said[-1]!r} here, {ran.stdout!r} ({ran.returncode}) there: {lines}")
    return accepted, said[-1]


def changed(rng, lines):
    """The file with one change somewhere."""
    lines = copy.deepcopy(lines)
    at = rng.randrange(len(lines))
    kind = rng.random()
    if kind < 0.15 and "ndp" not in str(lines[at]):
        del lines[at]
        return lines

    def walk(x):
        if isinstance(x, dict):
            for key in list(x):
                if isinstance(x[key], (dict, list)):
                    yield from walk(x[key])
                else:
                    yield x, key
        elif isinstance(x, list):
            for i, y in enumerate(x):
                if isinstance(y, (dict, list)):
                    yield from walk(y)
                else:
                    yield x, i

    places = list(walk(lines[at]))
    if not places:
        return lines
    where, key = rng.choice(places)
    old = where[key]
    if isinstance(old, str) and ndp_check.NUMBER.match(old):
        where[key] = str(Fraction(old) * Fraction(rng.choice(["1/2", "2", "-1", "0", "99/100", "101/100"])))
    elif type(old) is int:
        where[key] = max(0, old + rng.choice([-1, 1]))
    else:
        where[key] = rng.choice(["v0", "v1", "nothing", "use-level", "same-direction", old])
    return lines


class Check(unittest.TestCase):
    def test_a_path_reveals_its_end(self):
        file = proved(gossip(), [2], 0)
        self.assertEqual(file[-1]["largest"], "1")
        self.assertEqual(verdict(file), (True, "accepted"))
        for shorter in (1, 2, 3):
            self.assertFalse(verdict(file[:-shorter])[0])

    def test_proofs_of_random_programs_are_accepted_and_false_ones_are_not(self):
        rng = random.Random(7)
        accepted = rejected = other_truth = 0
        for _ in range(400):
            lines = random_program(rng)
            n = lines[0]["nodes"]
            source, *members = rng.sample(range(n), rng.randint(1, n))
            file = proved(lines, members, source, rng.choice(["use-level", "same-direction"]))
            if file is None:
                continue
            self.assertEqual(verdict(file), (True, "accepted"))
            # A smaller claim than the truth is false, whatever else the file says.
            for better in ("99/100", "0"):
                lower = copy.deepcopy(file)
                lower[-2]["upper"] = str(Fraction(file[-2]["upper"]) * Fraction(better))
                if lower[-2]["upper"] != file[-2]["upper"]:
                    self.assertFalse(verdict(lower)[0])
            for _ in range(8):
                other = changed(rng, file)
                if other == file:
                    continue
                if not verdict(other)[0]:
                    rejected += 1
                    continue
                accepted += 1
                # What is accepted is true of the program that the file now holds.
                checker = parsed(other)
                observer = ndp_check.Observer(checker.program, other[-2]["observer"])
                for change in checker.directions(checker.program.uses[other[-2]["source"]]):
                    found = truth(checker.program, observer, other[-2]["source"], change)
                    self.assertIsNotNone(found, other)
                    self.assertLessEqual(found[0], Fraction(other[-2]["upper"]), other)
                    other_truth += found[0] < Fraction(file[-2]["upper"])
        self.assertGreater(min(accepted, rejected), 150)
        # Some of those that were accepted are about programs that show less.
        self.assertGreater(other_truth, 0)

    def test_signs_and_diagonals(self):
        # Two uses x0, x1 of node 0 with noises of their own; node 1 sees x0 - x1 and their noises: G = [[1, -1], [-1, 1]] / 2.
        lines = [{"ndp-program": 1, "nodes": 2}]
        for i in (0, 1):
            lines.append({"contribute": f"x{i}", "node": 0, "reads": "nothing"})
            lines.append({"noise": f"z{i}", "shared": [], "variance": "1"})
        lines.append({"let": "y", "sum": {"x0": "1", "z0": "1", "x1": "-1", "z1": "-1"}})
        lines += [{"send": "y", "from": 0, "to": 1}, {"end": "program"}]
        pair = {"observer": {"members": [1], "taps": []}, "source": 0, "upper": "2", "lower": "2",
                "shifts": [{"z0": "1/2", "z1": "-1/2"}, {"z0": "-1/2", "z1": "1/2"}],
                "attack": {"change": ["1", "-1"], "sum": {"y": "1"}}}
        end = {"end": "proof", "pairs": 1, "largest": "2", "covers": "these-pairs"}
        whole = lambda pair, kind="signs", end=end: [{"ndp-proof": 1, "set": kind}] + lines + [pair, end]  # noqa: E731
        self.assertTrue(verdict(whole(pair))[0])
        self.assertTrue(verdict(whole({**pair, "diagonal": ["1", "1"]}))[0])
        self.assertTrue(verdict(whole(pair, {"vectors": {"dimension": 3}}))[0])
        self.assertIn("more than the upper end", verdict(whole({**pair, "upper": "1", "lower": "1"}))[1])
        # Not covered: 9/10 on both places leaves an eigenvalue below 0.
        self.assertIn("does not cover", verdict(whole({**pair, "upper": "9/5", "lower": "0", "diagonal": ["9/10", "9/10"]}))[1])
        self.assertIn("not in the set", verdict(whole({**pair, "attack": {"change": ["2", "0"], "sum": {"y": "1"}}}))[1])
        # The same direction shows nothing: one shift, and a claim of 0.
        none = {**pair, "upper": "0", "lower": "0", "shifts": [{}], "attack": {"change": ["1", "1"], "sum": {}}}
        self.assertTrue(verdict(whole(none, "same-direction", {**end, "largest": "0"}))[0])

    def test_a_lower_end_needs_its_attack_and_a_largest_loss_its_pairs(self):
        file = proved(gossip(1), [2], 1)
        self.assertTrue(verdict(file)[0])
        higher = copy.deepcopy(file)
        higher[-2]["lower"] = "1001/1000"
        self.assertIn("less than the lower end", verdict(higher)[1])
        smaller = copy.deepcopy(file)
        smaller[-1]["largest"] = "999/1000"
        self.assertIn("the largest loss", verdict(smaller)[1])

    def test_who_sees_what(self):
        """Every kind of event, and observers who see it or do not: those who do learn the noise, and x without it."""
        events = {'{"send": "z0", "from": 0, "to": 1}': {0, 1}, '{"broadcast": "z0", "from": 0}': {0, 1, 2},
                  '{"publish": "z0"}': {0, 1, 2}, '{"deliver": "z0", "to": 1, "group": [0, 2]}': {1}, '{"hold": "z0", "by": 2}': {2}}
        for event, seers in events.items():
            lines = gossip(1)
            lines = [line for line in lines if line != {"hold": "z0", "by": 0}]
            lines.insert(-1, json.loads(event))
            checker = parsed([{"ndp-proof": 1, "set": "use-level"}] + lines)
            z = checker.program.names["z0"]
            for v in range(3):
                observer = ndp_check.Observer(checker.program, {"members": [v], "taps": []})
                self.assertEqual(z in observer.seen, v in seers, (event, v))
            tap = ndp_check.Observer(checker.program, {"members": [], "taps": [[0, 1]]})
            self.assertEqual(z in tap.seen, "send" in event or {0, 1, 2} == seers, event)
            back = ndp_check.Observer(checker.program, {"members": [], "taps": [[1, 0]]})
            self.assertEqual(z in back.seen, {0, 1, 2} == seers, event)

    def test_a_noise_of_variance_0_hides_nothing(self):
        lines = gossip(1)
        for line in lines:
            if line.get("noise") == "z0":
                line["variance"] = "0"
        file = proved(gossip(1), [1], 0)
        self.assertIn("variance 0", verdict([file[0]] + lines + file[-2:])[1])

    def test_what_is_read_must_be_seen(self):
        lines = [{"ndp-program": 1, "nodes": 2}, {"contribute": "a", "node": 0, "reads": "nothing"},
                 {"noise": "z", "shared": [], "variance": "1"}, {"let": "y", "sum": {"a": "1", "z": "1"}},
                 {"send": "y", "from": 0, "to": 1}, {"contribute": "b", "node": 0, "reads": {"seen": ["y"]}}, {"end": "program"}]
        pair = {"observer": {"members": [1], "taps": []}, "source": 0, "upper": "1", "lower": "1", "shifts": [{"z": "1"}, {}],
                "attack": {"change": ["1", "0"], "sum": {"y": "1"}}}
        end = {"end": "proof", "pairs": 1, "largest": "1", "covers": "these-pairs"}
        whole = lambda lines: [{"ndp-proof": 1, "set": "use-level"}] + lines + [pair, end]  # noqa: E731
        self.assertTrue(verdict(whole(lines))[0])
        late = lines[:4] + [lines[5], lines[4], lines[6]]
        self.assertIn("need not have seen", verdict(whole(late))[1])
        # What those who look read they must have seen themselves: else their data tell what they read.
        unsent = lines[:4] + [{"contribute": "c", "node": 1, "reads": {"seen": ["y"]}}, lines[6]]
        quiet = {**pair, "upper": "0", "lower": "0", "shifts": [{}], "attack": {"change": ["0"], "sum": {}}}
        self.assertIn("need not have seen", verdict([{"ndp-proof": 1, "set": "use-level"}] + unsent + [quiet, end])[1])
        for reads in ("hidden", {"hidden": ["y"]}, {"seen": ["y"], "hidden": ["y"]}):
            other = copy.deepcopy(lines)
            other[5]["reads"] = reads
            self.assertIn("hidden", verdict(whole(other))[1])

    def test_coverage_is_counted(self):
        file = proved(gossip(), [2], 0)
        file[-1]["covers"] = "every-pair"
        self.assertIn("5 pairs are missing", verdict(file)[1])
        file[-1].update(pairs=True, covers="these-pairs")
        self.assertIn("pairs are proved, not True", verdict(file)[1])
        twice = file[:-1] + [file[-2], {**file[-1], "pairs": 2, "covers": "these-pairs"}]
        self.assertIn("there before", verdict(twice)[1])

    def test_a_view_is_no_other_pair_under_other_taps(self):
        file = proved(gossip(), [2], 0)
        again = lambda taps: {**file[-2], "observer": {"members": [2], "taps": taps}}  # noqa: E731
        both = lambda taps: file[:-1] + [again(taps), {**file[-1], "pairs": 2}]  # noqa: E731
        # What goes over these edges node 2 sees anyway.
        for taps in ([[1, 2]], [[2, 1]], [[1, 2], [2, 1]]):
            self.assertIn("there before", verdict(both(taps))[1])
        self.assertIn("named twice", verdict(both([[1, 2], [1, 2]]))[1])
        self.assertIn("named twice", verdict(both([[0, 1], [1, 0], [0, 1]]))[1])
        for idle in (0, 2):
            self.assertIn("a pair of two nodes", verdict(both([[idle, idle]]))[1])
        # Another edge is another view, of one and the same taps in any order.
        self.assertTrue(verdict(both([[1, 0]]))[0])
        in_order = file[:-1] + [again([[1, 0], [0, 1]]), again([[0, 1], [1, 0]]), {**file[-1], "pairs": 3}]
        self.assertIn("there before", verdict(in_order)[1])
        # Such a line stands for the node alone, also where every pair is counted.
        alone = file[:-2] + [again([[1, 2]]), {**file[-1], "covers": "every-pair"}]
        self.assertIn("5 pairs are missing", verdict(alone)[1])

    def test_a_file_without_pairs_proves_nothing(self):
        file = proved(gossip(), [2], 0)
        for covers in ("these-pairs", "every-pair"):
            end = {"end": "proof", "pairs": 0, "largest": "0", "covers": covers}
            self.assertIn("no pair is proved", verdict(file[:-2] + [end])[1])
        # Of a single node there are no pairs.
        alone = [file[0], {"ndp-program": 1, "nodes": 1}, {"end": "program"}, end]
        self.assertIn("no pair is proved", verdict(alone)[1])

    def test_the_checker_can_be_read_in_an_hour(self):
        with open(ndp_check.__file__, encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 400)

    def test_hostile_lines_are_rejected_with_their_number(self):
        file = [json.dumps(line) for line in proved(gossip(), [2], 0)]
        for at, line in ((0, '{"ndp-proof": 1, "ndp-proof": 1, "set": "use-level"}'), (0, '{"ndp-proof": true, "set": "use-level"}'),
                         (3, "[" * 100_000), (5, '{"noise": "q", "shared": [], "variance": 0.1}'),
                         (5, '{"noise": "q", "shared": [], "variance": "-1"}'), (5, '{"noise": "q", "shared": [], "variance": "1/0"}'),
                         (5, '{"shuffle": "x0"}'), (6, "NaN"), (7, '{"hold": "z0", "by": 7}'), (7, '{"hold": "z0", "by": true}')):
            text = file[:at] + [line] + file[at + 1:]
            accepted, why = verdict(text)
            self.assertFalse(accepted)
            self.assertIn(f"line {at + 1}:", why)

    def test_files_are_accepted_or_rejected_as_their_names_say(self):
        """accepted-..., and rejected-LINE-... with the line that fails; the other checker is tried on them, too."""
        accepted = rejected = 0
        folder = os.path.join(HERE, "files")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found, why = verdict(file.read().splitlines())
            self.assertEqual(found, name.startswith("accepted-"), (name, why))
            if not found:
                self.assertTrue(why.startswith(f"rejected: line {name.split('-')[1]}: "), (name, why))
            accepted, rejected = accepted + found, rejected + (not found)
        self.assertGreaterEqual(min(accepted, rejected), 4)

    def test_the_command_says_how_it_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = os.path.join(folder, "good"), os.path.join(folder, "bad")
            file = [json.dumps(line) for line in proved(gossip(), [2], 0)]
            for path, lines in ((good, file), (bad, file[:-1])):
                with open(path, "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
            script = os.path.join(os.path.dirname(HERE), "ndp_check.py")
            run = lambda path: subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=False)  # noqa: E731
            self.assertEqual(run(good).returncode, 0)
            self.assertTrue(run(good).stdout.endswith("accepted\n") and "no others (1 pairs)" in run(good).stdout)
            self.assertIn("nothing else but what the file says that they read", run(good).stdout)
            self.assertEqual((run(bad).returncode, run(bad).stdout.startswith("rejected")), (1, True))
            self.assertEqual(run(os.path.join(folder, "absent")).returncode, 2)
            damaged = os.path.join(folder, "damaged")
            with open(good, "rb") as file, open(damaged, "wb") as out:
                packed = bytearray(gzip.compress(file.read()))
                packed[20:40] = bytes(20)
                out.write(packed)
            self.assertEqual((run(damaged).returncode, "Traceback" in run(damaged).stderr), (2, False))
            with open(good, encoding="utf-8") as file:
                piped = subprocess.run([sys.executable, script, "-"], stdin=file, capture_output=True, text=True, check=False)
            self.assertEqual(piped.stdout, run(good).stdout)


if __name__ == "__main__":
    unittest.main()
