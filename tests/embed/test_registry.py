"""From a spec to an embedder."""

from collections.abc import Iterator

import pytest

from vault_memory.embed import StaticEmbedder, load_embedder, register_embedder, registry
from vault_memory.errors import ConfigError, MissingExtraError, UnknownNameError


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test register names without leaving them behind."""
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
        yield


class HalfAnEmbedder:
    """Lacks two members."""

    fingerprint = StaticEmbedder.fingerprint
    max_input_chars = None


def test_default_is_one_object() -> None:
    """Both names of the default embedder give one shared object."""
    default = load_embedder("default")
    assert isinstance(default, StaticEmbedder)
    assert load_embedder("static-256") is default


def test_embedder_is_returned_as_it_is() -> None:
    """An object that has all members of an embedder is returned itself."""
    embedder = StaticEmbedder()
    assert load_embedder(embedder) is embedder


@pytest.mark.parametrize(
    ("spec", "nearest"), [("defualt", "default"), ("static", "static-256"), ("", "default"), ("openai:x", "default")]
)
def test_unknown_name(spec: str, nearest: str) -> None:
    """An unknown name is refused with the names that come nearest, or all of them."""
    with pytest.raises(UnknownNameError, match=nearest) as caught:
        load_embedder(spec)
    assert repr(spec) in str(caught.value)


def test_default_takes_no_argument() -> None:
    """A spec whose argument would be ignored is refused."""
    with pytest.raises(ConfigError, match="no argument, got 'large'"):
        load_embedder("static-256:large")


def test_object_that_is_no_embedder() -> None:
    """An object that lacks members is refused with their names, also when a factory made it."""
    with pytest.raises(ConfigError, match="HalfAnEmbedder is no embedder: it lacks embed_documents, embed_query"):
        load_embedder(HalfAnEmbedder())  # type: ignore[arg-type]  # This is the mistake under test.
    register_embedder("half", lambda argument: HalfAnEmbedder())  # type: ignore[arg-type,return-value]  # Likewise.
    with pytest.raises(ConfigError, match="embed_documents"):
        load_embedder("half:x")


def test_registered_factory_gets_the_argument() -> None:
    """A stranger's factory is called with all that follows the first colon."""
    arguments: list[str] = []
    register_embedder("mine", lambda argument: arguments.append(argument) or StaticEmbedder())
    load_embedder("mine:org/model:v2")
    load_embedder("mine")
    assert arguments == ["org/model:v2", ""]


@pytest.mark.parametrize("name", ["", "a:b", "default"])
def test_name_that_cannot_be_registered(name: str) -> None:
    """A name is some text without a colon, and is given once."""
    with pytest.raises(ConfigError):
        register_embedder(name, lambda argument: StaticEmbedder())


def test_failing_factory() -> None:
    """A foreign error of a factory becomes a `ConfigError` with its cause; our own errors pass."""

    def fail(argument: str) -> StaticEmbedder:
        if argument:
            raise MissingExtraError("pip install it")
        raise OSError("no such model")

    register_embedder("broken", fail)
    with pytest.raises(ConfigError, match="'broken' could not be made: OSError: no such model") as caught:
        load_embedder("broken")
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(MissingExtraError, match="pip install it"):
        load_embedder("broken:x")
