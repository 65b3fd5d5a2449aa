"""Find a provider's key: the environment variable the settings name, else the OS keyring. Never a file, log or plan.

Every function here may block (D-Bus, a keychain prompt) and belongs on a thread.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.providers import ProviderSettings

SERVICE = "ltmem"
NO_KEY = "not-needed"
"""What the client sends where a server on this computer asks for no key; the client refuses an empty one."""


def find_key(provider: ProviderSettings, environment: Mapping[str, str] | None = None) -> str:
    """Return the key. Raises `ProviderError` (group `auth`) naming what to do when none is there."""
    variables = os.environ if environment is None else environment
    if provider.key_env:
        key = variables.get(provider.key_env, "").strip()
        if key:
            return key
        raise ProviderError(
            f"the environment variable {provider.key_env} is not set",
            "set it before the program starts, or clear provider_key_env to use the keyring",
            provider.host,
            group="auth",
        )
    key = _from_keyring(provider)
    if key:
        return key
    if provider.is_loopback:
        return NO_KEY
    raise ProviderError(
        "no key is stored for this provider",
        "store one in the settings, or name an environment variable in provider_key_env",
        provider.host,
        group="auth",
    )


def store_key(provider: ProviderSettings, key: str) -> None:
    """Put a key into the OS keyring: a confirmed act. Raises `ProviderError` when there is no keyring."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, _account(provider), key)
    except KeyringError as error:
        raise _no_keyring(provider, error) from error


def delete_key(provider: ProviderSettings) -> None:
    """Take a key out of the OS keyring; a missing one is fine. Raises `ProviderError` without a keyring."""
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        keyring.delete_password(SERVICE, _account(provider))
    except PasswordDeleteError:
        return
    except KeyringError as error:
        raise _no_keyring(provider, error) from error


class Keys:
    """Implement the port `ProviderKeys`."""

    def place(self, provider: ProviderSettings) -> str:
        """Say in words where the key is, empty when there is none and one is needed."""
        if provider.key_env:
            found = bool(os.environ.get(provider.key_env, "").strip())
            return f"in the environment variable {provider.key_env}" if found else ""
        try:
            if _from_keyring(provider):
                return "in the system's keyring"
        except ProviderError:
            return ""
        return "none is needed on this computer" if provider.is_loopback else ""

    def store(self, provider: ProviderSettings, key: str) -> None:
        """Put a key into the OS keyring."""
        store_key(provider, key)

    def delete(self, provider: ProviderSettings) -> None:
        """Take a key out of the OS keyring."""
        delete_key(provider)


def _from_keyring(provider: ProviderSettings) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return (keyring.get_password(SERVICE, _account(provider)) or "").strip()
    except KeyringError as error:
        if provider.is_loopback:
            return ""
        raise _no_keyring(provider, error) from error


def _account(provider: ProviderSettings) -> str:
    """Bind a key to host and scheme: a changed address never gets another host's key, nor http that of https.

    Https has no scheme in its account, so that keys stored before are found, and found only there.
    """
    scheme = "http://" if provider.is_unencrypted else ""
    return f"{provider.name}@{scheme}{provider.host}"


def _no_keyring(provider: ProviderSettings, error: Exception) -> ProviderError:
    return ProviderError(
        f"the system's keyring cannot be used ({type(error).__name__})",
        "name an environment variable with the key in provider_key_env instead",
        provider.host,
        group="auth",
    )
