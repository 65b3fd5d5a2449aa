"""Passwords as people type them: plain words and short codes. Nothing in them tells a secret; their place has to.

A word is only taken where nothing but a password can stand (`--password …`, `DB_PASSWORD=…`, a quoted value, a setting
on a line of its own, the second half of a login), and never when it is a word that settings, schemas and labels use.
"""

from __future__ import annotations

import re
from typing import Final

from ltmem_gui.domain.redaction.words import word_set

_NO_PASSWORD: Final = word_set(
    """
    string str text bytes number integer int bool boolean object array list dict map any none null nil undefined
    optional required nullable char varchar binary unicode void const final static public private protected readonly
    type types typed min max length pattern regex match matches confirm confirmed confirmation strength strong weak
    valid invalid empty blank missing present absent exists validate validator validation
    password passwords passwd passcode passphrase passwort kennwort wachtwoord contrasena senha parola haslo heslo
    lozinka passord salasana sandi parole clave pwd pass psk pin otp label title placeholder hint help error errors
    message messages description submit button field fields input inputs form forms login logout signin signup register
    username user users email mail account accounts name names enter forgot reset change changed update updated new
    old current repeat retype again show hide visible hidden masked toggle view page screen dialog
    true false enabled disabled enable disable on off yes no auto automatic automatically manual default defaults
    custom external internal local remote global shared dynamic generate generated generator random prompt prompted
    ask interactive stdin stdout file files env environ environment keyring keychain vault store stored encrypted
    encrypt encryption decrypt decrypted plain plaintext cleartext clear hash hashed hasher hashes salted bcrypt scrypt
    argon argon2 pbkdf sha md digest basic bearer oauth oidc saml ldap kerberos radius pam trust peer ident scram cert
    certificate ssl tls inherit inherited same unchanged changeme replace replaced todo fixme example examples sample
    test tests testing dummy fake mock redacted removed secret secrets token tokens key keys keyword credential
    credentials auth authentication authenticate authorization provider providers manager service services server
    client host hostname port database schema table column row config configuration configured settings setting
    options option value values data param params parameter parameters argument arguments variable variables ref
    reference path url uri http https class function method module package import export return returns self this
    props state context request response result results body query header headers session cookie cache policy rule
    rules role roles group groups permission permissions access denied granted failed failure success expired expires
    unknown unsupported ignored ignore deprecated managed by the from to for with and or not is are in of a an per via
    must should can will your my our his her their its it that which here there above below see use used using set get
    make makes passed passing native handler callback event action command script process stream buffer socket queue
    model models property properties attribute attributes element component template factory builder helper utils
    word words letter letters line lines code codes info log logs debug warning encode encoded decode decoded base
    prefix suffix format version id ids identity primary secondary admin administrator root guest owner member public
    editor viewer reader writer author moderator contributor maintainer reporter auditor operator developer
    superuser sudo system daemon nobody anonymous everyone oracle postgres mysql redis mongo sqlite docker podman
    kubernetes helm linux windows macos debian ubuntu github gitlab google microsoft amazon azure api apis app apps
    application applications string1 personal expression literal constant object_ override overridden supplied provided
    specified given entered typed requested needed mandatory obligatory sensitive confidential protected_ secure secured
    insecure unsafe safe raw escape escaped quoted newpassword oldpassword mypassword userpassword dbpassword
    getpass setpass checkpass strict lax once always never often only also both either disallow allow allowed
    """
)
_HUMPS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORDS: Final = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+){0,5}")
_CODE: Final = re.compile(r"\d{4,10}|\d{3}[- ]\d{3}")
_COUNTED: Final = "1234567890"
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SHORTEST: Final = 6
_LONGEST: Final = 64


def word_password(value: str, *, capitals: bool = True) -> bool:
    """Tell whether letters can be a password that somebody typed.

    Without `capitals`, a single word that begins with a capital is a label, not a password.
    """
    if not _SHORTEST <= len(value) <= _LONGEST or _WORDS.fullmatch(value) is None or value.isupper():
        return False
    parts = [part.lower() for part in _HUMPS.findall(value)]
    if any(part in _NO_PASSWORD for part in parts) or value.lower() in _NO_PASSWORD:
        return False
    return capitals or len(parts) > 1 or value.islower()


def is_word_of_settings(word: str) -> bool:
    """Tell whether a word is one that settings, schemas and labels use."""
    return word.lower() in _NO_PASSWORD


def short_code(value: str, *, sure: bool) -> bool:
    """Tell whether digits can be a PIN or a one-time password; unless the place is `sure`, a year is none."""
    if _CODE.fullmatch(value) is None or len(set(value)) == 1 or value in _COUNTED:
        return False
    return sure or _YEAR.fullmatch(value) is None
