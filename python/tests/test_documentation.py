"""Every example in a docstring runs, everything public has one, and the tutorial works to the letter."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil

import pytest

import ndp

MODULES = ["ndp"] + [f"ndp.{m.name}" for m in pkgutil.iter_modules(ndp.__path__)]
ROOT = pathlib.Path(__file__).parents[1]


def objects():
    """Every class and function of the package with a docstring, native ones too."""
    seen = {}
    for name in MODULES:
        module = importlib.import_module(name)
        seen[name] = module
        for key, value in vars(module).items():
            if not (inspect.isclass(value) or inspect.isroutine(value)):
                continue
            if not (getattr(value, "__module__", None) or "").startswith("ndp"):
                continue
            seen.setdefault(f"{name}.{key}", value)
            if inspect.isclass(value):
                for member, what in vars(value).items():
                    if member.startswith("__"):
                        continue
                    what = what.fget if isinstance(what, property) else what
                    what = getattr(what, "__func__", what)
                    if getattr(what, "__doc__", None) and callable(what):
                        seen.setdefault(f"{name}.{key}.{member}", what)
    once = {id(value): (path, value) for path, value in reversed(seen.items()) if value.__doc__}
    return dict(once.values())


OBJECTS = objects()
EXAMPLES = sorted(path for path, value in OBJECTS.items() if ">>>" in value.__doc__)


@pytest.mark.parametrize("path", EXAMPLES)
def test_examples(path):
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(OBJECTS[path].__doc__), {}, path, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL)
    said = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_there_are_examples():
    assert len(EXAMPLES) >= 20


def public(module):
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or callable(value):
            yield f"{module.__name__}.{name}", value


@pytest.mark.parametrize("module", [m for m in MODULES if not m.rpartition(".")[2].startswith("_")])
def test_everything_public_is_documented(module):
    for path, value in public(importlib.import_module(module)):
        assert value.__doc__, f"{path} has no docstring"
        assert "\n" not in value.__doc__.strip().splitlines()[0], path
        if not inspect.isclass(value) and inspect.signature(value).parameters:
            assert "Parameters\n" in value.__doc__, f"{path} does not say what its parameters are"
        for member, what in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (inspect.isroutine(what) or isinstance(what, property)):
                assert inspect.getdoc(getattr(value, member)), f"{path}.{member} has no docstring"


def pages():
    """Every page of the package and of the book with Python code, as a path from the root of the repository."""
    root = ROOT.parent
    found = [ROOT / page for page in ("tutorial.md", "frameworks.md", "README.md")]
    found += [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [str(page.relative_to(root)) for page in found if "```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", pages())
def test_the_pages_run(page, tmp_path, monkeypatch):
    """Every Python block of a page, one after the other in one namespace; a line after `# ->` says what is printed."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("pandas")
    pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    text = (ROOT.parent / page).read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in text.split("```python\n")[1:]]
    assert blocks
    namespace = {}
    for block in blocks:
        said = []
        namespace["print"] = lambda *parts, said=said: said.append(" ".join(map(str, parts)))
        exec(compile(block, page, "exec"), namespace)
        expected = [line.partition("# -> ")[2] for line in block.splitlines() if "# -> " in line]
        assert said == expected
