"""`cite audit` as a person calls it."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.audit import Support
from ltmem_gui.domain.audit_queue import AuditQueue
from ltmem_gui.domain.audit_report import read_json_lines
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.extraction import ExtractionReply, StageOneOutput
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.pipeline.audit import load_audit
from ltmem_gui.pipeline.ports import Adapters
from tests.helpers.audits import MEMORY, SUMMARY
from tests.helpers.bench import NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree


class Folder(Bench):
    """A bench whose adapters outlive a command."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        (self.memory / "rollout_summaries").mkdir(parents=True)
        (self.memory / "MEMORY.md").write_text(MEMORY)
        (self.memory / "rollout_summaries" / "a.md").write_text(SUMMARY)
        (self.memory / "memory_summary.md").write_text("v1\n")

    def call(self, *argv: str, stdin: str = "", where: bool = True) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        folders = ("--home", str(self.home), "--memory-root", str(self.memory)) if where else ()
        surfaces = Surfaces(compose=lambda home: self, launch_window=lambda options: 0)
        code = run(["cite", "audit", *argv, *folders], surfaces, io.StringIO(stdin), out, err)
        return code, out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path: Path, guard: Guard) -> Folder:
    made = Folder(tmp_path)
    guard.protect(made.home, made.memory)
    return made


def test_figures_in_words(folder: Folder) -> None:
    code, out, _ = folder.call("show", "--usage")
    assert code == 0
    assert out.startswith("all 5 of 5, seed 0")
    assert "Claims with a citation that is in its place: 2 of 6 (33 %)" in out
    assert "MEMORY.md:14: uncited: nobody said this" in out
    assert not folder.home.exists()


@pytest.mark.parametrize("form", ["html", "md", "csv", "jsonl", "sarif"])
def test_every_form_goes_to_the_output_or_to_a_new_file(folder: Folder, form: str, tmp_path: Path) -> None:
    before = tree(folder.memory)
    code, printed, _ = folder.call("export", "--format", form, "--method", "random", "--size", "2", "--seed", "7")
    assert code == 0
    assert printed.count("use pnpm") <= 4
    target = tmp_path / f"report.{form}"
    sample = ("--method", "random", "--size", "2", "--seed", "7")
    code, out, _ = folder.call("export", "--format", form, *sample, "--out", str(target))
    assert (code, out) == (0, f"written: {target}\n")
    assert target.read_bytes().decode() == printed
    code, _, err = folder.call("export", "--format", form, "--out", str(target))
    assert code == 1
    assert "name a new file" in err
    assert target.read_bytes().decode() == printed
    assert tree(folder.memory) == before
    assert not folder.home.exists()


def test_a_report_is_never_written_into_the_memory_or_the_data_folder(folder: Folder, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder.memory)
    for place in (
        folder.memory / "r.md",
        folder.memory / "rollout_summaries" / "r.md",
        folder.home / "r.md",
        link / "r",
    ):
        code, _, err = folder.call("export", "--format", "md", "--out", str(place))
        assert code == 4, err
        assert not place.exists()
    code, _, err = folder.call("export", "--format", "md", "--out", str(tmp_path))
    assert (code, "cannot be written" in err) == (1, True)


def test_a_sample_needs_a_size_and_folders_a_name(folder: Folder) -> None:
    assert folder.call("export", "--format", "md", "--method", "random")[0] == 2
    assert folder.call("export", "--format", "md", where=False)[0] == 2
    assert folder.call("show", "--method", "stratified", "--size", "2", "--by", "file")[0] == 0


def test_verdicts_of_a_report_become_a_plan(folder: Folder, tmp_path: Path) -> None:
    audit = asyncio.run(load_audit(folder, folder.request(sources=()), cancel=CancelToken(), listen=ignore))
    record = AuditQueue(audit.found.items, (), rater="ann", frame="f").judge(Support.PARTLY, at=5, note="half")
    assert record is not None
    _, text, _ = folder.call("export", "--format", "jsonl")
    line = {"kind": "record", "at": 5, "rater": "ann", "frame": "f", "item": record.item, "verdict": "partly"}
    report = tmp_path / "r.jsonl"
    report.write_text(text + json.dumps(line | {"note": "half", "binding": record.binding}) + "\n")
    assert len(read_json_lines(report.read_text(), where="r").records) == 1

    code, out, _ = folder.call("import", str(report))
    assert code == 0
    assert "audit (apply)" in out
    assert "1 verdicts of ann are appended\n        frame: f" in out
    code, out, _ = folder.call("import", "-", "--json", stdin=report.read_text())
    plan = json.loads(out)
    assert (code, plan["effects"][1]["records"][0]["note"]) == (0, "half")
    assert not folder.home.exists()
    saved = tmp_path / "plan.json"
    saved.write_text(out)

    surfaces = Surfaces(compose=lambda home: _same(folder), launch_window=lambda options: 0)
    applied = io.StringIO()
    argv = ["apply", "--plan", str(saved), "--digest", plan["digest"]]
    assert run(argv, surfaces, io.StringIO(), applied, applied) == 0, applied.getvalue()
    code, out, _ = folder.call("show")
    assert "Judged: 1 of 5" in out
    second = {**line, "rater": "bob", "verdict": "supports", "binding": record.binding}
    report.write_text(text + json.dumps(second) + "\n")
    _, out, _ = folder.call("import", str(report), "--json")
    saved.write_text(out)
    argv[-1] = json.loads(out)["digest"]
    assert run(argv, surfaces, io.StringIO(), applied, applied) == 0, applied.getvalue()
    _, out, _ = folder.call("show", "--differences")
    assert "use pnpm, never npm: ann: partly; bob: supports" in out
    assert "κ = 0.00" in out
    report.write_text(text + json.dumps(line | {"note": "half", "binding": record.binding}) + "\n")
    assert folder.call("import", str(report))[0] == 3
    saying = folder.call("export", "--format", "md")[1]
    assert "**partly** — ann" in saying


def _same(folder: Composition) -> Adapters:
    return folder


def test_usage_says_why_each_memory_is_kept(folder: Folder, guard: Guard) -> None:
    output = StageOneOutput("t-1", 5, "raw", "sum", None, NOW, None, None)
    owner = Owner("host", 1, 1, "me")
    with guard.grant():
        folder.stores.create_home(folder.home)
        with folder.stores.writing(folder.home) as store:
            job = PlannedJob(thread_id="t-1", agent="codex", path="/x", size=1, mtime_ns=1, source_updated_at=5)
            claim = store.claim_stage1(job, owner, now=NOW, cap=9).claim
            assert claim is not None
            store.succeed_stage1(claim, output, ExtractionReply("{}"), now=NOW)
    _, out, _ = folder.call("show", "--usage")
    assert "session t-1: never used; made 2026-05-28; kept until" in out


def test_what_is_no_report_is_refused(folder: Folder, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff\xfe")
    for name in (str(bad), str(tmp_path / "none")):
        code, _, err = folder.call("import", name)
        assert code == 1
        assert "cannot be read" in err
    bad.write_text("{}")
    code, _, err = folder.call("import", str(bad))
    assert code == 1
    assert f"{bad}:1: not a report" in err


def test_a_huge_report_is_not_read(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.cli.audit.MAX_REPORT_BYTES", 3)
    big = tmp_path / "big"
    big.write_text("1234")
    assert "too large" in folder.call("import", str(big))[2]
