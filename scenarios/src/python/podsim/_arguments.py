"""Arguments as the command line has them."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, Optional, Tuple, Union

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Source = Union[bytes, Tuple[bytes, str, bytes, bool]]
Path = Union[str, "os.PathLike[str]"]


def _plain(value: Any) -> Any:
    """Converts values that JSON does not have: paths, mappings, numbers and arrays of other libraries."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__index__"):
        return value.__index__()
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"a scenario holds no {type(value).__name__}")


def _check_keys(value: Any) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_keys(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)


def yaml_text(value: Any) -> str:
    """A value as YAML: its JSON, which is YAML. A text is YAML already."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        _check_keys(value)
        return json.dumps(value, default=_plain, ensure_ascii=False)
    except RecursionError:
        raise ValueError("a value holds itself, or is nested too deep") from None


def is_path(scenario: Scenario) -> bool:
    """True for the path of a file. A scenario of one line is a map in braces: a block of one line lacks required keys."""
    if isinstance(scenario, str):
        return "\n" not in scenario and not scenario.lstrip().startswith("{")
    return not isinstance(scenario, Mapping)


def source(scenario: Scenario, base: Optional[Path]) -> Source:
    """A path, or the folder, name and text of what is handed over, and whether its lines are the user's."""
    folder = b"" if base is None else os.fsencode(base)
    if isinstance(scenario, Mapping):
        return folder, "<dict>", _bytes(_json(scenario)), False
    if isinstance(scenario, str) and not is_path(scenario):
        return folder, "<text>", _bytes(scenario), True
    if base is not None:
        raise TypeError("base is for texts and dictionaries: paths in a file are relative to it")
    return os.fsencode(_without_nul(os.fsdecode(scenario)))


def sources(scenarios: Iterable[Scenario], base: Optional[Path]) -> list[Source]:
    """The sources of all scenarios; ``base`` applies to those that are not files."""
    return [source(each, None if is_path(each) else base) for each in scenarios]


def _bytes(text: str) -> bytes:
    """Encodes a text. One that is not valid Unicode is passed on as it is, and podsim refuses it."""
    return text.encode("utf-8", "surrogatepass")


def varied(vary: Mapping[str, Any]) -> list[Union[bytes, Tuple[bytes, list[bytes]]]]:
    """Keys with the texts of their values, or texts as --vary takes them."""
    return [
        _bytes(one) if isinstance(one, str) else (_bytes(one[0]), [_bytes(text) for text in one[1]])
        for one in _varied(vary)
    ]


def _varied(vary: Mapping[str, Any]) -> list[Union[str, Tuple[str, list[str]]]]:
    if not isinstance(vary, Mapping):
        raise TypeError(f"vary is a mapping of keys to values, not {type(vary).__name__}")
    return [
        f"{key}={values}"
        if isinstance(values, str)
        else (key, [yaml_text(value) for value in values])
        for key, values in vary.items()
    ]


def varied_texts(vary: Optional[Mapping[str, Any]]) -> list[str]:
    """The same as --vary has it: ``key=value,value`` as it is, of a list ``key=[value, value]``."""
    return [
        one if isinstance(one, str) else f"{one[0]}=[{', '.join(_in_list(text) for text in one[1])}]"
        for one in _varied({} if vary is None else vary)
    ]


def _in_list(text: str) -> str:
    """YAML as an item of a list in brackets. Text in brackets or quotes stays; a plain text with commas gets quotes."""
    plain = not text.lstrip().startswith(("[", "{", '"', "'"))
    return json.dumps(text, ensure_ascii=False) if plain and set(text) & set(",[]{}#\n") else text


def joined(separator: str, value: Union[str, Iterable[int], None]) -> Optional[str]:
    """``4x4x8`` of ``(4, 4, 8)``; texts as they are."""
    return value if value is None or isinstance(value, str) else separator.join(map(str, value))


_FLAGS = frozenset(
    "what_if reschedule no_explain explain_all no_reuse trace_all requests gap timings twisted".split()
)

_LISTS = frozenset(("set", "over", "vary", "read"))


def options(**given: Any) -> list[bytes]:
    """The options of a command line: ``bytes=1e9`` is ``--bytes=1e9``, ``what_if=True`` ``--what-if``, settings the
    option again and again; nothing for None and False. A ``_`` at the end only tells it from a word of Python."""
    words: list[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if name in _FLAGS:
            words.extend([option] if value else [])
        elif name in _LISTS:
            words.extend(f"{option}={item}" for item in value)
        elif value is True or isinstance(value, (list, tuple, dict)):
            raise TypeError(f"{name} is a value, not {value!r}")
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return [os.fsencode(word) for word in words]


def settings(values: Optional[Mapping[str, Any]], name: str = "set") -> list[str]:
    """``key=value`` of each, as --set takes them. ``name`` is the argument's."""
    if values is not None and not isinstance(values, Mapping):
        raise TypeError(f"{name} is a mapping of keys to values, not {type(values).__name__}")
    return [f"{key}={yaml_text(value)}" for key, value in (values or {}).items()]


def path(value: Optional[Path]) -> Optional[str]:
    return None if value is None else _without_nul(os.fsdecode(value))


def paths(values: Union[Path, Iterable[Path]]) -> list[str]:
    """The paths of one or several files."""
    several = [values] if isinstance(values, (str, bytes, os.PathLike)) else values
    return [_without_nul(os.fsdecode(value)) for value in several]


def file(value: Path) -> bytes:
    return os.fsencode(_without_nul(os.fsdecode(value)))


def _without_nul(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"no path holds a NUL: {name!r}")
    return name
