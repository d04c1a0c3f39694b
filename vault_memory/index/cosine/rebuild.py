"""Filling an index anew from a listing of records, with a report of what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from vault_memory.errors import ConfigError, FragmentIndexError
from vault_memory.index.protocol import FragmentIndex
from vault_memory.model import EmbeddedFragment, Target

Listed = TypeVar("Listed")
Embed = Callable[[Listed], tuple[Target, Sequence[EmbeddedFragment]]]
OnRecordError = Literal["fail", "skip"]


@dataclass(frozen=True, slots=True)
class Casualty:
    """A listed record that could not be embedded or added, as it was listed, and the reason."""

    record: Any
    error: Exception


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did.

    Attributes:
        listed: Number of records in the listing.
        indexed: Number of records that the index holds now.
        fragments: Number of fragments that the index holds now.
        declined: Number of records that have no fragments.
        skipped: What failed.
    """

    listed: int = 0
    indexed: int = 0
    fragments: int = 0
    declined: int = 0
    skipped: tuple[Casualty, ...] = ()


class RebuildError(FragmentIndexError):
    """A rebuild that did not reach its end.

    Attributes:
        report: What was done until then; what the index holds is counted as it is after the failure.
    """

    def __init__(self, reason: str, report: RebuildReport) -> None:
        super().__init__(reason)
        self.report = report


def list_all(list_records: Callable[[], Iterable[Listed]], on_record_error: OnRecordError) -> list[Listed]:
    """Return the whole listing, before anything is changed.

    Raises:
        ConfigError: `on_record_error` is unknown.
        RebuildError: The listing failed.
    """
    if on_record_error not in ("fail", "skip"):
        raise ConfigError(f"on_record_error is {on_record_error!r}; use 'fail' or 'skip'")
    try:
        return list(list_records())
    except Exception as error:
        raise RebuildError(
            f"the records could not be listed: {error}; the index is as it was", RebuildReport()
        ) from error


def fill(
    index: FragmentIndex, records: Sequence[Listed], embed: Embed[Listed], on_record_error: OnRecordError
) -> RebuildReport:
    """Add records one at a time to an empty index.

    Raises:
        RebuildError: A record failed, and `on_record_error` is `"fail"`.
    """
    declined = 0
    skipped: list[Casualty] = []
    for number, record in enumerate(records):
        try:
            target, fragments = embed(record)
            declined += index.add_fragments(target, fragments) == 0
        # Whatever a stranger's embedding raises is a value in the report.
        except Exception as error:
            skipped.append(Casualty(record, error))
            if on_record_error == "fail":
                report = RebuildReport(len(records), declined=declined, skipped=tuple(skipped))
                raise RebuildError(
                    f"record {number} of {len(records)} could not be indexed: {error}; the index is empty now: "
                    "mend the record, or rebuild with on_record_error='skip'",
                    report,
                ) from error
    return RebuildReport(len(records), index.record_count, index.fragment_count, declined, tuple(skipped))
