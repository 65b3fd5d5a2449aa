"""Cut a person's message into sentences that can be quoted, leaving out what is not their own speech.

Fenced code, quoted lines, pasted logs and long quotations are somebody else's words: a rule in them is no rule of the
person. Sentences keep their exact characters; only the place where they end is decided here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"(?:^|\n)[ \t]*(```|~~~).*?(?:\n[ \t]*\1[^\n]*|\Z)", re.DOTALL)
_TAG_BLOCK = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|Traceback \(most|File \"|at [\w.$<>]+\(|"
    r"E {2,}|\$ |>>> |\+\+\+ |--- |@@ |diff --git"
    r"|(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[ :\]]|npm ERR!|[\w.]*(?:Error|Exception): |"
    r"\[(?:INFO|DEBUG|WARN|WARNING|ERROR)\]|[{}\[\]()]+[,;]?$"
    r"|(?:def|class|import|from|const|let|var|function|public|private|return|#include|SELECT|INSERT|"
    r"UPDATE)\s.*[:;{(]|[|].*[|]\s*$).*$",
    re.MULTILINE,
)
_LONG_QUOTE = re.compile(
    r"\"[^\"\n]{25,}\"|“[^”]{25,}”|„[^“”]{25,}[“”]|«[^»]{25,}»|「[^」]{12,}」|『[^』]{12,}』|"
    r"(?<![\w])'[^'\n]{40,}'(?!\w)|(?<=[:\s])'[^\n]{60,}'"
)
# A quotation of several sentences: whatever rules are in it, the person only shows them.
_QUOTED_PASSAGE = re.compile(
    r"“[^”]{8,}?[.!?。！？][^”]{8,}”|„[^“”]{15,}?[.!?][^“”]{8,}[“”]|«[^»]{15,}?[.!?][^»]{8,}»|"
    r"\"[^\"\n]{15,}?[.!?。！？]\s*[^\"\n]{8,}\"|[「『][^」』]{8,}?[。！？][^」』]{6,}[」』]"
)
_CONTENT_REQUEST = re.compile(
    r"\b(?:summari[sz]e|translate|proof-?read|paraphrase|rephrase|rewrite|shorten|polish|edit|correct|"
    r"improve|critique|grade|tl;?dr|analy[sz]e|review|explain|reply to|answer|convert"
    r"|zusammen(?:fassen)?|fass\w*|übersetz\w*|korrigier\w*|kürz\w*|formulier\w*|verbesser\w*|erklär\w*|"
    r"res[uú]m\w*|trad[uú][cz]\w*|corr[ií][gj]\w*|reescr[ií]\w*|parafr\w*|mej[oó]r[ae]\w*|ac[oó]rt\w*|"
    r"expl[ií][cq]\w*)\b"
    r"|总结|翻译|改写|润色|校对|概括|缩写|解释",
    re.IGNORECASE,
)
_HANDED_OVER = re.compile(
    r"\b(?:here(?:'s| is| are)|this is|below is|below are|the following|pasted?|got this|i got|it says|"
    r"it said|he wrote|she wrote|they wrote|log|output|error|e-?mail|text|"
    r"paragraph|abstract|essay|article|post|letter|readme|readme says|message|hier ist|hier der|"
    r"folgend\w*|aquí (?:está|tienes)|el siguiente|la siguiente|este texto)\b[^\n:]{0,60}:\s*(?:\n|$)"
    r"|(?:以下|下面|这段|这是)[^\n：:]{0,20}[：:]",
    re.IGNORECASE,
)
_RULES_FOLLOW = re.compile(
    r"\b(?:rules?|conventions?|guidelines?|preferences?|house style|ground rules|standards?|regeln|"
    r"konventionen|vorgaben|reglas|normas|convenciones|preferencias)\b|规则|规范|约定",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[\"')\]”’]*(?=\s|$)|[。！？；]+[”」』]?|\n+|\s[-–—]{1,2}\s(?=(?:and|und|y)\b)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|excl|no|nr|fig|mr|mrs|ms|dr|st|z\.\s?b|d\.\s?h|bzw|ca|"
    r"usw|evtl|ggf|inkl|u\.\s?a|p\.\s?ej|sr|sra|pág|núm|v|ver)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)]|[a-z]\))\s+")
_IDE_REQUEST = re.compile(r"^#+ My request for [^\n]*:\s*$", re.MULTILINE)
_HOST_TEXT = re.compile(
    r"^\s*(?:<(?:environment_context|user_instructions|system|turn_aborted|command-|local-command|"
    r"INSTRUCTIONS)|# AGENTS\.md|Caveat: The messages below)"
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MATERIAL_MARK = re.compile(r"[:：](?:\s|$)|\n\s*\n")
MAX_SENTENCE = 600
# What stands below a first line that asks about it: a document with its own head, greeting or marks.
_DOCUMENT = re.compile(
    r"\s*(?:#{1,6} \S|(?:title|subject|from|to|date|betreff|von|an|asunto|de|para|主题|标题|发件人|收件人)\s*[:：]"
    r"|(?:hi|hello|hey|dear|greetings|good (?:morning|afternoon)|hallo|guten tag|liebe[rs]?|sehr geehrte\w*|"
    r"hola|buen[oa]s (?:días|tardes)|estimad[oa]s?|querid[oa]s?)\b[^.!?,\n]{0,60}(?:[,:!]|\n)|(?:各位|尊敬的|"
    r"亲爱的|您好|大家好))",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(
    r"\b(?:this|these|that|he|she|they|it|them|below|following|das|dies\w*|der|die|er|sie|folgend\w*|"
    r"est[aoe]s?|es[aoe]s?|"
    r"siguiente|me)\b|[这那]|以下|下面",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:also|and|but|please|btw|by the way|note|remember|one more|another|plus|from now|next time|i|we|my|our|"
    r"außerdem|und|aber|bitte|übrigens|noch|ab jetzt|ich|wir|unser\w*|además|y|pero|por favor|por cierto|"
    r"nosotros|nuestr\w+)\b|\s*(?:另外|还有|对了|请|顺便|我|咱)",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[.!?。！？](?=\s|$|[^\s\w])|\n|[。！？]")
MANY_SENTENCES = 3
HEAD_CHARS = 200
MATERIAL = 30  # characters after a colon that are worth working on
LONG_MATERIAL = 300  # characters after a blank line without a colon


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its exact text; `plain` is it without long quotations.

    `listed`: a point of a list that a line such as "our conventions:" opens; `paragraph` counts from 0.
    """

    text: str
    plain: str
    listed: bool
    paragraph: int


def own_words(message: str) -> str:
    """Return the message with everything blanked that the person only handed over; offsets stay the same."""
    if _HOST_TEXT.match(message):
        return ""
    text = message
    requests = list(_IDE_REQUEST.finditer(message))
    if requests:
        text = _blank(text, 0, requests[-1].end())
    for pattern in (_FENCE, _TAG_BLOCK, _QUOTED_LINE, _LOG_LINE):
        if pattern is not _TAG_BLOCK or "</" in text:
            text = pattern.sub(lambda m: _spaces(m[0]), text)
    text = _QUOTED_PASSAGE.sub(lambda m: _spaces(m[0]), text)
    announced = ":" in text or "：" in text
    handed = _HANDED_OVER.search(text) if announced else None
    if handed and not _RULES_FOLLOW.search(text[max(0, handed.start() - 60) : handed.end()]):
        text = _blank(text, handed.end(), len(text))
    if announced or _BLANK_LINE.search(text):
        return _without_document(_without_material(text))
    return text


def sentences(message: str) -> list[Sentence]:
    """Return the sentences of a message in order; empty ones, pasted material and overlong ones are left out."""
    text = own_words(message)
    found: list[Sentence] = []
    under_rules = False
    paragraph = 0
    before = 0
    for start, end in _spans(text):
        piece = text[start:end].strip()
        left = start + len(text[start:end]) - len(text[start:end].lstrip())
        paragraph += bool(_BLANK_LINE.search(text[before:left]) and found)
        before = left + len(piece)
        if message[left : left + len(piece)] == piece:  # else something was masked in its middle
            quoted = _BULLET.sub("", piece)
            bullet = quoted != piece
            plain = _LONG_QUOTE.sub(" ", quoted)
            if plain.strip(" .!?,;:-–—*_#\"'") and len(quoted) <= MAX_SENTENCE and not piece.endswith((":", "：")):
                found.append(Sentence(quoted, plain, under_rules and bullet, paragraph))
            if piece.endswith((":", "：")) or not bullet:
                under_rules = piece.endswith((":", "：")) and bool(_RULES_FOLLOW.search(piece))
    return found


def _without_material(text: str) -> str:
    """Blank what follows the colon of "summarise this: …": it is material to work on."""
    head = text[:160]
    request = _CONTENT_REQUEST.search(head)
    if request is None or _RULES_FOLLOW.search(head):
        return text
    rest = text[request.end() :]
    mark = _MATERIAL_MARK.search(rest)
    if mark is None:
        return text
    start = request.end() + mark.start() + 1
    announced = mark[0].lstrip().startswith((":", "："))
    return _blank(text, start, len(text)) if len(text) - start > (MATERIAL if announced else LONG_MATERIAL) else text


def _without_document(text: str) -> str:
    """Blank what stands below a first line that asks about it: a pasted mail, ticket or page."""
    gap = _BLANK_LINE.search(text)
    if gap is None or not text[: gap.start()].strip() or gap.start() > HEAD_CHARS:
        return text
    head, rest = text[: gap.start()].strip(), text[gap.end() :]
    if _RULES_FOLLOW.search(head):
        return text
    asks = head.endswith(("?", "？", ":", "："))
    foreign = asks and _POINTS_AT.search(head) and not _GOES_ON.match(rest)
    many = len(_SENTENCE_ENDS.findall(rest.strip())) >= MANY_SENTENCES
    if _DOCUMENT.match(rest) or (foreign and many):
        return _blank(text, gap.end(), len(text))
    return text


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for mark in _END.finditer(text):
        piece = text[start : mark.end()]
        if mark[0].startswith(".") and _ABBREVIATION.search(text[max(start, mark.start() - 8) : mark.start() + 1]):
            continue
        if piece.count("`") % 2 and "\n" not in mark[0]:
            continue
        if piece.strip():
            spans.append((start, mark.end()))
        start = mark.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + _spaces(text[start:end]) + text[end:]


def _spaces(text: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in text)
