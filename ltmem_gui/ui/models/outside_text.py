"""Put an act outside the named folders into the words of its sheet: the command or the file, to the letter."""

from __future__ import annotations

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.outside import OutsideAct, StartProgram
from ltmem_gui.ui.models.act_words import ActWords
from ltmem_gui.ui.models.formats import plural, size


def describe_act(act: OutsideAct) -> ActWords:
    """Describe what a yes would do."""
    if isinstance(act, StartProgram):
        title = "Open this file in your editor?" if act.purpose == "editor" else "Show this file in the file manager?"
        return ActWords(
            title,
            "Starts this command, once, without a shell",
            act.command,
            (
                f"{one_line(act.place.path, 400)}, line {act.place.line}",
                "The file is only named to the program, never executed. What the program then does is up to it.",
            ),
            "Open" if act.purpose == "editor" else "Show",
        )
    warnings: list[str] = []
    if act.replaces is not None:
        warnings.append(f"Replaces the file that is there ({size(act.replaces.size)}). Its text is lost.")
    facts = [f"{one_line(act.what)}, {size(act.size)}"]
    if act.redactions is not None:
        found = f"{plural(act.redactions, 'secret')} replaced in it"
        facts.append(found if act.redactions else "No secret was found in it")
    return ActWords(
        "Write this file?",
        "Writes",
        one_line(act.path, 4_000),
        tuple(facts),
        "Replace" if act.replaces is not None else "Write",
        tuple(warnings),
    )
