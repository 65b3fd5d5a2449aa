"""The real program, an empty home folder, and sessions to learn from."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.program import Program
from tests.helpers.sessions import write_codex

SECRET = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"


@dataclass(frozen=True)
class Template:
    """Sessions, and a place where a first run over them is finished; copied for each test that starts there."""

    sessions: Path
    place: Path


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    top = tmp_path_factory.mktemp("template")
    sessions = _lay_sessions(top / "codex" / "sessions")
    first = Program(top / "place")
    first.place.mkdir()
    first.run(f"codex={sessions}")
    return Template(sessions, first.place)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program in an empty place."""
    place = tmp_path / "place"
    place.mkdir()
    return Program(place)


@pytest.fixture
def sessions(template: Template, tmp_path: Path) -> Path:
    """Three sessions worth a memory (one with a planted key), a chat, a script run and a sub-agent."""
    return Path(shutil.copytree(template.sessions, tmp_path / "codex"))


@pytest.fixture
def written(template: Template, program: Program) -> Program:
    """The program in a place where a first run is finished."""
    shutil.copytree(template.place, program.place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("audit-*"))
    return program


def _lay_sessions(folder: Path) -> Path:
    write_codex(
        folder,
        [
            ("user", "Add a date picker to the form."),
            ("call", "npm install react-day-picker"),
            ("failed", 'npm ERR! Unsupported URL Type "workspace:"'),
            ("user", "No, never use npm in this repo. Always use pnpm, it is a pnpm workspace."),
            ("assistant", "Understood, switching to pnpm."),
        ],
        number=1,
        cwd="/home/dev/shop",
    )
    write_codex(
        folder,
        [
            ("user", "Why do the tests fail?"),
            ("user", "The tests need DJANGO_SETTINGS_MODULE=config.settings.test, otherwise they fail."),
            ("assistant", "Understood."),
        ],
        number=2,
        cwd="/home/dev/api",
    )
    write_codex(
        folder,
        [
            ("user", f"Log in with the token {SECRET}, only for now."),
            ("assistant", "Logged in."),
            ("user", "Always run `kubectl diff` before a deploy in this repo."),
        ],
        number=3,
        cwd="/home/dev/infra",
    )
    write_codex(folder, [("user", "what does HTTP 418 mean?"), ("assistant", "I am a teapot.")], number=4)
    write_codex(folder, [("user", "Run the checks."), ("assistant", "Done.")], number=5, source="exec")
    write_codex(folder, [("user", "Review it."), ("assistant", "Fine.")], number=6, source={"subagent": "review"})
    return folder.parent
