# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The mutants of a module: each differs from it in one small thing.

What is changed: comparisons, operands of `and` and `or`, conditions, `not`, sums,
numbers, truth values, names in strings, returned values, `break` and `continue`,
calls made for their effect, and assignments to attributes and items. Docstrings,
annotations and the words of messages stay; so do `return False`, of which None is
no fault, and `strict=` of a zip, which like an assertion only tells of a mistake.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.Mult: ast.Add,
}
NAME = re.compile(r"[\w-]+")
LONGEST_NAME = 100
Slot = tuple[Any, str, int | None]
"""Where a node hangs: its parent, the field, and the index in a list."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed module.

    Attributes:
      name: Where and what, without line numbers: `f: a == b -> a != b`.
      function: The outermost function or method that differs; None where a
        name of the module does.
      line: The line of the change.
      code: The whole module, compiled.
      values: Names of the module with expressions to evaluate anew, in order: the
        one that differs, then those that are made of it.
      defaults: Whether the default of an argument differs.
    """

    name: str
    function: str | None
    line: int
    code: CodeType
    values: Sequence[tuple[str, CodeType]] = ()
    defaults: bool = False


def mutants_of(source: str, filename: str) -> Iterator[Mutant]:
    """Make every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    seen: dict[str, int] = {}
    for owner, node in _owners(tree):
        for slot, new in list(_changes(node)):
            old = _get(slot)
            if _shown(old) == _shown(new):  # as `while True` is
                continue
            name = f"{owner}: {_shown(old)} -> {_shown(new)}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name = f"{name} (#{seen[name]})"
            line = getattr(old, "lineno", node.lineno)
            if isinstance(old, (ast.expr, ast.stmt)):
                ast.copy_location(new, old)
            _set(slot, new)
            ast.fix_missing_locations(tree)
            code = compile(tree, filename, "exec", dont_inherit=True)
            values = _made_of(node, tree, filename)
            try:
                function = None if values else owner
                defaults = slot[1] in ("defaults", "kw_defaults")
                yield Mutant(name, function, line, code, values, defaults)
            finally:
                _set(slot, old)


def _owners(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Functions, methods and assigned names of a module, with their names."""
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, node
            case ast.ClassDef():
                for inner in node.body:
                    if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        yield f"{node.name}.{inner.name}", inner
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, node
            case ast.AnnAssign(target=ast.Name(id=name)) if node.value is not None:
                yield name, node


def _made_of(
    node: ast.stmt, tree: ast.Module, filename: str
) -> list[tuple[str, CodeType]]:
    """Expressions of an assigned name, and of all that is made of it later on."""
    made: list[tuple[str, CodeType]] = []
    differ: set[str] = set()
    for other, later in _owners(tree) if hasattr(node, "value") else ():
        value = getattr(later, "value", None)
        if value is None:
            continue
        names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
        if later is node or names & differ:
            differ.add(other)
            given = ast.Expression(value)
            code = compile(given, filename, "eval", dont_inherit=True)
            made.append((other, code))
    return made


def _changes(node: ast.AST) -> Iterator[tuple[Slot, Any]]:
    """Every slot below a node with what it may hold instead."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        children = value if isinstance(value, list) else [value]
        for n, child in enumerate(children):
            if not isinstance(child, ast.AST):
                continue
            slot = (node, name, n if isinstance(value, list) else None)
            if _is_docstring(child) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            for new in _instead(child, name):
                yield slot, new
            yield from _changes(child)


def _instead(node: ast.AST, field: str) -> Iterator[Any]:
    """What may stand in the place of a node."""
    yield from _other_expressions(node)
    yield from _other_statements(node)
    if field in ("test", "ifs") and not isinstance(node, (ast.Compare, ast.BoolOp)):
        yield ast.Constant(value=True)
        yield ast.Constant(value=False)


def _other_expressions(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for n, op in enumerate(ops):
                new = [*ops[:n], COMPARISONS[type(op)](), *ops[n + 1 :]]
                yield ast.Compare(left, new, others)
        case ast.BoolOp(op=op, values=values):
            for n in range(len(values)):
                rest = [*values[:n], *values[n + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SUMS:
            yield ast.BinOp(left, SUMS[type(op)](), right)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value) if NAME.fullmatch(value):
            yield ast.Constant(f"{value}_")


def _other_statements(node: ast.AST) -> Iterator[ast.stmt]:
    match node:
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in SUMS:
            yield ast.AugAssign(target, SUMS[type(op)](), value)
        case ast.Return(value=ast.expr() as value) if not _is_as_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def _is_docstring(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)


def _is_as_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and repr(node.value) in ("None", "False")


def _get(slot: Slot) -> Any:
    parent, name, index = slot
    value = getattr(parent, name)
    return value if index is None else value[index]


def _set(slot: Slot, node: Any) -> None:
    parent, name, index = slot
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _shown(node: Any) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."
