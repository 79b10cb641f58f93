"""The extension module: commands by their options, results as the text of their JSON."""

from typing import Callable, Optional, Tuple, Union

version: str

_Source = Union[bytes, Tuple[bytes, str, str, bool]]
_Progress = Optional[Callable[[str, float, float, int, int], object]]

def run(
    options: list[str], scenario: _Source, progress: _Progress
) -> tuple[str, tuple[list[str], list[str], bytes, bytes]]: ...
def serve(options: list[str], scenario: _Source, progress: _Progress) -> str: ...
def compare(options: list[str], scenarios: list[_Source], progress: _Progress) -> str: ...
def collective(options: list[str], progress: _Progress) -> str: ...
def sweep(
    options: list[str],
    scenario: _Source,
    varied: list[Union[str, tuple[str, list[str]]]],
    progress: _Progress,
) -> tuple[list[str], list[int]]: ...
