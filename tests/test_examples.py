"""Every example in a docstring runs and gives what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import vault_memory

ROOT = Path(__file__).parent.parent
MODULES = [
    module.name
    for module in pkgutil.walk_packages(vault_memory.__path__, "vault_memory.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["vault_memory", *MODULES])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctests of one module pass, run beside the example vault."""
    monkeypatch.chdir(ROOT)
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


def test_every_facade_method_has_an_example() -> None:
    """A reader of `Vault` finds a running example on each public method."""
    public = [member for name, member in vars(vault_memory.Vault).items() if not name.startswith("_")]
    functions = [getattr(member, "__func__", member) for member in public if not isinstance(member, property)]
    lacking = [f.__name__ for f in functions if ">>>" not in (f.__doc__ or "") and f.__name__ != "close"]
    assert lacking == []
