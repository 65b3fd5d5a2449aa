"""What a person can do in the review; keys are in the one table of `ui/keys.py`."""

from __future__ import annotations

from ltmem_gui.ui.actions import ActionSpec
from ltmem_gui.ui.verdict_ids import verdict_titles

REVIEW_ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("review.next_change", "Next change", "diff"),
    ActionSpec("review.previous_change", "Previous change", "diff"),
    ActionSpec("review.next_undecided", "Next undecided change", "diff"),
    ActionSpec("review.previous_undecided", "Previous undecided change", "diff"),
    ActionSpec("review.next_finding", "Next finding", "diff"),
    ActionSpec("review.previous_finding", "Previous finding", "diff"),
    ActionSpec("review.next_file", "Next file", "diff"),
    ActionSpec("review.previous_file", "Previous file", "diff"),
    ActionSpec("review.accept", "Accept", "diff", tip="Accept this change, or the selected rows of it"),
    ActionSpec("review.reject", "Reject", "diff", tip="Reject this change, or the selected rows of it"),
    ActionSpec("review.edit", "Edit…", "diff", tip="Edit the new lines of this change"),
    ActionSpec("review.undecide", "Back to undecided", "diff"),
    ActionSpec("review.undo", "Undo the last decision", "diff"),
    ActionSpec("review.accept_block", "Accept the task group", "diff"),
    ActionSpec("review.reject_block", "Reject the task group", "diff"),
    ActionSpec("review.accept_file", "Accept the whole file", "diff"),
    ActionSpec("review.reject_file", "Reject the whole file", "diff"),
    ActionSpec("review.note", "Note on this change…", "diff", tip="Kept with the receipt"),
    ActionSpec("review.source", "Go to the source of this line", "diff"),
    ActionSpec("review.next_source", "Next source of this line", "diff"),
    *(
        ActionSpec(id_, title, "diff", tip="Does the source that is shown support the line?")
        for id_, title in verdict_titles("review", "Verdict: ").items()
    ),
    ActionSpec("review.undo_verdict", "Take the verdict back", "diff"),
    ActionSpec("review.unfold", "Show more of a fold", "diff"),
    ActionSpec("review.whole_file", "Whole file", "diff", tip="Show every unchanged line, or fold them"),
    ActionSpec("review.side_by_side", "Side by side", "diff", tip="Old and new beside each other"),
    ActionSpec("review.whitespace", "White space", "diff", tip="Look past white space; changes no decision"),
    ActionSpec("review.reading_list", "Reading list", "diff", tip="The same rows as a table"),
    ActionSpec("review.long_line", "Show the whole line", "diff"),
    ActionSpec("review.find_next", "Next place found", "diff"),
    ActionSpec("review.find_previous", "Previous place found", "diff"),
    ActionSpec("review.copy", "Copy as text", "diff"),
    ActionSpec("review.copy_patch", "Copy as patch", "diff"),
    ActionSpec("review.copy_place", "Copy path:line", "diff"),
    ActionSpec("review.open_editor", "Open in your editor…", "diff", tip="The file at this line; asks first"),
    ActionSpec("review.show_file", "Show in the file manager…", "diff", tip="Asks first"),
    ActionSpec("review.regenerate", "Regenerate with a note…", "diff", tip="A new run, told what to change"),
    ActionSpec("review.export", "Export the review…", "diff", tip="To a file of your choice, or to the clipboard"),
    ActionSpec("review.apply", "Apply…", "diff", tip="Opens the sheet of effects; never writes by itself"),
)

MENU_ACTIONS: tuple[str, ...] = (
    "review.accept",
    "review.reject",
    "review.edit",
    "review.undecide",
    "review.note",
    "review.accept_block",
    "review.source",
    "review.copy",
    "review.copy_patch",
    "review.copy_place",
    "review.open_editor",
    "review.show_file",
    "review.long_line",
    "review.regenerate",
)
