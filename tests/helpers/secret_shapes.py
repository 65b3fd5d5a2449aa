"""Made-up secrets of many makers, and the places people leave them in. Every value is random, none was ever valid."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
STD64 = ALNUM + "+/"
HEX = "0123456789abcdef"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
CAPITALS = string.ascii_uppercase + string.digits
WORDS = ("sunny", "tiger", "maple", "river", "stone", "cloud", "amber", "delta", "falcon", "willow")
SMALL = string.ascii_lowercase + string.digits


@dataclass(frozen=True)
class Case:
    """A text, the span that has to go, and where it comes from."""

    kind: str
    place: str
    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        return self.text[self.start : self.end]


def tokens(seed: int) -> dict[str, str]:
    """Return one fresh token of each maker."""
    r = random.Random(seed)

    def pick(size: int, letters: str = ALNUM) -> str:
        return "".join(r.choice(letters) for _ in range(size))

    def packed(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    def uuid() -> str:
        return "-".join(pick(size, HEX) for size in (8, 4, 4, 4, 12))

    return {
        "model-1": "sk-" + pick(20) + "T3Blbk" + "FJ" + pick(20),
        "model-2": "sk-" + "proj-" + pick(r.choice([40, 74, 120]), URL64),
        "model-3": "sk-" + "ant-api03-" + pick(93, URL64) + "AA",
        "model-4": "sk-" + "ant-oat01-" + pick(93, URL64) + "AA",
        "model-5": "sk-" + pick(32, HEX),
        "model-6": "sk-" + "or-v1-" + pick(64, HEX),
        "model-7": "xai" + "-" + pick(80),
        "model-8": "gsk" + "_" + pick(52),
        "model-9": "hf" + "_" + pick(34),
        "model-10": "pplx" + "-" + pick(48),
        "model-11": "r8" + "_" + pick(37),
        "cloud-1": "AK" + "IA" + pick(16, BASE32),
        "cloud-2": "AS" + "IA" + pick(16, BASE32),
        "cloud-3": "AI" + "za" + pick(35, URL64),
        "cloud-4": "GOC" + "SPX-" + pick(28, URL64),
        "cloud-5": "ya" + "29." + pick(r.choice([60, 150]), URL64),
        "cloud-6": pick(3) + "8Q~" + pick(34, URL64),
        "cloud-7": "dop" + "_v1_" + pick(64, HEX),
        "cloud-8": "da" + "pi" + pick(32, HEX),
        "cloud-9": "nfp" + "_" + pick(36),
        "cloud-10": "HRKU" + "-AA" + pick(58, URL64),
        "cloud-11": pick(14) + ".atlasv1" + "." + pick(67, URL64),
        "cloud-12": "hvs" + "." + pick(90, URL64),
        "cloud-13": "AGE-SECRET" + "-KEY-1" + pick(58, BASE32),
        "forge-1": "gh" + "p_" + pick(36),
        "forge-2": "gh" + "s_" + pick(36),
        "forge-3": "github" + "_pat_" + pick(22) + "_" + pick(59),
        "forge-4": "gl" + "pat-" + pick(20, URL64),
        "forge-5": "gl" + "rt-" + pick(20, URL64),
        "chat-1": "xo" + f"xb-{pick(12, '123456789')}-{pick(12, '123456789')}-{pick(24)}",
        "chat-2": "xa" + f"pp-1-A{pick(10, CAPITALS)}-{pick(13, '123456789')}-{pick(64, HEX)}",
        "chat-3": r.choice("MNO") + pick(25) + "." + pick(6, URL64) + "." + pick(r.choice([27, 38]), URL64),
        "chat-4": pick(10, "123456789") + ":A" + "A" + pick(33, URL64),
        "chat-5": "https://hooks.slack" + f".com/services/T{pick(8, CAPITALS)}/B{pick(10, CAPITALS)}/{pick(24)}",
        "pay-1": "sk" + "_live_" + pick(24),
        "pay-2": "sk" + "_test_" + pick(24),
        "pay-3": "wh" + "sec_" + pick(32),
        "pay-4": "sh" + "pat_" + pick(32, HEX),
        "mail-1": "SG" + "." + pick(22, URL64) + "." + pick(43, URL64),
        "mail-2": pick(32, HEX) + "-us" + pick(1, "123456789"),
        "mail-3": "key" + "-" + pick(32, HEX),
        "mail-4": "SK" + pick(32, HEX),
        "package-1": "npm" + "_" + pick(36),
        "package-2": "py" + "pi-AgEIcHlwaS5vcmc" + pick(120, URL64),
        "package-3": "rubygems" + "_" + pick(48, HEX),
        "package-4": "dckr" + "_pat_" + pick(27, URL64),
        "service-1": "NR" + "AK-" + pick(27, CAPITALS),
        "service-2": "gl" + "sa_" + pick(32) + "_" + pick(8, HEX),
        "service-3": "sntr" + "yu_" + pick(64, HEX),
        "service-4": "lin" + "_api_" + pick(40),
        "service-5": "fi" + "gd_" + pick(40, URL64),
        "service-6": "pa" + "t" + pick(14) + "." + pick(64, HEX),
        "service-7": "PM" + "AK-" + pick(24, HEX) + "-" + pick(34, HEX),
        "service-8": "ATATT" + "3xFfGF0" + pick(170, URL64) + "=" + pick(8, "0123456789ABCDEF"),
        "service-9": "pat" + "-na1-" + uuid(),
        "jwt": packed({"alg": "HS256", "typ": "JWT"})
        + "."
        + packed({"sub": pick(9, "123456789")})
        + "."
        + pick(43, URL64),
    }


PLACES = {
    "alone": "@@",
    "sentence": "I pasted @@ into the form and it worked.",
    "full stop": "The working one is @@. Rotate it.",
    "brackets": "see (@@) and [@@], or <@@>",
    "back ticks": "- uses `@@` for nightly builds",
    "shell": "$ export VALUE='@@'\n$ make",
    "env": "PATH=/usr/bin\nVALUE=@@\nLANG=C\n",
    "json": '{"status": "ok", "value": "@@"}',
    "escaped json": '{"o": "{\\"value\\": \\"@@\\", \\"n\\": 1}"}',
    "newline escape": '{"o": "code: 0\\n@@\\ndone"}',
    "two newline escapes": '{"o": "{\\"o\\": \\"x\\\\n@@\\\\nok\\"}"}',
    "tab escape": '{"o": "name\\t@@\\tactive"}',
    "colour": "t: \x1b[32m@@\x1b[0m (valid)",
    "colour escape": '{"o": "t \\u001b[1;33m@@\\u001b[0m"}',
    "chinese": "他的密钥是@@，请不要保存",
    "emoji": "🔑@@✅",
    "right to left": "\u202b@@\u202c",
    "query": "GET https://api.x/v1?page=2&t=@@&z=1 HTTP/1.1",
    "header": "> Authorization: Bearer @@\n> Accept: */*",
    "yaml": "s:\n  name: api\n  credential: @@\n",
    "diff": "@@ -1 +1 @@\n-VALUE=\n+VALUE=@@\n".replace("@@ -1 +1 @@", "@ -1 +1 @"),
    "removed line": "-@@\n+x",
    "table": "| env | value |\n| live | @@ |\n",
    "html": "&lt;code&gt;@@&lt;/code&gt;",
    "nul": "a\x00@@\x00b",
    "url escape": "x%3D@@%26y",
    "traceback": "    raise AuthError(@@)\n",
}


def token_cases(seed: int) -> Iterator[Case]:
    """Yield each token in each place; where a place has several slots, the first one counts."""
    for kind, token in tokens(seed).items():
        for place, form in PLACES.items():
            before, _, after = form.partition("@@")
            text = before + token + after.replace("@@", token)
            yield Case(kind, place, text, len(before), len(before) + len(token))


def values(seed: int) -> dict[str, str]:
    """Return passwords and random values: {P} typed, {R} letters and digits, {U} URL-safe, {H} hex, {S} base64, …"""
    r = random.Random(seed)

    def pick(size: int, letters: str = ALNUM) -> str:
        return "".join(r.choice(letters) for _ in range(size))

    word = r.choice(WORDS)
    typed = [
        word + pick(3, "123456789"),
        word.title() + r.choice("!#^*") + pick(4, "123456789"),
        pick(9) + "#7" + pick(2),
    ]
    return {
        "P": r.choice(typed),
        "R": pick(r.choice([24, 32, 40])) + "7x",
        "U": pick(40, URL64) + "4Q",
        "H": pick(r.choice([32, 40, 64]), HEX),
        "S": pick(38, STD64) + "9z",
        "B": base64.b64encode(f"admin:{pick(12)}7".encode()).decode(),
        "G": "-".join(pick(size, HEX) for size in (8, 4, 4, 4, 12)),
        "A": pick(86, STD64) + "==",
        "K": pick(32, BASE32),
    }


SHAPES = r"""
DB_PASSWORD={P}
export MYSQL_PWD='{P}'
password = "{P}"
"db_password" : "{P}",
'password' => '{P}',
passwd: {P}
cfg["password"] = "{P}"
os.environ["API_TOKEN"] = "{R}"
const apiKey = '{R}';
let clientSecret: string = "{R}";
auth_token = "{H}"
refresh_token={U}
SECRET_KEY_BASE={H}
JWT_SECRET={R}
DATADOG_API_KEY={H}
NPM_TOKEN={G}
aws_secret_access_key = {S}
AccountKey={A};EndpointSuffix=core.windows.net
Server=db;Uid=sa;Pwd={P};Encrypt=yes
jdbc:mysql://h/db?user=root&password={P}
<password>{P}</password>
<add key="ApiKey" value="{R}" />
{{"name": "DB_PASSWORD", "value": "{P}"}}
{{\"password\": \"{P}\"}}
{{\\\"token\\\": \\\"{R}\\\"}}
| password | {P} |
- **Password:** {P}
docker run -e POSTGRES_PASSWORD={P} postgres
$env:API_KEY = "{R}"
+DB_PASSWORD={P}
--password {P}
--token {U} --json
docker login -u ops -p {P} reg.io
mysql -u root -p{P} db
sshpass -p '{P}' ssh a@b
curl -u admin:{P} https://x
ALTER USER app WITH PASSWORD '{P}';
CREATE USER 'a'@'%' IDENTIFIED BY '{P}';
requirepass {P}
machine x.io login d password {P}
localhost:6543:app:svc:{P}
//registry.x.io/:_authToken={G}
_auth={B}
{{"auths":{{"x.io":{{"auth":"{B}"}}}}}}
    client-key-data: {A}
auth=("user", "{P}")
the password is {P}
The root password for staging is {P}.
password was changed to {P} yesterday
use {P} as the password
API key is {R} for the weather
das Passwort ist {P}
密码是{P}
пароль: {P}
Authorization: Bearer {U}
Authorization: Basic {B}
Authorization: Token {H}
"Authorization": "Bearer {U}"
X-API-Key: {R}
Cookie: theme=dark; sessionid={R}
Set-Cookie: session={U}; Path=/
postgres://app:{P}@db.prod/x
redis://:{P}@cache:6379/0
amqp://svc:{P}@mq:5672/
https://oauth2:{U}@git.x/r.git
https://x.io/a?token={U}&b=1
https://x.io/a?X-Amz-Signature={H}
https://a.blob.core.windows.net/c?sv=2022-11-02&sig={B}
otpauth://totp/a:b?secret={K}&issuer=a
"""


def shape_cases(seed: int) -> Iterator[Case]:
    """Yield each line of `SHAPES` with its value."""
    for form in SHAPES.strip().split("\n"):
        for key, value in values(seed).items():
            slot = "{" + key + "}"
            if slot in form:
                plain = form.replace("{{", "{").replace("}}", "}")
                before, _, after = plain.partition(slot)
                yield Case("shape", form, before + value + after, len(before), len(before) + len(value))


CLEAN = r"""
commit 3f2a9c1d4e5b6a7980112233445566778899aabb
sha256:63d7302aee41209fc2a6e437b00b2c26c4e05e3bf711c3a7b390def2c78e6ad0
"integrity": "sha512-3VhUjKLdtF4i8SGgWi3M9y49QYeltQ/c0224EYoxsJC7iz+73Wf/F9pyg0TJD7WIXpQ+aFs0qB0f0XEX8wzXqx=="
thread 019cb4a1-1e80-70a1-8000-0000000a1000 and risk-based-testing-of-imports
the token count was 48211 and the key idea is caching
api_key = "your_api_key_here"
export GITHUB_TOKEN=<your token>
token: ${{ secrets.GITHUB_TOKEN }}
password: ${DB_PASSWORD}
password: "{{ vault_db_password }}"
api_key = get_key()
token = settings.github_token
password: Optional[str] = Field(default=None, description="The database password")
apiKey: process.env.OPENAI_API_KEY,
"forgot_password": "Forgot your password?",
access_token_url = "https://auth.example.com/oauth/token"
secretName: my-tls-secret
max_tokens=4096, total_tokens: 123456789
cache-key: v1-deps-9722c4ca02cd21df520121b132dfbacb699fed05aa9f73600968c4fc2f270579
password is managed by Terraform
The token is called access_token in v2
Secret: the cache is warmed lazily. Password: managed-by-the-identity-provider team.
postgres://user:password@localhost:5432/db and postgres://user:${DB_PASS}@db/x
curl -H "Authorization: Bearer $TOKEN" https://x
Authorization: Bearer YOUR_ACCESS_TOKEN
Cookie: theme=dark; lang=en
mysql -u root -p dbname
https://github.com/acme/app/blob/9941ee6f6c82d20af3478994403d33c9eac6faec/src/a.py#L10-L20
-----BEGIN PUBLIC KEY-----
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
token=[REDACTED:token] password: "[REDACTED:password]"
pip install sk-learn-contrib; the sk-estimator-wrapper-utilities module
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
base64: TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVyIGFkaXBpc2NpbmcgZWxpdC4gU2VkIGRvIGVpdXNtb2Q=
secrets: inherit
JWT_ALGORITHM=HS256
PASSWORD_FILE=/run/secrets/db_password
2001:0db8:85a3:0000:0000:8a2e:0370:7334 10:22:03:118:234567
"""


def clean_lines() -> list[str]:
    """Return texts in which nothing is a secret."""
    return CLEAN.strip().split("\n")


def survives(text: str, start: int, end: int, spans: list[tuple[int, int]], *, allowed: int = 3) -> bool:
    """Tell whether more than `allowed` characters in a row of a secret are outside every span."""
    run = longest = 0
    for at in range(start, end):
        run = 0 if any(left <= at < right for left, right in spans) else run + 1
        longest = max(longest, run)
    return longest > allowed
