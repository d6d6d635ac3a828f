# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who may import whom, read from the source without importing it.

The rooms of the package form one direction: `core` knows nobody, `testing` judges
independently of `core`, and of ADK only what every supported version has under the
same name is used.
"""

from __future__ import annotations

import ast
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import adk_history_guard

PACKAGE = Path(adk_history_guard.__file__).parent

ROOMS = {"adk", "core", "diagnostics", "sessions", "testing"}

ADK_MODULES = {
    "google.adk",
    "google.adk.agents",
    "google.adk.agents.base_agent",
    "google.adk.agents.callback_context",
    "google.adk.agents.invocation_context",
    "google.adk.agents.llm_agent",
    "google.adk.agents.run_config",
    "google.adk.apps",
    "google.adk.apps.app",
    "google.adk.events",
    "google.adk.events.event",
    "google.adk.events.event_actions",
    "google.adk.models",
    "google.adk.models.anthropic_llm",
    "google.adk.models.base_llm",
    "google.adk.models.base_llm_connection",
    "google.adk.models.google_llm",
    "google.adk.models.lite_llm",
    "google.adk.models.llm_request",
    "google.adk.models.llm_response",
    "google.adk.models.registry",
    "google.adk.plugins",
    "google.adk.plugins.base_plugin",
    "google.adk.platform",
    "google.adk.platform.uuid",
    "google.adk.plugins.plugin_manager",
    "google.adk.runners",
    "google.adk.sessions",
    "google.adk.sessions.base_session_service",
    "google.adk.sessions.database_session_service",
    "google.adk.sessions.in_memory_session_service",
    "google.adk.sessions.session",
    "google.adk.sessions.sqlite_session_service",
    "google.adk.tools",
    "google.adk.tools.base_tool",
    "google.adk.tools.function_tool",
    "google.adk.tools.long_running_tool",
    "google.adk.tools.tool_context",
    "google.adk.version",
}
"""Modules of ADK that exist in every supported version; a new one is added here."""

HEADER = (
    "# SPDX-FileCopyrightText: 2026 The adk-history-guard authors",
    "# SPDX-License-Identifier: Apache-2.0",
)


@dataclass(frozen=True)
class Import:
    """One imported module, and the file and line that import it."""

    file: str
    line: int
    module: str
    names: tuple[str, ...]
    only_typing: bool

    def __str__(self):
        """Print as a place that an editor can open."""
        return f"{self.file}:{self.line} imports {self.module}"

    @property
    def targets(self):
        """Every dotted name that the statement may load: the module and its names."""
        return {self.module, *(f"{self.module}.{name}" for name in self.names)}


class ImportReader(ast.NodeVisitor):
    """Collects the imports of one file."""

    def __init__(self, path):
        """Read a file of the package."""
        self.file = path.relative_to(PACKAGE.parent).as_posix()
        self.package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
        self.imports = []
        self.only_typing = False
        self.visit(ast.parse(path.read_text(encoding="utf-8")))

    def add(self, node, module, names=()):
        """Keep one import."""
        self.imports.append(
            Import(
                file=self.file,
                line=node.lineno,
                module=module,
                names=tuple(names),
                only_typing=self.only_typing,
            )
        )

    def visit_Import(self, node):
        """Keep `import a.b`."""
        for alias in node.names:
            self.add(node, alias.name)

    def visit_ImportFrom(self, node):
        """Keep `from a import b`, with a relative `a` made absolute."""
        module = node.module or ""
        if node.level:
            parents = self.package.split(".")
            base = parents[: len(parents) - node.level + 1]
            module = ".".join([*base, *([module] if module else [])])
        self.add(node, module, [alias.name for alias in node.names])

    def visit_Call(self, node):
        """Keep `importlib.import_module("a.b")` with a literal name."""
        called = ast.unparse(node.func)
        if called in {"importlib.import_module", "import_module", "__import__"}:
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self.add(node, name.value)
        self.generic_visit(node)

    def visit_If(self, node):
        """Mark what stands under `if TYPE_CHECKING`."""
        before = self.only_typing
        test = ast.unparse(node.test)
        self.only_typing = before or test in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for child in node.body:
            self.visit(child)
        self.only_typing = before
        for child in node.orelse:
            self.visit(child)


FILES = sorted(PACKAGE.rglob("*.py"))
IMPORTS = [found for path in FILES for found in ImportReader(path).imports]


def imports_of(room):
    """Return the imports of one room."""
    prefix = f"{PACKAGE.name}/{room}/"
    return [found for found in IMPORTS if found.file.startswith(prefix)]


def is_under(module, *parents):
    """Tell whether a module is one of the parents or inside one."""
    return any(module == p or module.startswith(f"{p}.") for p in parents)


def rooms_of(found):
    """Return the rooms of this package that an import reaches, by the door too."""
    own = f"{PACKAGE.name}."
    behind = {own + name: room for name, room in adk_history_guard._ROOMS.items()}
    targets = {behind.get(target, target) for target in found.targets}
    parts = {t.removeprefix(own).split(".")[0] for t in targets if t.startswith(own)}
    return parts & ROOMS


def listed(faults):
    """Return faults as text, so that a failing test names file and line."""
    return sorted(str(found) for found in faults)


def test_the_reader_sees_the_package():
    """An empty list would let every other test here pass."""
    assert {"adk_history_guard/errors.py", "adk_history_guard/options.py"} <= {
        found.file for found in IMPORTS
    }


def test_core_imports_only_itself_errors_options_types_and_stdlib():
    """The core is pure: no ADK, no I/O libraries, no other room."""
    allowed = (
        "adk_history_guard.core",
        "adk_history_guard.errors",
        "adk_history_guard.options",
        "google.genai",
        "pydantic",
    )
    faults = [
        found
        for found in imports_of("core")
        if not is_under(found.module, *allowed)
        and found.module.split(".")[0] not in sys.stdlib_module_names
    ]

    assert listed(faults) == []


def test_core_takes_only_the_types_of_genai():
    """Of google-genai the core needs the data types, never a client."""
    faults = [
        found
        for found in imports_of("core")
        if is_under(found.module, "google.genai")
        and not all(is_under(t, "google.genai.types") for t in found.targets)
        and (found.module, found.names) != ("google.genai", ("types",))
    ]

    assert listed(faults) == []


def test_core_has_no_clock_no_randomness_and_no_input_or_output():
    """The same contents give the same bytes in every process."""
    banned = (
        "asyncio",
        "datetime",
        "logging",
        "os",
        "pathlib",
        "random",
        "secrets",
        "socket",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "uuid",
    )
    faults = [f for f in imports_of("core") if is_under(f.module, *banned)]

    assert listed(faults) == []


def test_testing_does_not_import_the_core():
    """The emulators judge a request independently of the code they test."""
    faults = [found for found in imports_of("testing") if "core" in rooms_of(found)]

    assert listed(faults) == []


@pytest.mark.parametrize(
    ("room", "allowed"),
    [
        pytest.param("adk", {"adk", "core", "diagnostics"}, id="adk"),
        pytest.param("diagnostics", {"core", "diagnostics"}, id="diagnostics"),
        pytest.param("sessions", {"core", "adk", "sessions"}, id="sessions"),
        pytest.param("testing", {"testing", "adk"}, id="testing"),
    ],
)
def test_rooms_look_in_one_direction(room, allowed):
    """No room imports one that stands after it."""
    faults = [found for found in imports_of(room) if rooms_of(found) - allowed]

    assert listed(faults) == []


def test_only_the_door_imports_the_command_line():
    """`click` and `rich` are never loaded by an agent."""
    faults = [
        found
        for found in IMPORTS
        if found.file != "adk_history_guard/__main__.py"
        and "adk_history_guard.cli" in found.targets
    ]

    assert listed(faults) == []


def test_errors_import_nothing_at_run_time():
    """Every room can raise errors, so they depend on none."""
    faults = [
        found
        for found in IMPORTS
        if found.file == "adk_history_guard/errors.py"
        and not found.only_typing
        and found.module.split(".")[0] not in sys.stdlib_module_names
    ]

    assert listed(faults) == []


def test_no_private_module_of_adk_is_imported():
    """A private module may be gone in the next version of ADK."""
    faults = [
        found
        for found in IMPORTS
        if is_under(found.module, "google.adk")
        and any(part.startswith("_") for t in found.targets for part in t.split("."))
    ]

    assert listed(faults) == []


def test_every_module_of_adk_is_on_the_list():
    """Only modules that every supported ADK has are imported."""
    faults = [
        found
        for found in IMPORTS
        if is_under(found.module, "google.adk") and found.module not in ADK_MODULES
    ]

    assert listed(faults) == []


@pytest.mark.parametrize("module", sorted(ADK_MODULES))
def test_module_on_the_list_exists_in_the_installed_adk(module, monkeypatch):
    """The list is true of the version that the tests run on."""
    # LiteLLM asks the network for prices when it is imported, unless told not to.
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    optional = {"google.adk.models.anthropic_llm": "anthropic"}
    optional["google.adk.models.lite_llm"] = "litellm"
    if module in optional:
        pytest.importorskip(optional[module])

    assert importlib.import_module(module)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_file_begins_with_the_licence(path):
    """Two SPDX lines say whose the file is and under which terms."""
    lines = path.read_text(encoding="utf-8").splitlines()[:2]

    assert list(HEADER) == lines
