"""What a name says about its value: `db_password` holds a password, `password_field` and `max_tokens` do not."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ltmem_gui.domain.redaction import kinds
from ltmem_gui.domain.redaction.words import word_set

STEMS: Final = (
    "passw",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "credential",
    "auth",
    "psk",
    "jwt",
    "mnemonic",
    "phrase",
    "salt",
    "pepper",
    "session",
    "pat",
    "pin",
    "otp",
    "mfa",
    "2fa",
    "bearer",
    "dsn",
)
"""Literals that begin the search for a name; each hit is judged by the whole name."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_COMPOUND: Final = re.compile(
    r"(api|app|access|auth|secret|private|client|account|encryption|signing|session|master|service|consumer|server"
    r"|user|admin|db|root|refresh|id|csrf|xsrf|bot|bearer|shared|storage|subscription|license|deploy|webhook|hmac|jwt"
    r"|aes|ssh|pg|mysql|redis|smtp|ldap|my|web|hook|store|key|trust|identity|registry|personal|require|wpa)"
    r"(keys?|tokens?|secrets?|pass(?:word|wd|phrase|code)?|pwd)$"
)
_IGNORED_TAIL: Final = word_set(
    """
    value val text plain plaintext raw b64 base64 base data str string prod production dev development staging
    stage test live old new current prev previous default backup main primary secondary internal external env
    hex enc encoded encrypted eu us local ci x y a b admin root user app
    """
)
_NO_SECRET_BEFORE: Final = word_set(
    """
    public pub primary foreign sort partition cache idempotency i18n translation locale message dict map hash
    object lookup row column index registry routing shortcut hot arrow up down left right enter escape tab shift
    ctrl alt meta function group config settings option storage state answer event query form field json yaml
    css metric label tag attribute attr param context unique composite natural surrogate business order item
    dedup event ssl host known next page continuation cursor pagination sync max min num total prompt completion
    input output reasoning cached stop eos bos pad unk mask sep cls special word sub new first last current_
    previous_ cancellation cancel abort syntax lexer parser comma semicolon reset expired invalid missing bad
    wrong no without any each every s3 file image img svg react list list_ menu tree node edge nav route feature
    flag data type key_ chord press release piano legend answer translation text label value
    """
)
_NO_SECRET_TAIL: Final = word_set(
    """
    count counts limit limits length len size sizes type types name names id ids url urls uri uris path paths
    file files filename field fields label labels hint prompt policy policies regex pattern patterns expires
    expiry expiration expired ttl at in on index budget usage class classes provider store stores manager
    service services endpoint endpoints ref refs arn version versions var vars prefix suffix algorithm alg
    format formats info status state error errors exception required enabled disabled valid invalid validator
    validation check checks checker input inputs output placeholder title description desc help strength reset
    changed change forgot confirm confirmation rotation rotate rotated request response header headers param
    params parameter method methods scope scopes scheme schemes issuer audience handler handlers callback func
    fn function factory generator reader writer parser stream iterator list map dict set array table column
    columns row rows event events listener press pressed down up code codes kind group groups location manager_
    source sources item items entry entries pair pairs node nodes span position pos start end offset line lines
    word words rate price cost window hash hashes digest fingerprint thumbprint bits usage ring chain board
    stroke frame frames point points space spaces role roles user users username email age time timestamp date
    duration interval timeout length_ max min sum total num number_ width height less free ok present missing
    exists lookup mode flow client server page view form button icon dialog screen bearer_ only env_var
    environment variable property setting settings config configuration file_ detector scanner detection
    redaction redactor filter rule rules manager plugin module package import export map_ order sort by ized
    izer ization based aware bound protected driven
    """
)
_PASSWORD_WORDS: Final = word_set(
    """
    password passwd passwort passphrase passcode pass pwd passw pw psk pin kennwort contrasena senha
    """
)
_TOKEN_WORDS: Final = word_set(
    """
    token tokens jwt pat bearer
    """
)
_SECRET_WORDS: Final = word_set(
    """
    secret secrets credential credentials pepper mnemonic otp totp seed
    """
)
_CODE_WORDS: Final = word_set(
    """
    pin otp totp passcode
    """
)
_CODES_OF: Final = word_set(
    """
    pin otp totp mfa fa verification security sms login access auth recovery unlock door safe card sim
    """
)
_KEY_QUALIFIERS: Final = word_set(
    """
    api app access auth secret private client account encryption encrypt decryption signing sign session master
    service consumer server user admin deploy license licence hmac jwt aes ssh fernet crypto cipher
    webhook subscription storage shared integration ingest ingestion application tenant project workspace org
    organization write read rest sdk data dd sas symmetric preshared registration activation product transfer
    vault unseal recovery recaptcha captcha turnstile cookie csrf token bot
    """
)
LOOSE: Final = "loose"
"""A `…_key` of unknown meaning: its value has to look very random."""


@lru_cache(maxsize=4096)
def code_of(name: str) -> str:
    """Return the word by which a name announces a short code (`pin`, `otp`, `passcode`, `code`), empty for none."""
    words = [word.lower() for word in _WORDS.findall(name)]
    tail = words[-1] if words else ""
    if tail in _CODE_WORDS or (tail == "code" and len(words) > 1 and words[-2] in _CODES_OF):
        return tail
    return ""


@lru_cache(maxsize=16384)
def name_kind(name: str) -> str | None:
    """Return the kind of secret a name announces, `LOOSE` for a key of unknown meaning, None for none."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1] in _IGNORED_TAIL or words[-1].isdigit()):
        words.pop()
    if not words or len(words) > 9:
        return None
    tail = words[-1]
    before = words[-2] if len(words) > 1 else ""
    compound = _COMPOUND.search("".join(words[-2:])) if tail not in _PASSWORD_WORDS else None
    if (tail in _NO_SECRET_TAIL and not code_of(name)) or (before in _NO_SECRET_BEFORE and tail not in _PASSWORD_WORDS):
        return None
    if tail == "code":
        return kinds.PASSWORD if before in _CODES_OF else None
    kind = _by_tail(tail, before, name) or (_by_compound(compound.group(2)) if compound else None)
    return kinds.AWS_KEY if "aws" in words and kind in (kinds.API_KEY, kinds.SECRET, kinds.TOKEN) else kind


def _by_tail(tail: str, before: str, name: str) -> str | None:
    if tail in _PASSWORD_WORDS:
        if tail in ("pass", "pw") and not before and "-" not in name:
            return kinds.PASSWORD if name.islower() else None
        return kinds.PASSWORD
    if tail.endswith(("password", "passwd", "passphrase")):
        return kinds.PASSWORD
    if tail in _TOKEN_WORDS or (tail.endswith("token") and len(tail) > 5):
        return kinds.TOKEN if tail != "pat" or before else None
    if tail in _SECRET_WORDS:
        return kinds.SECRET if tail != "seed" or before in ("wallet", "hd", "master", "secret") else None
    if tail == "phrase":
        return kinds.SECRET if before in ("seed", "recovery", "secret", "mnemonic", "backup") else None
    if tail in ("key", "keys"):
        return kinds.API_KEY if before in _KEY_QUALIFIERS else LOOSE if before else None
    if tail in ("auth", "authorization"):
        return kinds.AUTH_HEADER
    if tail == "salt":
        return LOOSE
    return kinds.COOKIE if tail in ("session", "sessionid", "sessid", "cookie") else None


def _by_compound(tail: str) -> str | None:
    if tail.startswith("pass") or tail == "pwd":
        return kinds.PASSWORD
    if tail.startswith("token"):
        return kinds.TOKEN
    return kinds.SECRET if tail.startswith("secret") else kinds.API_KEY
