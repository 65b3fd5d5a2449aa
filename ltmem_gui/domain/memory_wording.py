"""Wording that makes memory text age badly or act on its reader: relative dates and instruction-like lines."""

from __future__ import annotations

import re

_RELATIVE = (
    r"today|yesterday|tomorrow|tonight|this (?:morning|afternoon|evening|week|month|quarter|year)|"
    r"(?:last|next) (?:night|week|month|quarter|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"(?:[0-9]+|a|an|one|two|three|few|couple of) (?:minute|hour|day|week|month|year)s? ago|"
    r"heute|gestern|vorgestern|übermorgen|(?:diese|letzte|vorige|nächste|kommende)[nrs]? "
    r"(?:woche|monat|quartal|jahr|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|"
    r"vor (?:[0-9]+|einem|einer|zwei|drei) (?:minute|stunde|tag|woche|monat|jahr)(?:e?n?)|"
    r"hoy|ayer|anteayer|la semana (?:pasada|que viene)|el (?:mes|año) pasado|"
    r"aujourd'hui|avant-hier|demain|la semaine (?:dernière|prochaine)"
)
RELATIVE_DATE = re.compile(
    rf"(?<![\w/.-])(?:{_RELATIVE})(?![\w/-])|昨天|今天|明天|上周|下周|昨日|先週|来週", re.IGNORECASE
)
ABSOLUTE_DATE = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?(?![0-9])|[0-9]{1,2}\.[0-9]{1,2}\.20[0-9]{2}"
)

INSTRUCTION = re.compile(
    r"(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|every\s+)*"
    r"(?:previous|prior|above|earlier|preceding|system|other)\s+(?:instruction|prompt|rule|message|direction|context)|"
    r"(?:ignoriere|vergiss|missachte)\s+(?:alle\s+|die\s+|deine\s+)*(?:vorherigen|bisherigen|obigen|früheren)\s+\w+|"
    r"(?:ignora|olvida)\s+(?:todas\s+|las\s+|tus\s+)*(?:instrucciones|reglas)\s+(?:anteriores|previas)|"
    r"(?:ignore|oublie)\s+(?:toutes\s+)?les\s+instructions\s+précédentes|"
    r"忽略(?:之前|以上|所有).{0,6}(?:指令|指示|提示)|"
    r"you are now\s+(?:a|an|in|the)\b|new (?:system )?instructions?\s*:|"
    r"(?:reveal|print|show|output|leak)\s+(?:me\s+)?(?:the|your)\s+(?:system prompt|hidden prompt|instructions)|"
    r"do not (?:tell|inform|mention (?:this|it) to|ask)\s+the user|without (?:telling|asking|informing) the user|"
    r"</?(?:system|assistant|developer|instructions?)>|\[/?(?:INST|SYS)\]|<\|(?:im_start|im_end|system)\|>|"
    r"(?:curl|wget)\b[^|\n]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b|"
    r"(?:send|post|upload|exfiltrate)\s+[^.\n]{0,60}(?:secret|token|password|credential|api key)s?\s+to\b",
    re.IGNORECASE,
)

BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*]*[^\s*])\*\*(?![\w*])")


def has_relative_date(text: str) -> bool:
    """Tell whether a line speaks of a day that only its writer knew, without naming the date."""
    return RELATIVE_DATE.search(text) is not None and ABSOLUTE_DATE.search(text) is None


def reads_like_an_instruction(text: str) -> bool:
    """Tell whether a line tries to steer whoever reads it, rather than inform."""
    return INSTRUCTION.search(text) is not None
