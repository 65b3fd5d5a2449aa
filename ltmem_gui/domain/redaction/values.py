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

from ltmem_gui.domain.redaction.words import word_set

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
    | ^\$[A-Za-z_]\w*$ | ^\$env:\w+$ | ^%[A-Za-z_]\w*%?$ | ^@[A-Za-z_]\w*@$ | ^:[a-z_]+$
    | ^\{[A-Za-z_][\w.\[\]"'!:]*\}$
    | \.\.\. | … | \*{3} | •{3} | ^\*+$ | _{5} | -{6} | x{6} | X{6} | 0{10} | \?{3}
    | (?i:example|placeholder|redacted|changeme|replace[-_ ]?me|replace[-_ ]?with|insert[-_ ]your|randomstring|dummy)
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
      [A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\(?\)?,?  # settings.github_token
      | [A-Za-z_$][\w$.:>-]*[\[({].*                                  # get(, environ[, Field{
      | [&*!@^~]+[A-Za-z_][\w.]*                                      # &mut x, *ptr, !x
      | (?:~|\.{1,2})?/[\w./@:+~-]*                                   # paths
      | [A-Za-z]:[\\/].*
      | (?:https?|ftp|file|ssh|s3|gs|arn|data|urn|mailto|vault|op|env|secret|ref|ssm|aws|gcp|kms|awssm|azurekv|exec|cmd)
        :[^\s]*
      | (?:sha(?:1|256|384|512)|md5|h1)[-:][A-Za-z0-9+/=]+            # digests
      | [\^~>=<]{1,2}\s?v?\d[\w.*-]*                                  # versions
      | v?\d+(?:\.\d+)+(?:[-+.]?[A-Za-z]*\d*)*                        # versions
      | -?\d+(?:\.\d+)?(?:[smhdkKMGTB%]|ms|px|em)?                    # numbers
      | \d{4}-\d\d-\d\d(?:[T ].*)?
      | [\w.+-]+@[\w-]+\.[\w.-]+                                      # mail addresses
      | \.[A-Za-z_][\w.]*                                             # .field
    )$
    """,
    re.VERBOSE | re.DOTALL,
)
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_WORD: Final = re.compile(r"(?:[A-Z]+|[A-Z]?[a-z]+)\d{0,4}|\d+|\d{1,4}[a-z]{1,3}|v\d+\w?")
_CAMEL: Final = re.compile(r"(?:[A-Z]?[a-z]{3,}|[A-Z]{2,5}|[A-Z][a-z]{1,2}(?=[A-Z]|$))+\d{0,3}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_GROUPS: Final = re.compile(r"[A-Za-z0-9]{4}(?:[ -][A-Za-z0-9]{4}){2,7}")
_VOWELS: Final = frozenset("aeiouyAEIOUY")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)
_COMMON_TECH: Final = re.compile(
    r"(?i)^(?:sha|md|aes|rsa|ed|hs|rs|es|ps|base|utf|oauth|http|ipv|x|p|s|k|log|web|ec|web|tls|ssl|id|arg|var|str|int|uint"
    r"|float|win|py|python|node|java|test|user|key|token|step|part|level|phase|version|rev|line|page|port|section|sec"
    r"|table|issue|case|pr|bug|day|week|row|col|option|step|argon|scrypt|bcrypt|pbkdf|totp|hotp|rfc|auth|route|ec|neo"
    r"|i|l|n|a|v|r|t|md|psr|crc|blake|keccak|curve|x)[-_]?\d{1,6}[a-z]{0,3}$"
)


@lru_cache(maxsize=8192)
def is_dummy(value: str) -> bool:
    """Tell whether a value is a placeholder, a template or a mask and no secret at all."""
    stripped = value.strip().strip("\"'`")
    low = stripped.lower()
    if len(stripped) < 4 or low in _DUMMY_WORDS or low.rstrip("0123456789!.") in _DUMMY_WORDS:
        return True
    if _DUMMY.search(stripped):
        return True
    if _SAME_RUN.search(stripped) and len(stripped) < 120:
        return True
    return len(stripped) < 200 and len(set(low)) <= max(2, min(4, len(low) // 4))


@lru_cache(maxsize=8192)
def is_reference(value: str) -> bool:
    """Tell whether an unquoted value names something else: code, a path, an address, a version, a number."""
    return _REFERENCE.match(value) is not None


def entropy(value: str) -> float:
    """Return Shannon's entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_wordlike(segment: str) -> bool:
    """Tell whether a run of letters and digits reads as a word, a number or a camelCase name."""
    if not (_WORD.fullmatch(segment) or _CAMEL.fullmatch(segment)):
        return False
    letters = segment.rstrip("0123456789")
    if len(letters) <= 4 or segment.isdigit():
        return True
    if _CONSONANTS.search(letters):
        return False
    vowels = sum(char in _VOWELS for char in letters)
    return 0.2 <= vowels / len(letters) <= 0.8


def random_share(value: str) -> float:
    """Return which part (0 to 1) of a value's letters and digits lies in segments that are no words."""
    total = odd = 0
    for match in _SEGMENT.finditer(value):
        segment = match.group()
        total += len(segment)
        if not is_wordlike(segment):
            odd += len(segment)
    return odd / total if total else 0.0


@lru_cache(maxsize=8192)
def looks_random(value: str, minimum: int = 12) -> bool:
    """Tell whether a value looks made by a generator: `minimum` characters, several classes, not built of words."""
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


@lru_cache(maxsize=8192)
def password_like(value: str, *, quoted: bool) -> bool:
    """Tell whether a value after a password's name can be one; people choose weak ones, so little is asked."""
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
