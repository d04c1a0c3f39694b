"""From a spec such as `default` or `NAME:ARGUMENT` to an embedder."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from vault_memory.embed.protocol import Embedder
from vault_memory.embed.static import StaticEmbedder
from vault_memory.errors import ConfigError, UnknownNameError, VaultMemoryError

EmbedderFactory = Callable[[str], Embedder]

_MEMBERS = ("fingerprint", "max_input_chars", "embed_documents", "embed_query")


@cache
def _shared_static_embedder() -> StaticEmbedder:
    return StaticEmbedder()


def _static_embedder(argument: str) -> Embedder:
    if argument:
        raise ConfigError(f"the embedder static-256 takes no argument, got {argument!r}; write just static-256")
    return _shared_static_embedder()


_FACTORIES: dict[str, EmbedderFactory] = {
    "default": _static_embedder,
    "static-256": _static_embedder,
}


def register_embedder(name: str, factory: EmbedderFactory) -> None:
    """Make `NAME` and `NAME:ARGUMENT` specs that `load_embedder` understands.

    Args:
        name: What stands before the colon.
        factory: Called with what stands after the colon, `""` if nothing does; returns the embedder.

    Raises:
        ConfigError: The name is empty, holds a colon, or is taken.
    """
    if not name or ":" in name:
        raise ConfigError(f"{name!r} cannot name an embedder: it must be some text without a colon")
    if name in _FACTORIES:
        raise ConfigError(f"an embedder named {name!r} is registered already; choose another name")
    _FACTORIES[name] = factory


def load_embedder(spec: str | Embedder) -> Embedder:
    """Return the embedder that a spec names, or the given embedder itself if it has all of an embedder's members.

    The default embedder is one shared object per process, so that its table is in memory once.

    Raises:
        UnknownNameError: No embedder of this name is registered; the message gives the nearest ones.
        ConfigError: The object lacks members of an embedder, which are named, or the factory failed.
    """
    if not isinstance(spec, str):
        return _complete(spec)
    name, _, argument = spec.partition(":")
    factory = _FACTORIES.get(name)
    if factory is None:
        near = get_close_matches(name, _FACTORIES, n=3, cutoff=0.4) or sorted(_FACTORIES)
        raise UnknownNameError(f"no embedder is named {name!r} (spec {spec!r}); did you mean {' or '.join(near)}?")
    try:
        embedder = factory(argument)
    except VaultMemoryError:
        raise
    except Exception as error:
        raise ConfigError(f"the embedder {spec!r} could not be made: {type(error).__name__}: {error}") from error
    return _complete(embedder)


def _complete(embedder: Embedder) -> Embedder:
    """Return the object if it has every member of an embedder; it comes from a stranger, whatever its type says."""
    missing = [member for member in _MEMBERS if not hasattr(embedder, member)]
    if missing:
        raise ConfigError(f"{type(embedder).__name__} is no embedder: it lacks {', '.join(missing)}")
    return embedder
