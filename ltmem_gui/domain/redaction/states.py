"""Words that tell something about a password instead of being one: "the password is required", "… is stored hashed".

Adjectives, participles and adverbs by list and by ending; verbs of "set it to expire"; nouns that "password" stands
before; words of a chat that answer a question without telling anything.
"""

from __future__ import annotations

import re
from typing import Final

from ltmem_gui.domain.redaction.words import word_set

_STATES: Final = word_set(
    """
    wrong weak strong safe here there mine yours ours theirs known unknown gone lost sent kept shown held same longer
    shorter stronger weaker simpler better worse short good fine great still also only just blank whatever nowhere
    everywhere something nothing anything everything somewhere somehow someone anyone another either neither
    necessary mandatory temporary ordinary arbitrary customary primary secondary incorrect correct perfect direct
    imperfect case-sensitive case-insensitive sensitive secret public private simple complex compound ready missing
    different identical passkey sso mfa biometrics fingerprint fingerprints caution care because when where while
    until unless after before github google gitlab facebook apple okta kerberos ldap twitter discord slack microsoft
    azure linkedin bitbucket keycloak amazon telegram whatsapp instagram netflix cognito firebase entra onelogin
    duo yubikey webauthn passkeys broken hidden forgotten written rotten taken given chosen stolen leaked spoken proven
    driven shaken unwritten mistaken drawn thrown grown overgrown unbeknown stuck built bound found read reread sought
    caught brought bought taught thought spent split spelled spelt typed meant dealt left lent made remade unmade
    overridden rewritten withheld exempt exempted intact immune obsolete complete incomplete concrete discrete
    exact inexact robust rubbish garbage gibberish nonsense trivial crucial essential vital central critical optimal
    minimal maximal literal neutral equal unequal partial special initial official artificial potential substantial
    sequential confidential credential personal impersonal local global internal external normal abnormal original
    final optional additional conditional unconditional nominal verbal manual actual virtual usual unusual mutual
    static public generic basic specific dynamic cryptic symmetric asymmetric alphanumeric numeric nonnumeric historic
    intrinsic automatic problematic deterministic problem problems important unimportant relevant irrelevant redundant
    constant compliant noncompliant dominant significant insignificant instant distant vacant reluctant resistant
    tolerant abundant pending current recent present absent frequent infrequent consistent inconsistent persistent
    different indifferent evident independent dependent equivalent transparent apparent inherent sufficient
    insufficient efficient inefficient permanent prominent transient urgent ancient silent implicit explicit
    intricate accurate inaccurate adequate inadequate appropriate inappropriate legitimate illegitimate moderate
    separate duplicate intermediate immediate ultimate ultimately private accidental alright alphabetic okay dead
    alive alone aware unaware afraid awake asleep ahead away back down over around inside outside within without
    beforehand afterwards nonempty non-empty nonblank non-blank non-null nonnull unique universal plain-text
    clear-text one-way two-way read-only write-only client-side server-side machine-readable human-readable
    up-to-date out-of-date well-known user-defined built-in hard-coded salted-hash ciphertext hashcode bytestring
    unicode ascii latin utf base64 yaml json toml entropy dictionary weakness history overkill obvious tricky easy
    easier hardly harder hardest hard tough likely unlikely lengthy empty nonexistent crypted kinda sorta stale fresh
    legacy native foreign brand-new default-ish standard nonstandard vendor vendor-specific site-specific rather
    corrupt corrupted inactive
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december
    quite really probably maybe perhaps indeed instead anyway otherwise therefore however although though
    """
)
_ENDINGS: Final = re.compile(
    r"[a-z]{3,}(?<!e)ed|[a-z]{3,}ing|[a-z]{3,}(?:[ai]ble|less|some)|[a-z]{4,}(?:ful|ous|ive|ish)"
    r"|[a-z]{3,}(?:ional|ntial|ical|rnal|uous|atic|ific|etic|istic|wise|proof|friendly|like|free|specific)"
)
_NO_STATES: Final = word_set(
    """
    seaweed tumbleweed milkweed chickweed duckweed seabed flatbed hotbed featherbed thoroughbred bobsled nosebleed
    starling duckling darling sterling pudding lightning sapling gosling hatchling inkling wedding evening morning
    limonada mermelada ensalada espada almohada cascada helado soldado mercado pescado mujer zapato patata tomate gato
    viking herring earring stocking pudding-pie dumpling sibling ceiling swordfish starfish catfish jellyfish goldfish
    crayfish radish rubbish-bin olive beehive vegetable constable handful threesome blossom-some
    """
)
_ADVERB: Final = re.compile(r"[a-z]{3,}ly")
_NO_ADVERB: Final = re.compile(
    r".*(?:(?:butter|dragon|fire|horse|house|sand|may|fruit|gad)fly|lily|jelly|belly|family|assembly|monopoly|anomaly"
    r"|holly|molly|dolly|polly|kelly|billy|supply|bully|gully)"
)
_VERBS: Final = word_set(
    """
    access achieve activate allow appear apply avoid become begin bypass change complete comply confirm conform
    connect consist contain continue create decode decrypt delete derive differ disable encode encrypt ensure enforce
    enhance exceed exclude expire extract follow generate handle improve include increase initialize install
    invalidate invoke login logon logout maintain match migrate modify mount obtain obscure perform prevent proceed
    produce prompt protect prove provide publish recover reflect refresh regain register reject remain remove renew
    request require restart restore retrieve return reveal revoke rotate satisfy secure select setup share start stop
    submit support survive switch transfer travel unlock update upgrade upload verify choose enter leave press type
    insert remember forget repeat retry keep make try ask check see look find call run open close read write send wait
    """
)
_HEADS: Final = word_set(
    """
    reset resets recovery manager managers prompt prompts auth authentication authenticator grant grants hash hashes
    hashing hasher field fields file files form forms login logins logon protection policy policies strength change
    changes rotation generator generators dialog box boxes input inputs entry entries storage vault reuse expiry
    expiration history length complexity rule rules requirement requirements encryption decryption verification
    validation check checks checker cracking cracker crackers spraying guessing attempt attempts list lists database
    backend backends provider providers access mode modes flow flows method methods option options argument arguments
    parameter parameters variable variables value values string strings instead again twice once later yourself
    myself themselves hint hints label labels mismatch breach breaches leak leaks link links token tokens screen page
    pages safe keeper helper helpers callback callbacks handler handlers module modules command commands utility
    utilities support security lockout sharing update updates system systems service services server servers store
    stores plugin plugins column columns property properties attribute attributes object objects class classes
    function functions digest digests salt salts pepper secret secrets combination combinations pair pairs
    database databases element elements widget widgets control controls masking toggle visibility confirmation
    credential credentials protocol protocols scheme schemes algorithm algorithms characters character letters digits
    browser browsers terminal console phone laptop desktop mobile keyboard card badge chrome firefox safari chromium
    certificate certificates cookie cookies device devices profile profiles
    symbols phrase phrases sequence sequences material materials thing things stuff people users admins clients anyway
    someone yourself itself oneself please thanks thank sorry hello
    """
)
_CHAT: Final = word_set(
    """
    yes yeah yep yup nope sure okay thanks thank please sorry hello skip cancel abort ignore proceed continue nothing
    none whatever anything something forget dunno unsure unknown already later tomorrow today yesterday tonight never
    always maybe perhaps exactly correct right wrong true false done ready great perfect fine cool awesome great nice
    later wait hold moment second minute stop exit quit back next previous help again retry restart undo reset default
    generate random secure strong weak password passwords username nobody everybody anybody somebody same neither
    both either absolutely definitely certainly obviously understood agreed indeed alright ditto really seriously
    approve approved approval decline declined confirm confirmed reject rejected allow accept accepted
    """
)
_FUNCTION: Final = word_set(
    """
    a an the this that these those it its my our your his her their of in on at to for from by with without as and or
    but nor so if when whenever while until unless because since than then is are was were be been being has have had
    do does did not no only also just very too more most less least some any every each all both either neither many
    much few several other others same such own who whom whose which what where why how there here will would can could
    shall should may might must you we they he she i me us them up out off over via per into onto about after before
    """
)
_FOREIGN: Final = word_set(
    """
    falsch richtig erforderlich abgelaufen leer lang kurz schwach stark sicher unsicher ungültig gültig unbekannt
    bekannt notwendig nötig optional gleich identisch verschlüsselt gespeichert geschützt gesetzt geändert vergessen
    verloren korrekt inkorrekt nicht zu nur noch schon bereits derzeit wieder dasselbe anders öffentlich geheim
    voreingestellt standard vorhanden einfach komplex zwingend verpflichtend pflicht pflichtfeld pflichtangabe
    geheimsache benötigt vorgegeben
    eingegeben mindestens maximal höchstens zeichen passwort kennwort benutzername benutzer zurücksetzen ändern
    eingeben wiederholen bestätigen anzeigen verbergen immer niemals wieder unter hier dort unten oben zuvor beim wird
    wurde werden worden wurden bitte alte neue altes neues altem neuem eigenes eigene leeres eintragen
    incorrecta incorrecto correcta correcto obligatoria obligatorio requerida requerido inválida inválido válida válido
    invalida invalido valida corta larga débil fuerte segura seguro insegura vacía vacia necesaria necesario opcional
    secreta secreto cifrada guardada almacenada caducada expirada vencida olvidada perdida distinta diferente igual
    misma mismo demasiado siempre nunca solo sólo también temporal personal única unica nueva nuevo vieja actual
    anterior siguiente primaria foránea foranea compuesta pública publica privada mínimo minimo máximo maximo
    caracteres contraseña contrasena usuario usuaria ninguna ninguno esencial importante fundamental sencilla
    obligatoire requis requise incorrect incorrecte invalide valide vide faible forte court courte longue expiré
    oublié oubliée nécessaire facultatif facultative identique différent chiffré sécurisé correcte erroné changé trop
    toujours jamais utilisateur caractères confirmer nouveau nouvelle ancien actuel
    obrigatória obrigatório incorreta incorreto correta válida inválida curta longa fraca vazia necessária usuário
    diferente senha caracteres sempre nunca mesma expirada criptografada fraco
    obbligatoria richiesta errata sbagliata corretta corta lunga debole vuota scaduta necessaria sicura utente troppo
    caratteri sempre stessa diversa facoltativa
    inaktiv inaktiver inactif inactive inativa inattiva inactiva occupato upptagen attuale antigua antiguo zurück
    eingabe führen visualizzata scadrà saisi ontbreekt
    verplicht vereist onjuist ongeldig verkeerd krävs felaktigt ogiltigt fel påkrævet
    неверный неправильный обязателен пустой слабый слишком истек изменен удален верный требуется пользователь
    """
)
GERMAN: Final = "german"
ROMANCE: Final = "romance"
SLAVIC: Final = "slavic"
_FOREIGN_ENDINGS: Final = {
    GERMAN: re.compile(
        r"ge[a-zäöü]{3,}(?:t|en)|(?:un|ver|be|ent|er|zer)[a-zäöüß]{4,}(?:t|en)"
        r"|[a-zäöüß]{3,}(?:lich|isch|bar|los|haft|sam|wert|pflichtig)(?:e[rsnm]?)?"
    ),
    ROMANCE: re.compile(
        r"[a-zñáéíóúàèìòùçãõâêô]{3,}(?:[aiu][dt][ao]s?|ori[ao]s?|iv[ao]s?|[ai]bles?|mente|[aei]r|[aei]rse|[aei]rla"
        r"|[aei]re|ando|iendo|endo|ées?|és?|eux|euse|ment)"
    ),
    SLAVIC: re.compile(r"[а-яё]{3,}(?:ый|ий|ой|ая|ен|ена|ан|ана|ют|ет|ить|ать)"),
}


def tells_state(value: str, language: str = "", *, quoted: bool = False) -> bool:
    """Tell whether a word after "the password is" says how it is.

    `language` asks for the forms of other languages; a quoted word of these is judged by the list alone.
    """
    low = value.lower()
    last = low.rpartition("-")[2]
    if low in _NO_STATES or last in _NO_STATES:
        return False
    if low in _STATES or last in _STATES or low in _FOREIGN:
        return True
    if language:
        endings = _FOREIGN_ENDINGS.get(language)
        return not quoted and endings is not None and endings.fullmatch(low) is not None
    return _ENDINGS.fullmatch(last) is not None or (
        _ADVERB.fullmatch(last) is not None and _NO_ADVERB.fullmatch(last) is None
    )


def is_verb(value: str) -> bool:
    """Tell whether a word after "set the password to" is what the password has to do, or what it does."""
    low = value.lower()
    return low in _VERBS or low.removesuffix("s") in _VERBS or low.removesuffix("es") in _VERBS


def is_head(value: str) -> bool:
    """Tell whether "password" before this word names a thing: a password manager, a password prompt."""
    return value.lower() in _HEADS


def is_chat(value: str) -> bool:
    """Tell whether a word alone answers a question without telling anything."""
    low = value.lower()
    return low in _CHAT or low in _VERBS or low in _HEADS


def is_function_word(value: str) -> bool:
    """Tell whether a word holds a sentence together; a list of words that makes a passphrase has none."""
    return value.lower() in _FUNCTION
