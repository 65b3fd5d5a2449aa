"""The closed list of kinds, their placeholders, and how rules of a foreign engine map to them.

Kinds are ours and never those of a library: a library's rule id changes between its releases and would rewrite every
memory file (reference `redaction.md`, "What the app must add", 7).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

PRIVATE_KEY: Final = "private_key"
JWT: Final = "jwt"
AWS_KEY: Final = "aws_key"
CLOUD_KEY: Final = "cloud_key"
GITHUB_TOKEN: Final = "github_token"
GITLAB_TOKEN: Final = "gitlab_token"
CHAT_TOKEN: Final = "chat_token"
PAYMENT_KEY: Final = "payment_key"
PACKAGE_TOKEN: Final = "package_token"
API_KEY: Final = "api_key"
URL_PASSWORD: Final = "url_password"
AUTH_HEADER: Final = "auth_header"
COOKIE: Final = "cookie"
URL_SECRET: Final = "url_secret"
PASSWORD: Final = "password"
TOKEN: Final = "token"
SECRET: Final = "secret"
CUSTOM: Final = "custom"
KNOWN_VALUE: Final = "known_value"

KINDS: Final = (
    PRIVATE_KEY,
    JWT,
    AWS_KEY,
    CLOUD_KEY,
    GITHUB_TOKEN,
    GITLAB_TOKEN,
    CHAT_TOKEN,
    PAYMENT_KEY,
    PACKAGE_TOKEN,
    API_KEY,
    URL_PASSWORD,
    AUTH_HEADER,
    COOKIE,
    URL_SECRET,
    PASSWORD,
    TOKEN,
    SECRET,
    CUSTOM,
    KNOWN_VALUE,
)
"""All kinds; where findings overlap, the one that stands first names the whole."""

RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}
ALWAYS_ON: Final = frozenset({PRIVATE_KEY})

LAYER: Final = "layer"
KNOWN: Final = "known"

PLACEHOLDER: Final = re.compile(r"\[REDACTED:[a-z_]{2,32}\]")
"""Match a placeholder, of this release or of another."""

_ENGINE_KINDS: Final = (
    (("private-key", "age-secret", "gcp-service-account"), PRIVATE_KEY),
    (("jwt",), JWT),
    (("aws", "amazon", "alibaba"), AWS_KEY),
    (("github",), GITHUB_TOKEN),
    (("gitlab",), GITLAB_TOKEN),
    (("slack", "discord", "telegram", "teams", "mattermost", "gitter", "lark"), CHAT_TOKEN),
    (("stripe", "paypal", "square-", "plaid", "flutterwave", "razorpay", "shopify", "coinbase"), PAYMENT_KEY),
    (("npm", "pypi", "rubygems", "crates", "clojars", "dockerhub", "artifactory", "packagist", "nuget"), PACKAGE_TOKEN),
    (("gcp", "azure", "digitalocean", "heroku", "cloudflare", "databricks", "yandex", "ibm-cloud"), CLOUD_KEY),
    (("connection-string", "credential-uri", "sidekiq-sensitive-url"), URL_PASSWORD),
    (("curl-auth",), AUTH_HEADER),
    (("session-cookie",), COOKIE),
    (("passphrase", "password", "credentials"), PASSWORD),
    (("kubernetes-secret", "client-secret"), SECRET),
)

_NAMES_NO_SECRET: Final = re.compile(
    r"(?:account-name|account-id|instance-url|client-id|application-id|tenant-id|key-id|cloud-name|auth-id|access-id"
    r"|-domain|-username|server-host|account-host|project-url|token-name|rest-url|jfrog-url|app-id|public-key|pub-key"
    r"|pub-api-key|polymarket-address|-repository|planetscale-id|public-api-token|user-api-id)(?:\.\d+)?$"
)


@lru_cache(maxsize=1024)
def kind_of_rule(rule_id: str) -> str | None:
    """Map an engine's rule id to a kind of ours; None for rules that find ids and hosts, which are no secrets."""
    name = rule_id.lower()
    if _NAMES_NO_SECRET.search(name):
        return None
    for marks, kind in _ENGINE_KINDS:
        if any(mark in name for mark in marks):
            return kind
    return API_KEY


def placeholder(kind: str) -> str:
    """Return what stands in the text instead of a secret: no counter and no hash, so that it never changes."""
    return f"[REDACTED:{kind}]"
