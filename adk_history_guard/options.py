# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Every knob, once, for the plugin, the model, the command line and the environment.

A knob is a field of `GuardOptions`. Its metadata says what it means and what it
allows; validation, environment, documentation and command line all read that one
table, so a new knob is a new field and nothing else.
"""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from adk_history_guard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from dataclasses import Field

    from adk_history_guard.core.profiles import Profile

__all__ = ["ENV_PREFIX", "GuardOptions", "Knob", "list_knobs"]

ENV_PREFIX = "ADK_HISTORY_GUARD_"
"""What the name of every environment variable of this library begins with."""


class Knob(NamedTuple):
    """One knob as documentation and command line show it.

    Attributes:
        name: The name of the field and of the keyword argument.
        default: The default value.
        allowed: What may stand there, as words: names in quotes are literal values.
        meaning: One line that says what the knob decides.
        variable: The environment variable, or None for a knob that takes code only.
    """

    name: str
    default: object
    allowed: str
    meaning: str
    variable: str | None


def _choice(meaning: str, *choices: str) -> dict[str, Any]:
    """Return the table's row for a knob that takes one of `choices`."""
    return {"meaning": meaning, "choices": choices}


def _value(
    meaning: str,
    allowed: str,
    fault: Callable[[object], str | None],
    *,
    env: bool = True,
) -> dict[str, Any]:
    """Return the table's row for a knob in whose value `fault` finds nothing wrong.

    Args:
        meaning: One line that says what the knob decides.
        allowed: What may stand there, as words.
        fault: Returns None for a good value, else a hint, which may be empty.
        env: Whether an environment variable can hold the value.
    """
    return {"meaning": meaning, "allowed": allowed, "fault": fault, "env": env}


def _profile_fault(value: object) -> str | None:
    """Accept `"auto"`, the name of a profile, or a `Profile`."""
    if isinstance(value, str) and value == "auto":
        return None
    # Imported late: the default options shall load neither the core nor genai.
    from adk_history_guard.core.profiles import PROFILES, Profile

    if isinstance(value, Profile):
        return None
    names = ("auto", *PROFILES)
    if isinstance(value, str) and value in names:
        return None
    return f"The profiles are {_quote(names)}.{_did_you_mean(value, names)}"


def _dump_fault(value: object) -> str | None:
    """Accept None, a folder that is not blank, or a callable."""
    if value is None or callable(value):
        return None
    if isinstance(value, (str, os.PathLike)) and str(os.fspath(value)).strip():
        return None
    return ""


def _callable_fault(value: object) -> str | None:
    """Accept None or a callable."""
    return None if value is None or callable(value) else ""


def _marker_fault(value: object) -> str | None:
    """Accept a string that is not blank."""
    return None if isinstance(value, str) and value.strip() else ""


class _Named(type):
    """Makes an unknown keyword of the constructor say which ones there are."""

    def __call__(cls, *args: Any, **knobs: Any) -> Any:
        names = [knob.name for knob in fields(cast("Any", cls))]
        for name in knobs:
            if name not in names:
                raise ConfigurationError(_unknown("knob", name, names))
        return super().__call__(*args, **knobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOptions(metaclass=_Named):
    """How the guard behaves: immutable, checked on construction.

    The values come from the first of: a keyword argument, the `GuardOptions` given,
    and, when none is given, the environment (`ADK_HISTORY_GUARD_MODE=strict`).

    Attributes:
        mode: `"repair"` mends what can be mended, warns of the rest and sends;
            `"observe"` changes nothing and reports; `"strict"` raises
            `InvalidHistoryError` when a violation of severity error is left.
        profile: The provider's contract: `"auto"` reads it from the model's class
            and name; or a name of `PROFILES`; or a `Profile`.
        mint: When a call gets an id of its own: `"auto"` always for Gemini over
            `generateContent`, on repetition elsewhere, never in live mode or with
            the Interactions API; `"always"`; `"on_repeat"`; `"never"`.
        wire_ids: `"strip"` sends no ids to Gemini, as ADK does with its own;
            `"provider"` puts the provider's own id back where it is unique.
        unanswered: What a call without a response becomes: `"placeholder"` answers
            it, `"drop"` removes it, `"keep"` leaves it. Under `"drop"` a signed one
            gets an answer all the same: what a signature covers must stay whole.
        pending: The same for calls unanswered on purpose: `"placeholder"` (in the
            request only) or `"keep"`.
        unsigned: What an unsigned call becomes where signatures are demanded:
            `"auto"` is the profile's word; `"placeholder_signature"`; `"narrate"`;
            `"keep"`.
        orphans: A response without a call: `"drop"` it or `"narrate"` it.
        parallel: Parallel calls: `"keep"` them or `"collapse"` them.
        media: Media of responses: `"separate"` in a turn of its own after the last
            response, or `"nested"` inside the response.
        retry: After a rejection: `"never"`, or `"once"` under a stricter policy.
        dump: Where a rejected request goes: None, a folder, or a callable that
            takes a `RejectedRequest`.
        dump_content: `"shape"` writes structure, names, ids and sizes, no user
            text; `"full"` writes all of it.
        redact: None, or a callable that every text passes before it is dumped.
        on_rejected: None, or a callable or coroutine function that is called with
            the `RejectedRequest`.
        signature_marker: What parts an id from the signature that some gateways
            carry inside it. Such an id is kept byte for byte.

    Raises:
        ConfigurationError: A name is no knob, or a value is not allowed; the
            message lists what is.
    """

    mode: Literal["repair", "observe", "strict"] = field(
        default="repair",
        metadata=_choice(
            "Repair and send, only report, or raise when an error is left.",
            "repair",
            "observe",
            "strict",
        ),
    )
    profile: str | Profile = field(
        default="auto",
        metadata=_value(
            "The provider's contract; 'auto' reads it from the model's class and name; "
            "name it for a class of your own that speaks another language.",
            "'auto', a name of PROFILES or a Profile",
            _profile_fault,
        ),
    )
    mint: Literal["auto", "always", "on_repeat", "never"] = field(
        default="auto",
        metadata=_choice(
            "When a call gets an id of its own.",
            "auto",
            "always",
            "on_repeat",
            "never",
        ),
    )
    wire_ids: Literal["strip", "provider"] = field(
        default="strip",
        metadata=_choice(
            "Whether Gemini gets no ids or the provider's own ids back.",
            "strip",
            "provider",
        ),
    )
    unanswered: Literal["placeholder", "drop", "keep"] = field(
        default="placeholder",
        metadata=_choice(
            "What a call without a response becomes; a signed one is never dropped.",
            "placeholder",
            "drop",
            "keep",
        ),
    )
    pending: Literal["placeholder", "keep"] = field(
        default="placeholder",
        metadata=_choice(
            "What a call that waits on purpose becomes, in the request only.",
            "placeholder",
            "keep",
        ),
    )
    unsigned: Literal["auto", "placeholder_signature", "narrate", "keep"] = field(
        default="auto",
        metadata=_choice(
            "What an unsigned call becomes where the provider demands a signature.",
            "auto",
            "placeholder_signature",
            "narrate",
            "keep",
        ),
    )
    orphans: Literal["drop", "narrate"] = field(
        default="drop",
        metadata=_choice(
            "What a response without a call becomes.",
            "drop",
            "narrate",
        ),
    )
    parallel: Literal["keep", "collapse"] = field(
        default="keep",
        metadata=_choice(
            "Whether parallel calls stay parallel.",
            "keep",
            "collapse",
        ),
    )
    media: Literal["separate", "nested"] = field(
        default="separate",
        metadata=_choice(
            "Where the media of responses go: a turn of their own, or the response.",
            "separate",
            "nested",
        ),
    )
    retry: Literal["never", "once"] = field(
        default="never",
        metadata=_choice(
            "Whether a rejected request is sent again under a stricter policy.",
            "never",
            "once",
        ),
    )
    dump: str | os.PathLike[str] | Callable[[Any], object] | None = field(
        default=None,
        metadata=_value(
            "Where a rejected request is written; None writes nothing.",
            "None, a folder, or a callable that takes a RejectedRequest",
            _dump_fault,
        ),
    )
    dump_content: Literal["shape", "full"] = field(
        default="shape",
        metadata=_choice(
            "Whether a dump holds structure only or the user's text as well.",
            "shape",
            "full",
        ),
    )
    redact: Callable[[Any], Any] | None = field(
        default=None,
        metadata=_value(
            "What every text passes before it is dumped.",
            "None or a callable",
            _callable_fault,
            env=False,
        ),
    )
    on_rejected: Callable[[Any], object] | None = field(
        default=None,
        metadata=_value(
            "What is called with each rejected request.",
            "None, or a callable or coroutine function that takes a RejectedRequest",
            _callable_fault,
            env=False,
        ),
    )
    signature_marker: str = field(
        default="||thought_signature||",
        metadata=_value(
            "What parts an id from the signature that some gateways put inside it.",
            "a string that is not blank",
            _marker_fault,
        ),
    )

    def __post_init__(self) -> None:
        """Check every knob against the table."""
        for knob in fields(self):
            _check(knob, getattr(self, knob.name), f"{knob.name}=")

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> GuardOptions:
        """Read the options from `ADK_HISTORY_GUARD_<KNOB>` variables.

        An empty value counts as not set. Knobs that take code only (`redact`,
        `on_rejected`) have no variable; `ADK_HISTORY_GUARD_DUMP` is a folder.

        Args:
            environ: The variables to read; the process's own by default.

        Returns:
            The options; the defaults where no variable is set.

        Raises:
            ConfigurationError: A variable with the prefix is no knob, or its value
                is not allowed.
        """
        source = os.environ if environ is None else environ
        by_variable = {
            variable: knob for knob in fields(cls) if (variable := _variable(knob))
        }
        values: dict[str, Any] = {}
        for variable in sorted(source):
            if not variable.startswith(ENV_PREFIX):
                continue
            knob = by_variable.get(variable)
            if knob is None:
                raise ConfigurationError(
                    _unknown("environment variable", variable, by_variable)
                )
            if source[variable]:
                _check(knob, source[variable], f"{variable}=")
                values[knob.name] = source[variable]
        return cls(**values)

    @classmethod
    def build(cls, options: GuardOptions | None = None, **knobs: Any) -> GuardOptions:
        """Join given options, the environment and keyword arguments.

        Args:
            options: The options to start from; None reads the environment.
            **knobs: Knobs by name; each overrides what `options` says.

        Returns:
            The joined options; `options` itself when no knob is given.

        Raises:
            ConfigurationError: A name is no knob, a value is not allowed, or
                `options` is not a `GuardOptions`.
        """
        if options is not None and not isinstance(options, cls):
            message = (
                f"options={options!r} is not a GuardOptions."
                " Pass GuardOptions(...) or the knobs as keyword arguments."
            )
            raise ConfigurationError(message)
        base = cls.from_env() if options is None else options
        return replace(base, **knobs) if knobs else base


def list_knobs() -> tuple[Knob, ...]:
    """Return every knob in the order of declaration, for docs and command line."""
    return tuple(
        Knob(
            name=knob.name,
            default=None if knob.default is MISSING else knob.default,
            allowed=_allowed(knob),
            meaning=knob.metadata["meaning"],
            variable=_variable(knob),
        )
        for knob in fields(GuardOptions)
    )


def _check(knob: Field[Any], value: object, label: str) -> None:
    """Raise `ConfigurationError` when the table does not allow `value`."""
    choices = cast("tuple[str, ...] | None", knob.metadata.get("choices"))
    if choices is not None:
        allowed = isinstance(value, str) and value in choices
        hint = None if allowed else _did_you_mean(value, choices).strip()
    else:
        hint = knob.metadata["fault"](value)
    if hint is not None:
        message = f"{label}{value!r} is not allowed. Allowed: {_allowed(knob)}."
        raise ConfigurationError(f"{message} {hint}".rstrip())


def _allowed(knob: Field[Any]) -> str:
    """Return in words what a knob takes."""
    choices = cast("tuple[str, ...] | None", knob.metadata.get("choices"))
    return _quote(choices) if choices else cast("str", knob.metadata["allowed"])


def _variable(knob: Field[Any]) -> str | None:
    """Return the environment variable of a knob, None when it takes code only."""
    return ENV_PREFIX + knob.name.upper() if knob.metadata.get("env", True) else None


def _unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Return the message for a name that is not in the table."""
    known = list(names)
    return (
        f"Unknown {what} {name!r}. Allowed: {', '.join(known)}."
        f"{_did_you_mean(name, known)}"
    )


def _did_you_mean(value: object, names: Sequence[str]) -> str:
    """Return a hint with the nearest name, empty when none is near."""
    # Imported late: most options are right.
    import difflib

    close = difflib.get_close_matches(str(value).lower(), names, n=1)
    # Variables are upper case: try those as they are, too.
    close = close or difflib.get_close_matches(str(value), names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _quote(names: Iterable[str]) -> str:
    """Return names in quotes, parted by commas."""
    return ", ".join(repr(name) for name in names)
