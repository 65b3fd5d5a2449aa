"""The order of a sitting: pending first, one verdict after the other, undo and skip; the same place when it is resumed.

Holds no clock and writes nothing: each step returns the record that is to be appended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from ltmem_gui.domain.audit import AuditItem, Standing, Support, Verdicts, undo_record, verdict_record
from ltmem_gui.domain.verdicts import VerdictRecord


class AuditQueue:
    """Walk through the items of one frame as one rater; with `final` as the one who settles what others differ in.

    What is pending comes first, in reading order; a skipped item comes again at the end. `show` limits what is walked
    through (a filter) as long as it lasts, without changing progress.
    """

    def __init__(
        self,
        items: Sequence[AuditItem],
        records: Iterable[VerdictRecord],
        *,
        rater: str,
        frame: str,
        final: bool = False,
    ) -> None:
        self._items = tuple(items)
        self._place = {item.key: place for place, item in enumerate(self._items)}
        self._records = list(records)
        self._rater = rater
        self._frame = frame
        self._final = final
        self._verdicts = Verdicts(self._records, self._place)
        self._done = {item.key for item in self._items if self._has_fresh(item)}
        self._skipped: list[str] = []
        self._judged: list[tuple[AuditItem, VerdictRecord]] = []
        self._at: str | None = None
        self._shown: frozenset[str] | None = None
        self._advance()

    @property
    def verdicts(self) -> Verdicts:
        """Return what all records say now."""
        return self._verdicts

    @property
    def current(self) -> AuditItem | None:
        """Return the item to be judged, None when nothing is left."""
        return None if self._at is None else self._items[self._place[self._at]]

    @property
    def pending(self) -> tuple[AuditItem, ...]:
        """Return what this rater has no fresh verdict of, skipped items last."""
        waiting = [item for item in self._items if item.key not in self._done]
        later = {key: place for place, key in enumerate(self._skipped, 1)}
        return tuple(sorted(waiting, key=lambda item: later.get(item.key, 0)))

    @property
    def progress(self) -> tuple[int, int]:
        """Return how many are judged, and of how many."""
        return len(self._done), len(self._items)

    @property
    def words(self) -> str:
        """Return the progress in words."""
        done, total = self.progress
        return f"{done} of {total} judged" + (f", {len(self._skipped)} skipped" if self._skipped else "")

    def others(self, item: AuditItem, *, blind: bool) -> tuple[Standing, ...]:
        """Return what other raters said; a blind rater sees nothing of it before the own verdict.

        Who settles differences sees them all.
        """
        if self._final:
            return self._verdicts.all_of(item)
        if blind and item.key not in self._done:
            return ()
        return tuple(found for found in self._verdicts.all_of(item) if found.record.rater != self._rater)

    def show(self, keys: Collection[str] | None) -> None:
        """Go on among these items while any of them is pending; None takes the limit off."""
        self._shown = None if keys is None else frozenset(keys)

    def go_to(self, key: str) -> bool:
        """Make an item the current one, judged or not; False for one outside the frame."""
        if key not in self._place:
            return False
        self._at = key
        return True

    def judge(self, support: Support, *, at: int, note: str = "") -> VerdictRecord | None:
        """Judge the current item and advance; return the record to append, None without a current item."""
        item = self.current
        if item is None:
            return None
        record = verdict_record(
            item, support, rater=self._rater, frame=self._frame, at=at, note=note, final=self._final
        )
        self._take(item, record)
        self._judged.append((item, record))
        self._skipped = [key for key in self._skipped if key != item.key]
        self._advance()
        return record

    def undo(self, *, at: int) -> VerdictRecord | None:
        """Take this sitting's last verdict back and return to its item; None when there is none."""
        if not self._judged:
            return None
        item, judged = self._judged.pop()
        record = undo_record(judged, frame=self._frame, at=at)
        self._take(item, record)
        self._at = item.key
        return record

    def skip(self) -> None:
        """Leave the current item for later and go on; nothing is recorded."""
        item = self.current
        if item is not None and item.key not in self._done:
            self._skipped = [*(key for key in self._skipped if key != item.key), item.key]
        self._advance()

    def step(self, by: int, shown: Callable[[AuditItem], bool] = lambda _: True) -> None:
        """Move through the items that are shown without judging; stop at the ends."""
        keys = [item.key for item in self._items if shown(item)]
        if keys:
            at = keys.index(self._at) if self._at in keys else 0
            self._at = keys[max(0, min(len(keys) - 1, at + by))]

    def _take(self, item: AuditItem, record: VerdictRecord) -> None:
        self._records.append(record)
        self._verdicts = Verdicts(self._records, self._place)
        (self._done.add if self._has_fresh(item) else self._done.discard)(item.key)

    def _advance(self) -> None:
        """Go to the next pending item behind the current one, then to the first; skipped ones come last."""
        waiting, skipped = [item.key for item in self.pending], frozenset(self._skipped)
        if self._shown is not None:
            waiting = [key for key in waiting if key in self._shown] or waiting
        fresh = [key for key in waiting if key not in skipped]
        place = -1 if self._at is None else self._place[self._at]
        behind = [key for key in fresh if self._place[key] > place]
        self._at = (behind or fresh or waiting or [None])[0]

    def standing(self, item: AuditItem) -> Standing | None:
        """Return this rater's verdict of an item, or the adjudication where differences are settled."""
        return self._verdicts.final(item) if self._final else self._verdicts.of(item, self._rater)

    def _has_fresh(self, item: AuditItem) -> bool:
        standing = self.standing(item)
        return standing is not None and not standing.is_stale
