"""The one value filter: what is a placeholder, a reference or a word, and what looks like a secret.

Every finding of every engine passes `is_dummy`; the context rules decide with `weak_enough_for_password` and
`looks_random` (reference `redaction.md`, "What the app must add", 4 and 5).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import Final

from ltmem_gui.domain.redaction.states import tells_state
from ltmem_gui.domain.redaction.words import word_set

_JUDGED: Final = 256
_TYPED: Final = 128
_DUMMY_WORDS: Final = word_set(
    """
    password passwd passwort pass pwd pw secret secrets token tokens key apikey api_key api-key none null nil
    undefined true false yes no on off todo fixme tbd na n/a unknown empty default changeme change-me change_me
    changeit changethis change_this replaceme replace_me replace-me replace placeholder dummy sample example
    examples test testing tests foo bar baz foobar foobarbaz qux spam eggs redacted removed hidden masked
    omitted filtered censored required optional string str int bool bytes text number any object user username
    admin root guest postgres mysql mongo redis rabbitmq value values here string? insecure xxx yyy zzz abc
    secretkey mysecret mypassword mytoken my-secret my_secret my-password my_password my-token my_token mykey
    my-key my_key secretpassword pass123 user:pass username:password user:password name:password xyz
    """
)
_DUMMY: Final = re.compile(
    r"""
    ^[<\[({%]{1,2}[^<>\[\](){}%]*[>\])}%]{1,2}$              # <TOKEN>, [token], {token}, {{token}}, %TOKEN%
    | \$\{ | \$\( | \{\{ | \}\} | \#\{ | <% | %> | \$\[\[      # templates of any kind
    | ^\$[A-Z_][A-Z0-9_]*$ | ^\$[a-z_]+\d?$ | ^\$env:\w+$
    | ^%[A-Za-z_]\w*%$ | ^%\(\w+\)[sd]$ | ^@[A-Za-z_]\w*@$ | ^:[a-z_]+$
    | ^\{[A-Za-z_][\w.\[\]"'!:]*\}$
    | \.\.\. | … | \*{3} | •{3} | ^\*+$ | _{5} | -{6} | x{6} | X{6} | 0{10} | \?{3}
    | (?i:example|placeholder|redacted|changeme|replace[-_ ]?me|replace[-_ ]?with|insert[-_ ]your|randomstring|dummy
         |abcdefghij)
    | (?i:\b(?:your|my|the|some|fake|sample|test|any)[-_ .](?:\w+[-_ .])?
          (?:api|app|access|auth|secret|token|key|pass|password|client|private|credential|project|bearer|own)s?
          (?:[-_ .]|$|\w*key))
    | (?i:(?<![a-z])your[-_ ]?
          (?:api|secret|token|key|pass|access|auth|client|bearer|github|openai|org|account|password))
    | (?i:^(?:enter|insert|put|paste|set|add|use|get|see|from|via|todo)[-_ :])
    | (?i:[-_ .](?:here|goes[-_ ]here)$)
    """,
    re.VERBOSE,
)
_SAME_RUN: Final = re.compile(r"(.)\1{7}")
_REFERENCE: Final = re.compile(
    r"""
    ^(?:
      [A-Za-z_$][\w$.:>-]*[\[({].*                                    # get(, environ[, Field{
      | [A-Za-z_][\w.]*[a-z](?:Keys?|Types?|Token|Auth|Secret|Password|Provider|Config|Error|Exception)  # types
      | [A-Za-z]:[\\/].*                                              # drives
      | \w+/\d{8}/[\w-]+/\w+/(?:aws4|goog4)_request
      | (?:https?|ftp|file|ssh|s3|gs|arn|data|urn|mailto|vault|op|env|secret|ref|ssm|aws|gcp|kms|awssm|azurekv|exec|cmd)
        :[^\s]*
      | \$ANSIBLE_VAULT;.*
      | scram-sha-\d+(?:-plus)?
      | (?:sha(?:1|256|384|512)|md5|h1)[-:][A-Za-z0-9+/=]+            # digests
      | [\^~>=<]{1,2}\s?v?\d+(?:\.[\dx*]+)*(?:-[a-z]+[\d.]*)?          # versions
      | v?\d+(?:\.\d+)+(?:[-+.]?[A-Za-z]*\d*)*                        # versions
      | -?\d+(?:\.\d+)?(?:[smhdkKMGTB%]|ms|px|em)?                    # numbers
      | \d{4}-\d\d-\d\d(?:[T ].*)?
      | [\w.+-]+@[\w-]+\.[\w.-]+                                      # mail addresses
    )$
    """,
    re.VERBOSE | re.DOTALL,
)
_REFERENCE_OF_WORDS: Final = re.compile(
    r"""
    ^(?:
      \(?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\(?\)?,?  # settings.github_token
      | [&*!@^~]+[A-Za-z_][\w.]*                                      # &mut x, *ptr, !x
      | (?:~|\.{1,2})?/[\w./@:+~-]*                                   # paths
      | \.[A-Za-z_][\w.]*                                             # .field
    )$
    """,
    re.VERBOSE,
)
_SHORT_WORDS: Final = word_set(
    """
    arch arrow auth back batch bind block body book bool boot bound brand break brief build bulk call card
    cart cast chain chart chat check chunk class clean clear click clock clone cloud cluster cold cost count
    craft cross crypt curl cycle dark dash draft draw drop dump edit empty exec exit fact fast fetch fetch
    field file fill find first flag flat flow font fork form frame free front full func glob grant grid group
    guard guest hand hard hash head heap help hint hold home hook host html http https input item jobs join
    json just kind label last lazy left lend level light limit line link list load local lock logs long loop
    main mark mask match math mega merge mesh meta mind mock month mount mult name need nest next node note
    null numb only open pack page pair park pars part pass past patch path perm ping pipe plan plug point poll
    port post prev print probe proc prod proxy push quick rank raw read real rest right ring role root rows
    rule runs safe save scan scope script search seed self send sent shard shell shift ship short show sign
    sing size skip slot snap sock socks soft sort span spec split stack staff stage star start stat step stop
    store strict string strip style swap switch sync table tail task tech term test text than that their them
    then thing this thread tick time toml topic track train trim true trust turn type unit user utils vals
    vault view visit wait walk warm watch when width wind with word work wrap write yaml year zone tiger stone
    world north south black white green spring earth plant horse grass cloud storm frost bird fish wolf hawk
    lamp ship sand snow salt rock rain park mint
    """
)
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_WORD: Final = re.compile(r"(?:[A-Z]+|[A-Z]?[a-z]+)\d{0,4}")
_SHORT: Final = re.compile(r"\d{1,4}[a-z]{1,3}|v\d+\w?")
_LONG: Final = 14
"""From here on, letters with digits at two places are no name."""
_DIGITS: Final = re.compile(r"\d+")
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_GROUPS: Final = re.compile(r"[A-Za-z0-9]{4}(?:[ -][A-Za-z0-9]{4}){2,7}")
_VOWELS: Final = frozenset("aeiouyAEIOUY")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_COMMON_TECH: Final = re.compile(
    r"(?i)^(?:sha|md|aes|rsa|ed|hs|rs|es|ps|base|utf|oauth|http|ipv|x|p|s|k|log|web|ec|web|tls|ssl|id|arg|var|str|int|uint"
    r"|float|win|py|python|node|java|test|user|key|token|step|part|level|phase|version|rev|line|page|port|section|sec"
    r"|table|issue|case|pr|bug|day|week|row|col|option|step|argon|scrypt|bcrypt|pbkdf|totp|hotp|rfc|auth|route|ec|neo"
    r"|i|l|n|a|v|r|t|md|psr|crc|blake|keccak|curve|x|pkcs|socks)[-_#]?\d{1,6}[a-z]{0,3}$"
)


def is_dummy(value: str) -> bool:
    """Tell whether a value is a placeholder, a template or a mask; its first 256 characters tell."""
    return _is_dummy(value[:_JUDGED])


@lru_cache(maxsize=8192)
def _is_dummy(value: str) -> bool:
    stripped = value.strip().strip("\"'`")
    low = stripped.lower()
    if len(stripped) < 4 or low in _DUMMY_WORDS or low.rstrip("0123456789!.") in _DUMMY_WORDS:
        return True
    if low.startswith(("123456", "abcdef", "qwerty")) and len(low) <= 10:
        return True
    if _DUMMY.search(stripped):
        return True
    if _SAME_RUN.search(stripped) and len(stripped) < 120:
        return True
    return len(stripped) < 200 and len(set(low)) <= max(2, min(4, len(low) // 4))


def is_reference(value: str) -> bool:
    """Tell whether an unquoted value names something else: code, a path, an address, a version, a number."""
    return _is_reference(value[:_JUDGED])


@lru_cache(maxsize=8192)
def _is_reference(value: str) -> bool:
    if _REFERENCE.match(value) is not None:
        return True
    return _REFERENCE_OF_WORDS.match(value) is not None and (random_share(value) < 0.7 or len(value) < 8)


def describes(value: str) -> bool:
    """Tell whether a value says what was done to something: `encoded`, `base64-encoded`, `sha256-hashed`."""
    head, _, last = value.rpartition("-")
    return last.isalpha() and (not head or _COMMON_TECH.match(head) is not None) and tells_state(last)


def entropy(value: str) -> float:
    """Return Shannon's entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_wordlike(segment: str) -> bool:
    """Tell whether a run of letters and digits reads as a word, a number or a camelCase name."""
    if segment.isdigit() or _SHORT.fullmatch(segment):
        return True
    humps = _HUMP.findall(segment)
    letters = sum(map(len, humps))
    if _WORD.fullmatch(segment):
        return letters <= 4 or _pronounceable(humps[0])
    digits = len(segment) - letters
    runs = len(_DIGITS.findall(segment))
    if runs > 2 or (runs > 1 and len(segment) >= _LONG) or digits * 3 > len(segment):
        return False
    spoken = sum(len(hump) for hump in humps if len(hump) >= 4 and not hump.isupper() and _pronounceable(hump))
    return spoken >= (0.6 if digits else 0.4) * letters


def _pronounceable(letters: str) -> bool:
    """Tell whether letters can be a word: short ones need two vowels, or are known."""
    if len(letters) <= 5:
        return sum(char in "aeiou" for char in letters.lower()) >= 2 or letters.lower() in _SHORT_WORDS
    vowels = sum(char in _VOWELS for char in letters)
    return 0.2 <= vowels / len(letters) <= 0.8 and _CONSONANTS.search(letters) is None


def random_share(value: str) -> float:
    """Return which part (0 to 1) of a value's letters and digits lies in segments that are no words."""
    total = odd = 0
    for match in _SEGMENT.finditer(value):
        segment = match.group()
        total += len(segment)
        if not is_wordlike(segment):
            odd += len(segment)
    return odd / total if total else 0.0


def looks_random(value: str, minimum: int = 12) -> bool:
    """Tell whether a value looks made by a generator: `minimum` characters, several classes, not built of words."""
    return _looks_random(value[:_JUDGED], minimum)


@lru_cache(maxsize=8192)
def _looks_random(value: str, minimum: int) -> bool:
    if len(value) < minimum:
        return False
    if _UUID.fullmatch(value):
        return True
    body = value.rstrip("=")
    has_digit = any(c.isdigit() for c in body)
    has_alpha = any(c.isalpha() for c in body)
    mixed = body != body.lower() and body != body.upper()
    if not has_alpha or not (has_digit or mixed):
        return False
    if random_share(body) < 0.5:
        return False
    return entropy(body) >= (2.5 if len(body) < 16 else 3.0)


def password_like(value: str, *, quoted: bool) -> bool:
    """Tell whether a value after a password's name can be one; people choose weak ones, so little is asked."""
    return _password_like(value[:_TYPED], quoted)


@lru_cache(maxsize=8192)
def _password_like(value: str, quoted: bool) -> bool:
    if len(value) < 6 or _COMMON_TECH.match(value):
        return False
    if " " in value or "\t" in value:
        return _GROUPS.fullmatch(value) is not None or (len(value) <= 64 and looks_random(value.replace(" ", ""), 12))
    lower = any(c.islower() for c in value)
    upper = any(c.isupper() for c in value)
    digit = any(c.isdigit() for c in value)
    symbol = any(not c.isalnum() and c not in "-_." for c in value)
    if digit and (lower or upper):
        return random_share(value) > 0 or symbol or _has_own_digits(value)
    if symbol and (lower or upper) and len(value) >= 8:
        return _symbols_inside(value)
    if quoted and "-" in value and value.count("-") >= 2 and value.replace("-", "").isalpha():
        return len(value) >= 16
    return ((lower and upper) or quoted) and len(value) >= 8 and random_share(value) >= 0.5


def _has_own_digits(value: str) -> bool:
    """Tell `dypygab118` from `sha256`-like names: a word of five letters or more with digits."""
    head = value.rstrip("0123456789")
    return len(head) >= 5 or len(value) - len(head) >= 3


def _symbols_inside(value: str) -> bool:
    """Tell `Tr!cky#pass` from code such as `foo(bar)`, `a|b` or `$name`."""
    return re.search(r"[A-Za-z][!#$%^&*+?~@]+[A-Za-z]", value) is not None and not re.search(
        r"[(){}\[\]<>|=/\\]", value
    )


def passphrase_like(value: str) -> bool:
    """Tell whether a value is a list of words as wallets and password managers make them (12 to 24 words)."""
    words = value.split()
    return 10 <= len(words) <= 26 and all(word.isascii() and word.isalpha() and word.islower() for word in words)
