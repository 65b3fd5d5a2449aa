"""Figures of the citations in the window: 10,000 rows shown, filtered, looked at and walked through."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import pytest
from PySide6.QtWidgets import QApplication

from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.audit_evidence import Sight, first_sight, in_the_open
from ltmem_gui.domain.citation_check import Sessions, check_citations
from ltmem_gui.domain.citation_look import LookSources, look_up, places_of_claims
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.citations import CitationsPanel
from ltmem_gui.ui.theme import Theme
from tests.bench.test_citations import CITATIONS, edited, folder

pytestmark = [pytest.mark.bench]


class NoOperations:
    """The list asks nothing of anybody here."""


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Return wall clock and CPU time of an action, in milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def snapshot(root: Path, files: dict[str, bytes]) -> WorkspaceSnapshot:
    held = {path: WorkspaceFile(path, data, 0o644) for path, data in files.items()}
    return WorkspaceSnapshot(str(root), True, held, "b" * 40, {})


def best(action: Callable[[], tuple[float, float]], rounds: int = 5) -> tuple[float, float]:
    measured = [action() for _ in range(rounds)]
    return min(wall for wall, _ in measured), min(cpu for _, cpu in measured)


def claims(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the folder with a claim for each citation, in task groups of a hundred."""
    lines = files["MEMORY.md"].decode().split("\n")[1:-1]
    groups: list[str] = []
    for start in range(0, len(lines), 100):
        groups += [f"# Task Group: g{start}", "scope: s", "## User preferences"]
        groups += [f"- claim {number} [c{number + 1}]" for number in range(start, start + 100)]
        groups += ["", "<citation_entries>", *lines[start : start + 100], "</citation_entries>", ""]
    return files | {"MEMORY.md": "\n".join(groups).encode()}


def test_ten_thousand_citations_are_shown_filtered_and_shown_again(qapp: QApplication, tmp_path: Path) -> None:
    files = claims(folder(random.Random(1)))
    theme = Theme.load()
    panel = CitationsPanel(NoOperations(), Supervisor(), theme, ActionRegistry(theme.icon))  # type: ignore[arg-type]
    panel.resize(1280, 800)
    panel.show()
    qapp.processEvents()

    def show(seen: Seen) -> None:
        panel.show_seen(seen)
        panel.grab()

    # Qt's Python side makes its enumerations at their first use; a window that shows anything has done so.
    show(Seen(snapshot=snapshot(tmp_path, {"MEMORY.md": b"<citation_entries>\na:1-1 |note=[]\n</citation_entries>\n"})))
    first = timed(lambda: show(Seen(snapshot=snapshot(tmp_path, files))))
    again = best(lambda: timed(lambda: show(Seen(snapshot=snapshot(tmp_path, files)))))
    assert panel.model.rowCount() == CITATIONS

    def narrow(words: str) -> None:
        panel.filter.setText(words)
        panel.table.viewport().grab()

    texts = iter(("042", "why 7", "c1", "rollout_summaries/09", "nothing at all", "0", "1", "2", "3", "4"))
    filtered = [timed(lambda: narrow(next(texts))) for _ in range(10)]
    worst = max(wall for wall, _ in filtered), max(cpu for _, cpu in filtered)
    panel.filter.setText("")
    step = best(lambda: timed(lambda: panel.table.setCurrentIndex(panel.model.index(random.randint(0, 9_999), 0))))
    panel.hide()
    print(
        f"\nlist: first {first[0]:.0f} ms (CPU {first[1]:.0f}), again {again[0]:.0f} ms (CPU {again[1]:.0f});"
        f" filter worst of 10: {worst[0]:.0f} ms (CPU {worst[1]:.0f}); one step {step[0]:.1f} ms"
    )
    assert first[1] <= 100
    assert again[1] <= 100
    assert worst[1] <= 50


def test_a_look_answers_for_the_screen_first(tmp_path: Path) -> None:
    chance = random.Random(3)
    files = claims(folder(chance))
    found = first_sight(Sight(files), (), at=1)
    kept = {record.key: record for record in in_the_open(found, [True] * len(found))}
    assert len(kept) >= CITATIONS * 0.99
    later = edited(files, 0.2, chance)
    everything = check_citations(files, sessions=Sessions({}))
    screen = frozenset((item.file, item.line) for item in everything[:60])
    clean, moved = LookSources(files, {}, kept), LookSources(later, {}, kept)
    answers: dict[str, float] = {}
    answers["clean"] = best(lambda: timed(lambda: look_up(clean)), 2)[1]
    answers["20 % moved"] = best(lambda: timed(lambda: look_up(moved)), 2)[1]
    answers["the screen"] = best(lambda: timed(lambda: look_up(moved, only=screen)), 2)[1]
    answers["places of claims"] = best(lambda: timed(lambda: places_of_claims(files)), 2)[1]
    answers["first sight"] = best(lambda: timed(lambda: first_sight(Sight(files), (), at=1)), 2)[1]
    print("\n" + ", ".join(f"{name} {value:.0f} ms" for name, value in answers.items()))
    assert answers["clean"] <= 1_000
    assert answers["20 % moved"] <= 3_000


@pytest.mark.parametrize("edits", [1, 5, 20])
def test_moved_ranges_are_found_exactly_and_nothing_changed_is_called_exact(edits: int) -> None:
    chance = random.Random(edits)
    files = folder(chance)
    records = in_the_open(found := first_sight(Sight(files), (), at=1), [True] * len(found))
    kept = {record.key: record.taken for record in records}
    later, origins = dict(files), {}
    for path in [path for path in files if path != "MEMORY.md"]:
        tagged = list(enumerate(files[path].decode().split("\n"), 1))
        for _ in range(edits):
            place = chance.randrange(len(tagged) - 1)
            match chance.choice(("insert", "delete", "change", "move", "copy")):
                case "insert":
                    tagged.insert(place, (0, f"- new {chance.random()}"))
                case "delete":
                    tagged.pop(place)
                case "change":
                    tagged[place] = (0, tagged[place][1].replace(" ", "  ", 1))
                case "move":
                    tagged.insert(chance.randrange(len(tagged) - 1), tagged.pop(place))
                case "copy":
                    tagged.insert(chance.randrange(len(tagged) - 1), (0, tagged[place][1]))
        later[path] = "\n".join(text for _, text in tagged).encode()
        origins[path] = [number for number, _ in tagged]
    moved = right = changed = false_exact = 0
    for item in check_citations(later, sessions=Sessions({}), kept=kept):
        entry, location = item.entry, item.location
        assert entry is not None
        now, wanted = origins[entry.path], list(range(entry.start, entry.end + 1))
        places = [at + 1 for at in range(len(now) - len(wanted) + 1) if now[at : at + len(wanted)] == wanted]
        if places and places[0] != entry.start:
            moved += 1
            right += location.status is LocationStatus.MOVED and location.start == places[0]
        elif not places:
            changed += 1
            text = "\n".join(later[entry.path].decode().split("\n")[location.start - 1 : location.end])
            quote = next(taken.quote for key, taken in kept.items() if key[1:4] == (entry.path, entry.start, entry.end))
            said_exact = location.status in (LocationStatus.EXACT, LocationStatus.MOVED)
            false_exact += said_exact and text != quote
    print(f"\n{edits} edits a file: {right}/{moved} moved ranges found exactly ({right / moved:.4f})")
    print(f"{false_exact}/{changed} changed ranges called exact")
    assert right / moved >= 0.99
    assert false_exact == 0
