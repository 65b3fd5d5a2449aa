"""Tokens that tell their maker by a prefix or a mark: found anywhere, without a keyword near.

Each rule has literal anchors (found with `str.find`, so that rules cost nothing in texts without them) and a pattern
that is matched at the anchor. Rules whose mark stands in the middle or at the end (`:AA`, `-us12`, `Q~`) look around
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.document import PIECE, Document, occurrences
from ltmem_gui.domain.redaction.edges import free_left
from ltmem_gui.domain.redaction.values import is_dummy, looks_random, random_share
from ltmem_gui.domain.secrets import SecretFinding


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A token that begins with one of `anchors`; `tail` matches what follows.

    `strict` asks for random-looking text after the prefix and a word border before it; `size` is the length after the
    prefix when the maker fixed it (then a token wrapped over two lines is put together).
    """

    kind: str
    anchors: tuple[str, ...]
    tail: re.Pattern[str]
    strict: bool = False
    size: int = 0


def _rule(kind: str, anchors: str, tail: str, *, strict: bool = False, size: int = 0) -> Prefixed:
    return Prefixed(kind, tuple(anchors.split()), re.compile(tail), strict, size)


_W: Final = r"[A-Za-z0-9_-]"
_A: Final = r"[A-Za-z0-9]"
_X: Final = r"[0-9a-fA-F]"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

PREFIXED: Final = (
    # models
    _rule(kinds.API_KEY, "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-or- sk-lf- sk-None-", _W + "{16,}"),
    _rule(kinds.API_KEY, "sk-", _W + "{18,}", strict=True),
    _rule(kinds.API_KEY, "xai- gsk_ pplx- csk- jina_", _A + "{20,}"),
    _rule(kinds.API_KEY, "hf_ api_org_ r8_ fw_ fpk_ rpa_ e2b_", _A + "{20,}", strict=True),
    _rule(kinds.API_KEY, "nvapi- tvly- tgp_v1_ pa- lsv2_pt_ lsv2_sk_ wandb_v1_ vck_", _W + "{24,}", strict=True),
    _rule(kinds.API_KEY, "fc-", "[0-9a-f]{32}", strict=True),
    _rule(kinds.API_KEY, "ABSK", "[A-Za-z0-9+/]{60,}={0,2}"),
    # clouds
    _rule(kinds.CLOUD_KEY, "AIza", _W + "{30,40}", size=35),
    _rule(kinds.CLOUD_KEY, "ya29. GOCSPX-", r"[A-Za-z0-9_.-]{18,}"),
    _rule(kinds.CLOUD_KEY, "1//0", _W + "{30,}"),
    _rule(kinds.CLOUD_KEY, "AQ.Ab", _W + "{30,}"),
    _rule(kinds.AWS_KEY, "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", size=16),
    _rule(kinds.AWS_KEY, "LTAI AKID AKLT", _A + "{16,40}", strict=True),
    _rule(kinds.AWS_KEY, "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/\\%]{40,}={0,2}"),
    _rule(kinds.CLOUD_KEY, "dop_v1_ doo_v1_ dor_v1_", _X + "{40,}", size=64),
    _rule(kinds.CLOUD_KEY, "HRKU- nfp_ nfc_ nfo_ nfb_", _W + "{30,}"),
    _rule(kinds.CLOUD_KEY, "dapi dkea dose", r"[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    _rule(kinds.CLOUD_KEY, "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_otkn_", r"[A-Za-z0-9_.-]{24,}"),
    _rule(kinds.CLOUD_KEY, "vcp_ vci_ vca_ vcr_", _A + "{24,}", strict=True),
    _rule(kinds.CLOUD_KEY, "sbp_ sb_secret_ napi_ rnd_ fo1_ rlwy_", _W + "{20,}", strict=True),
    _rule(kinds.CLOUD_KEY, "fm1r_ fm1a_ fm2_ fm1_", r"[A-Za-z0-9+/=,_-]{40,}"),
    _rule(kinds.CLOUD_KEY, "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    _rule(kinds.CLOUD_KEY, "pul-", "[0-9a-f]{36,}"),
    _rule(kinds.CLOUD_KEY, "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", r"[A-Za-z0-9_.-]{32,}"),
    _rule(kinds.CLOUD_KEY, "hvs. hvb. hvr.", _W + "{20,}"),
    _rule(kinds.CLOUD_KEY, "AQVN t1.9eu", r"[A-Za-z0-9_.=-]{34,}", strict=True),
    _rule(kinds.CLOUD_KEY, "ops_eyJ", r"[A-Za-z0-9+/_=-]{40,}"),
    _rule(kinds.CLOUD_KEY, "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _rule(kinds.CLOUD_KEY, "SWMTKN-1- SWMKEY-1-", r"[A-Za-z0-9+/-]{40,}"),
    _rule(kinds.CLOUD_KEY, "sha256~", _W + "{40,}"),
    _rule(kinds.CLOUD_KEY, "tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    _rule(kinds.PRIVATE_KEY, "AGE-SECRET-KEY-", r"[0-9A-Za-z]{40,}"),
    _rule(kinds.PRIVATE_KEY, "nsec1", r"[02-9ac-hj-np-z]{58}"),
    _rule(kinds.PRIVATE_KEY, "xprv yprv zprv", r"[1-9A-HJ-NP-Za-km-z]{100,}"),
    # forges
    _rule(kinds.GITHUB_TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", _A + "{20,255}", size=36),
    _rule(kinds.GITHUB_TOKEN, "github_pat_", "[A-Za-z0-9_]{22,255}", size=82),
    _rule(
        kinds.GITLAB_TOKEN,
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- glimt- gloas- glffct- glwt- GR1348941",
        r"[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9,})?",
    ),
    _rule(kinds.API_KEY, "ATATT3 ATCTT3 ATBB BBDC-", r"[A-Za-z0-9_=+/@-]{24,}", strict=True),
    _rule(kinds.API_KEY, "sgp_ slk_ CCIPAT_ CCIPRJ_ bkua_ bkaj_ bkat_ bkct_", _W + "{32,}", strict=True),
    # chat
    _rule(
        kinds.CHAT_TOKEN,
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxe.xoxb- xoxe.xoxp- xapp- xwfp-",
        r"[A-Za-z0-9-]{16,}",
    ),
    _rule(kinds.COOKIE, "xoxd-", r"[A-Za-z0-9%+/=_-]{20,}"),
    _rule(kinds.CHAT_TOKEN, "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}"),
    _rule(
        kinds.CHAT_TOKEN,
        "discord.com/api/ discordapp.com/api/ ptb.discord.com/api/",
        r"(?:v\d+/)?webhooks/\d{15,21}/[A-Za-z0-9_-]{30,}",
    ),
    _rule(kinds.CHAT_TOKEN, "webhook.office.com/webhookb2/ outlook.office.com/webhook/", r"[A-Za-z0-9@/_-]{60,}"),
    _rule(kinds.CHAT_TOKEN, "open.feishu.cn/open-apis/bot/v2/hook/ open.larksuite.com/open-apis/bot/v2/hook/", _UUID),
    _rule(kinds.CHAT_TOKEN, "mfa.", _W + "{60,}", strict=True),
    # payment and mail
    _rule(kinds.PAYMENT_KEY, "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", r"[A-Za-z0-9+/=]{16,}"),
    _rule(kinds.PAYMENT_KEY, "sk_ sk_sbox_ sk_org_", "[A-Za-z0-9_]{24,}", strict=True),
    _rule(kinds.PAYMENT_KEY, "sq0atp- sq0csp- sq0idp- EAAAl EAAAE", _W + "{20,}", strict=True),
    _rule(kinds.PAYMENT_KEY, "shpat_ shpca_ shppa_ shpss_ shptka_", _X + "{32}", size=32),
    _rule(kinds.PAYMENT_KEY, "FLWSECK- FLWSECK_TEST- rzp_live_ rzp_test_", r"[A-Za-z0-9-]{12,}"),
    _rule(kinds.PAYMENT_KEY, "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _rule(kinds.PAYMENT_KEY, "access-production- access-sandbox- access-development-", _UUID),
    _rule(kinds.PAYMENT_KEY, "pdl_live_apikey_ pdl_sdbx_apikey_ xnd_production_ xnd_development_", "[A-Za-z0-9_]{30,}"),
    _rule(kinds.PAYMENT_KEY, "duffel_test_ duffel_live_ shippo_live_ shippo_test_", _W + "{36,}"),
    _rule(kinds.PAYMENT_KEY, "EZAK EZTK", _A + "{50,}"),
    _rule(kinds.API_KEY, "SG.", _W + r"{14,26}\.[A-Za-z0-9_-]{36,60}"),
    _rule(kinds.API_KEY, "SK", "[0-9a-f]{32}(?![0-9A-Za-z])", strict=True),
    _rule(kinds.API_KEY, "key- pubkey-", "[0-9a-f]{32}(?![0-9A-Za-z])", strict=True),
    _rule(kinds.API_KEY, "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{12,}"),
    _rule(kinds.API_KEY, "mlsn.", "[0-9a-f]{60,}"),
    _rule(kinds.API_KEY, "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{18,}", strict=True),
    # packages
    _rule(kinds.PACKAGE_TOKEN, "npm_", _A + "{30,}", size=36),
    _rule(kinds.PACKAGE_TOKEN, "pypi-", _W + "{40,}"),
    _rule(kinds.PACKAGE_TOKEN, "rubygems_", _X + "{40,}", size=48),
    _rule(kinds.PACKAGE_TOKEN, "oy2", "[a-z0-9]{43}(?![a-z0-9])"),
    _rule(kinds.PACKAGE_TOKEN, "cio", _A + "{32}(?![A-Za-z0-9])", strict=True),
    _rule(
        kinds.PACKAGE_TOKEN,
        "dckr_pat_ dckr_oat_ jsrp_ CLOJARS_ packagist_ort_ packagist_uut_ packagist_ack_",
        _W + "{24,}",
    ),
    _rule(kinds.PACKAGE_TOKEN, "AKCp cmVmdGtu", _A + "{50,}"),
    _rule(kinds.PACKAGE_TOKEN, "ddp_ ddw_ ddo_", _A + "{36}", strict=True),
    # services
    _rule(kinds.API_KEY, "NRAK- NRAL- NRII- NRIQ- NRRA- NRJS- NRSP-", _W + "{18,}"),
    _rule(kinds.API_KEY, "glsa_", r"[A-Za-z0-9]{24,}_[0-9a-f]{8}"),
    _rule(kinds.API_KEY, "glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    _rule(kinds.API_KEY, "sntryu_ sntrys_ sntrya_ sntryi_ sntryr_", r"[A-Za-z0-9+/=_-]{40,}"),
    _rule(kinds.API_KEY, "lin_api_ lin_oauth_ lin_wh_ ntn_ figd_ figu_ figo_ figdh_", _W + "{28,}"),
    _rule(kinds.API_KEY, "secret_", _A + "{40,}", strict=True),
    _rule(kinds.API_KEY, "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{60,}"),
    _rule(kinds.API_KEY, "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    _rule(kinds.API_KEY, "pat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _rule(kinds.API_KEY, "PMAK- PMAT-", r"[A-Za-z0-9-]{26,}"),
    _rule(kinds.API_KEY, "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    _rule(kinds.API_KEY, "sl.u. sl.B sl.A", r"[A-Za-z0-9_-]{60,}"),
    _rule(kinds.API_KEY, "tfp_ CFPAT- rdme_ pnu_ pnb_ phx_ phs_ hcaik_ hcxik_ hcamk_", r"[A-Za-z0-9_.-]{30,}"),
    _rule(kinds.API_KEY, "sdk- api- mob- xaat- xapt-", _UUID),
    _rule(kinds.API_KEY, "squ_ sqp_ sqa_", "[0-9a-f]{40}"),
    _rule(kinds.API_KEY, "ico- aio_ tss_ pdus+ u+", r"[A-Za-z0-9_-]{18,}", strict=True),
    _rule(kinds.API_KEY, "API-", "[A-Z0-9]{25,34}(?![A-Za-z0-9-])", strict=True),
    _rule(kinds.API_KEY, "sk.eyJ", r"[A-Za-z0-9_.-]{40,}"),
    _rule(kinds.API_KEY, "EAA IGQ", _A + "{80,}", strict=True),
    _rule(kinds.API_KEY, "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{40,}", strict=True),
    _rule(kinds.API_KEY, "pk_", r"\d{6,9}_[A-Z0-9]{32}"),
    _rule(
        kinds.API_KEY, "cal_live_ apify_api_ fal_ nf_ gsk- svcacct_ ak_live_ dsk- ek_ vn_", _W + "{24,}", strict=True
    ),
    _rule(kinds.JWT, "eyJ", r"[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"),
)

_UPPER_WORD: Final = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A token known by a mark inside it: `around` is searched from `before` characters left of the mark."""

    kind: str
    mark: str
    before: int
    around: re.Pattern[str]


MARKED: Final = (
    Marked(kinds.CHAT_TOKEN, ":AA", 14, re.compile(r"\d{7,12}:AA[A-Za-z0-9_-]{28,40}(?![A-Za-z0-9_-])")),
    Marked(kinds.API_KEY, "-us", 34, re.compile(r"[0-9a-f]{32}-us\d{1,2}(?!\d)")),
    Marked(kinds.CLOUD_KEY, "Q~", 6, re.compile(r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{28,40}")),
    Marked(kinds.CLOUD_KEY, ".atlasv1.", 18, re.compile(r"[A-Za-z0-9]{10,18}\.atlasv1\.[A-Za-z0-9_=-]{50,}")),
    Marked(kinds.CLOUD_KEY, "AZDO", 80, re.compile(r"[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}")),
    Marked(kinds.CLOUD_KEY, "+AStA", 90, re.compile(r"[A-Za-z0-9+/]{60,90}\+AStA[A-Za-z0-9+/=]{5,}")),
    Marked(kinds.CLOUD_KEY, "+ASb", 44, re.compile(r"[A-Za-z0-9+/]{30,44}\+ASb[A-Za-z0-9+/=]{5,}")),
    Marked(kinds.CLOUD_KEY, "JQQJ99", 60, re.compile(r"[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,44}")),
    Marked(kinds.CLOUD_KEY, "AzSe", 50, re.compile(r"[A-Za-z0-9+/]{40,50}AzSe[A-Za-z0-9+/=]{5,}")),
    Marked(kinds.API_KEY, "T3BlbkFJ", 130, re.compile(r"sk-[A-Za-z0-9_-]{16,130}T3BlbkFJ[A-Za-z0-9_-]{16,}")),
    Marked(kinds.PAYMENT_KEY, "-X", 40, re.compile(r"FLWSECK(?:_TEST)?-[a-z0-9]{12,40}-X")),
)

_BLOB: Final = re.compile(r"[A-Za-z0-9+/]{48}\Z")
_AWS_ID: Final = re.compile(r"[A-Z]{4}[A-Z0-9]{16}(?![A-Za-z0-9])")
_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+=-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=-])")
_DISCORD: Final = re.compile(r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{5,7}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])")
_MAILGUN: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])")
_ASANA: Final = re.compile(r"(?<![\w/.])[12]/\d{12,17}(?:/\d{12,17})?:[0-9a-f]{32}(?![0-9a-f])")
_SHAPED: Final = ((_DISCORD, kinds.CHAT_TOKEN), (_MAILGUN, kinds.API_KEY), (_ASANA, kinds.API_KEY))
_SHAPED_FROM: Final = 44
_OVERLAP: Final = 1_024


def vendor_findings(document: Document) -> Iterator[SecretFinding]:
    """Yield tokens that tell their maker by themselves; spans may overlap."""
    if not document.long_words:
        return
    text = document.text
    long_words = " ".join(document.long_words)
    for rule in PREFIXED:
        for anchor in rule.anchors:
            if anchor in long_words:
                yield from _prefixed(text, rule, anchor)
    for anchor in ("AKIA", "ASIA"):
        if anchor in long_words:
            yield from _aws_secrets(text, anchor)
    for mark in MARKED:
        if mark.mark in long_words:
            yield from _marked(text, mark)
    longest = " ".join([word for word in document.long_words if len(word) >= _SHAPED_FROM])
    for pattern, kind in _SHAPED:
        if pattern.search(longest) is not None:
            yield from _shaped(text, pattern, kind)


def _aws_secrets(text: str, anchor: str) -> Iterator[SecretFinding]:
    """Yield 40 characters that stand near a key id: downloads and tables name them in a heading only."""
    for at in occurrences(text, anchor):
        if _AWS_ID.match(text, at) is None:
            continue
        for match in _AWS_SECRET.finditer(text, max(0, at - 200), at + 320):
            value = match.group()
            if value not in (value.lower(), value.upper()) and looks_random(value, 40) and not is_dummy(value):
                yield SecretFinding(match.start(), match.end(), kinds.AWS_KEY, kinds.LAYER)


def _shaped(text: str, pattern: re.Pattern[str], kind: str) -> Iterator[SecretFinding]:
    for start, end in windows(text, pattern):
        if free_left(text, start) and not is_dummy(text[start:end]) and random_share(text[start:end]) >= 0.5:
            yield SecretFinding(start, end, kind, kinds.LAYER)


def windows(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Find a pattern piece by piece, so that no single call holds the interpreter for long.

    Matches of up to 1,024 characters are found as over the whole text.
    """
    position, size = 0, len(text)
    while position < size:
        stop = position + PIECE
        reach = min(size, stop + _OVERLAP)
        following = stop
        for match in pattern.finditer(text, position, reach):
            if match.start() >= stop:
                break
            following = max(stop, match.end())
            yield match.span()
        position = following


def _prefixed(text: str, rule: Prefixed, anchor: str) -> Iterator[SecretFinding]:
    reached = 0
    for start in occurrences(text, anchor):
        if start < reached:
            continue
        if not free_left(text, start, glued=not rule.strict) and not _whole(text, rule, anchor, start):
            continue
        if rule.strict and _BLOB.match(text, max(0, start - 48), start):
            continue
        body = start + len(anchor)
        match = rule.tail.match(text, body)
        reached = match.end() if match is not None and not rule.strict else 0
        end = match.end() if match is not None else 0
        if match is None or (rule.size and end - body < rule.size):
            end = _wrapped(text, rule, body) or end
        if not end:
            continue
        end = body + len(text[body:end].rstrip("-_."))
        value = text[body:end]
        if is_dummy(value) or (rule.strict and not _strict(value)):
            continue
        yield SecretFinding(_webhook_start(text, start, anchor), _continued(text, end), rule.kind, kinds.LAYER)


def _whole(text: str, rule: Prefixed, anchor: str, start: int) -> bool:
    """Tell whether a token stands here in its full length, so that it is one even where letters run into it."""
    if not rule.size or "_" not in anchor:
        return False
    match = rule.tail.match(text, start + len(anchor))
    return match is not None and match.end() - match.start() >= rule.size and looks_random(match.group(), 20)


def _webhook_start(text: str, start: int, anchor: str) -> int:
    """Take the scheme of a webhook address along: the whole address is the secret."""
    if "/" not in anchor or anchor.startswith("1/"):
        return start
    scheme = text.rfind("https://", max(0, start - 80), start)
    return scheme if scheme >= 0 and re.fullmatch(r"https://[\w.-]*", text[scheme:start]) else start


def _strict(value: str) -> bool:
    if not looks_random(value, 16):
        return False
    if sum(char.isdigit() for char in value) >= 2:
        return True
    return len(value) >= 24 and value not in (value.lower(), value.upper()) and random_share(value) >= 0.8


_BREAK: Final = re.compile(r"(?:\\\r?\n|\r?\n|\\r\\n|\\n|[\"']\s?[+.]?\s?\\?\r?\n)(?:[ \t]|[>#|+] |[\"'](?=\w))*")
_RUN: Final = re.compile(r"[A-Za-z0-9_-]+")


def _wrapped(text: str, rule: Prefixed, body: int) -> int:
    """Return where a token of fixed length ends that is broken over two or three lines, 0 when it is none."""
    if not rule.size:
        return 0
    joined, position = "", body
    for _ in range(3):
        run = _RUN.match(text, position)
        if run is None:
            return 0
        joined += run.group()
        if len(joined) >= rule.size:
            end = run.end() - (len(joined) - rule.size)
            fits = rule.tail.fullmatch(joined[: rule.size]) is not None and looks_random(joined[: rule.size], 12)
            return end if fits and len(joined) - rule.size <= 1 else 0
        gap = _BREAK.match(text, run.end())
        if gap is None:
            return 0
        position = gap.end()
    return 0


def _continued(text: str, end: int) -> int:
    """Take along the rest of a token that goes on, alone, on the next line."""
    gap = _BREAK.match(text, end)
    if gap is None:
        return end
    run = _RUN.match(text, gap.end())
    if run is None or not looks_random(run.group(), 8) or not 8 <= len(run.group()) <= 120:
        return end
    line = text.rfind("\n", 0, end)
    after = text[run.end() : run.end() + 1]
    return (
        run.end()
        if after in ("", "\n", "\r", '"', "'", "\\") and end - line >= 40 and not _starts(run.group())
        else end
    )


def _starts(word: str) -> bool:
    """Tell whether a word begins a token of its own, or is a hash or an id that follows by chance."""
    return bool(re.match(r"[0-9a-f]{7,}$|[A-Za-z]{2,8}[-_]", word)) or word.isdigit()


def _marked(text: str, rule: Marked) -> Iterator[SecretFinding]:
    for at in occurrences(text, rule.mark):
        left = max(0, at - rule.before)
        for match in rule.around.finditer(text, left, at + 300):
            if match.start() <= at < match.end() and not is_dummy(match.group()):
                start = match.start()
                if free_left(text, start) or start == left:
                    yield SecretFinding(start, match.end(), rule.kind, kinds.LAYER)
                break
