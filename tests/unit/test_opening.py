"""Places and the editor's command: what is refused before the disk is looked at."""

from __future__ import annotations

import copy
import pickle
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.consent import APPROVAL_SECONDS
from ltmem_gui.domain.errors import GrantExpired, GrantReused, RefusedError, UsageError
from ltmem_gui.domain.opening import Place, check_editor, editor_arguments, place_below
from ltmem_gui.domain.outside import OutsideGrant, StartProgram, mint_outside
from ltmem_gui.domain.settings import Settings

ACT = StartProgram(("/usr/bin/code", "-g", "/m/a b.md:3"), "editor", Place("/m", "a b.md", 3))


def test_no_editor_is_the_default_and_a_template_is_kept() -> None:
    assert Settings().editor == ""
    given_ = Settings().with_overrides(["editor= code -g {file}:{line} "])
    assert given_.editor == "code -g {file}:{line}"
    assert given_.with_overrides(["editor="]).editor == ""


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("code", "lacks {file} and {line}"),
        ("code {file}", "lacks {line}"),
        ("code +{line}", "lacks {file}"),
        ("{file} {line}", "begin with the name of a program"),
        ("'' {file} {line}", "begin with the name of a program"),
        ("code '{file} {line}", "cannot be split"),
    ],
)
def test_a_template_that_cannot_work_is_refused_in_words(template: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_editor(template)
    with pytest.raises(UsageError, match="editor"):
        Settings().with_overrides([f"editor={template}"])


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("sh -c 'vim {file} +{line}'", "argument of its own"),
        ("xterm -e 'vim +{line} {file}'", "argument of its own"),
        ("vim '+e {file}' +{line}", "argument of its own"),
        ("emacs --eval '(find-file \"{file}\")' +{line}", "argument of its own"),
        ("emacs --eval={file} +{line}", "argument of its own"),
        ("xterm +{line} -e {file}", "argument of its own"),
        ("vim +{line} -c {file}", "argument of its own"),
        ("ed '{file}' '{line};x'", "{line} must be"),
        ("ed {file} 'go to {line}'", "{line} must be"),
        ("sh -c {file} {line}", "argument of its own"),
        ("bash -c 'vim \"$0\"' {file} {line}", "shell or interpreter"),
        ("/usr/bin/env -S bash -lc 'vim \"$0\"' {file} {line}", "shell or interpreter"),
        ("python3.12 -c 'import os; os.system(1)' {file} {line}", "shell or interpreter"),
        ("node --eval x {file} {line}", "shell or interpreter"),
        ("perl -ne print {file} {line}", "shell or interpreter"),
        ("'C:\\Windows\\cmd.exe' /c start {file} {line}", "shell or interpreter"),
        ("powershell.exe -Command code {file} {line}", "shell or interpreter"),
        ("sh {file} {line}", "shell or interpreter"),
        ("python -u {file} {line}", "shell or interpreter"),
        ("ssh host vim +{line} {file}", "shell or interpreter"),
    ],
)
def test_a_value_is_nothing_but_an_argument(template: str, words: str) -> None:
    """A file's name is hostile: nothing may read it, or what stands beside it, as a command."""
    with pytest.raises(ValueError, match=words):
        check_editor(template)


@pytest.mark.parametrize(
    "template",
    [
        "code -g {file}:{line}",
        "code -g -r {file}:{line}:1",
        "codium --goto {file}:{line}",
        "zed {file}:{line}",
        "subl {file}:{line}",
        "vim +{line} {file}",
        "gvim --remote-silent +{line} {file}",
        "xterm -e vim +{line} {file}",
        "gnome-terminal -- nvim +{line} {file}",
        "nano +{line},1 {file}",
        "emacsclient -n -c +{line}:0 {file}",
        "idea --line {line} {file}",
        "kate -l {line} {file}",
        "mate -l{line} {file}",
        "'C:\\Program Files\\Notepad++\\notepad++.exe' -n{line} {file}",
        "ed --line={line} --file={file}",
        "python3 /home/dev/my_editor.py {file} {line}",
        "java -jar editor.jar --line {line} {file}",
    ],
)
def test_the_commands_of_editors_are_taken(template: str) -> None:
    assert check_editor(template) == template
    assert "/m/a b.md" in " ".join(editor_arguments(template, "/m/a b.md", 3))


def test_arguments_are_split_before_values_come_in() -> None:
    assert editor_arguments("code -g {file}:{line}", "/m/a b; rm -rf $HOME.md", 7) == (
        "code",
        "-g",
        "/m/a b; rm -rf $HOME.md:7",
    )
    assert editor_arguments("'my editor' --at={line} {file}", "/m/x", 0) == ("my editor", "--at=1", "/m/x")


@given(st.text(st.characters(exclude_characters="\0"), max_size=20), st.integers(-5, 10**6))
def test_a_value_is_never_split_or_read_as_a_mark(name: str, line: int) -> None:
    words = editor_arguments("ed +{line} {file}", f"/m/{name}{{line}}", line)
    assert words == ("ed", f"+{max(1, line)}", f"/m/{name}{{line}}")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", ".", "a/./b", "a\\..\\b"])
def test_a_place_does_not_leave_its_folder(path: str) -> None:
    with pytest.raises(RefusedError, match="leaves its folder"):
        _ = Place("/m", path).parts


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\u202eb", "a\u200bb", "a\x1bb"])
def test_a_name_that_cannot_be_shown_is_not_opened(name: str) -> None:
    with pytest.raises(RefusedError, match="cannot be seen"):
        _ = Place("/m", name).parts


def test_a_place_is_named_by_folder_and_file() -> None:
    place = place_below("/home/dev/.codex/sessions/", "/home/dev/.codex/sessions/2026/a.jsonl", 9)
    assert place == Place("/home/dev/.codex/sessions", "2026/a.jsonl", 9) or place.path == "2026/a.jsonl"
    assert (place.label, place.parts) == ("2026/a.jsonl:9", ("2026", "a.jsonl"))
    for outside in ("/home/dev/.codex/sessions", "/home/dev/.codex/sessions-old/a", "/etc/passwd"):
        with pytest.raises(RefusedError, match="not inside"):
            place_below("/home/dev/.codex/sessions", outside)


def test_a_grant_is_for_one_act_once_and_not_for_ever() -> None:
    now = [0]
    grant = mint_outside(ACT, lambda: now[0])
    assert shlex.split(ACT.command) == list(ACT.argv)
    grant.consume()
    with pytest.raises(GrantReused):
        grant.consume()
    late = mint_outside(ACT, lambda: now[0])
    now[0] = APPROVAL_SECONDS + 1
    with pytest.raises(GrantExpired):
        late.consume()
    with pytest.raises(TypeError, match="minted"):
        OutsideGrant(ACT, lambda: 0, mint=object())
    with pytest.raises(TypeError, match="copied"):
        pickle.dumps(grant)
    with pytest.raises(TypeError, match="copied"):
        copy.copy(grant)
