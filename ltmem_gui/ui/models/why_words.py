"""What to do about a broken link of the chain, in words of the window, with the action that does it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ltmem_gui.pipeline.explain import Link


@dataclass(frozen=True, slots=True)
class Step:
    """A next step: words, and the id of an action where the window has one."""

    words: str
    action: str = ""


# The words of the command line → those of the window. What is not listed is said alike on both.
_STEPS: Final[Mapping[str, Step]] = {
    "give --source codex=DIR": Step("name a sessions folder, then scan it", "folders.open"),
    "give --memory-root DIR": Step("name a memory folder", "folders.open"),
    "check the folder's name": Step("check the folder's name", "folders.open"),
    "ltmem-gui plan extract, then confirm the plan": Step("press Run and confirm what it shows", "run.start"),
    "ltmem-gui plan consolidate, then confirm the plan": Step(
        "press Consolidate, review the plan, and apply it", "run.consolidate"
    ),
    "look at it and confirm it": Step("review it, then apply it", "panel.review"),
    "ltmem-gui plan release THREAD": Step("release them in the queue", "panel.queue"),
    "ltmem-gui inbox lists them; take what is right": Step("take what is right in the inbox", "panel.inbox"),
    "split them: ltmem-gui plan split THREAD": Step("split them in the queue", "panel.queue"),
    "release them: ltmem-gui plan release THREAD": Step("retry or release them in the queue", "panel.queue"),
    "ltmem-gui jobs tells the reason": Step("the queue tells the reason of each", "panel.queue"),
    "the settings of these rules can be changed": Step("the queue tells each rule and its value", "panel.queue"),
    "plan it again": Step("consolidate again", "run.consolidate"),
    "plan it anew": Step("consolidate anew", "run.consolidate"),
    "check the key": Step("check the key of the provider", "provider.open"),
    "check its address, and whether it runs": Step("check its address, and whether it runs", "provider.open"),
    "try another model": Step("choose another model", "provider.open"),
    "look at your account, or use the built-in provider": Step(
        "look at your account, or choose the built-in rules", "provider.open"
    ),
}


def step_of(link: Link, *, can_scan: bool = False) -> Step:
    """Return the next step of a link, without words where there is none; `can_scan`: a sessions folder is named."""
    if can_scan and link.name == "Sessions folder" and not link.holds:
        return Step("scan the sessions folder that is named", "run.scan")
    return _STEPS.get(link.remedy, Step(link.remedy))
