"""While a simulation runs, Python goes on: threads, callbacks, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import pytest
from support import QUICKSTART, SERVER, SMALL

import podsim

# Each takes seconds, or minutes.
LONG: dict[str, Callable[..., Any]] = {
    "run": lambda **more: podsim.run(QUICKSTART, fold="off", reuse=False, **more),
    "explain": lambda **more: podsim.run(
        QUICKSTART, set={"model.layers": 79, "batch.tokens": "8Mi"},
        what_if=True, reuse=False, **more,
    ),
    "collective": lambda **more: podsim.collective(
        chip="v5p", slice="16x20x28", op="all-gather", axes="xyz", bytes=1e9, fold="off", **more
    ),
    "serve": lambda **more: podsim.serve(
        SERVER, set={"serving.requests": 100_000, "serving.output": 64, "serving.prompt": {"mean": 500, "sigma": 0.6, "most": 2048}},
        **more,
    ),
    "sweep": lambda **more: podsim.sweep(
        QUICKSTART, {"batch.tokens": [f"{4 + i}Mi" for i in range(400)]}, jobs=1, gap=True, **more
    ),
    "search": lambda **more: podsim.search(QUICKSTART, over=["mesh"], **more),
    "compare": lambda **more: podsim.compare(*[QUICKSTART] * 400, jobs=1, **more),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends(name: str) -> None:
    news: list[podsim.Progress] = []
    started = threading.Event()

    def interrupt() -> None:
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def progress(one: podsim.Progress) -> None:
        news.append(one)
        started.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        LONG[name](progress=progress)
    thread.join()
    assert news[-1].share < 1 or news[-1].phase in ("choosing algorithms", "building", "simulating")


def test_ctrl_c_ends_without_a_callback() -> None:
    """No code of Python runs meanwhile that would hear it. To its end the run would take minutes."""
    thread = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        LONG["run"]()
    thread.join()


@pytest.mark.parametrize("name", ["run", "sweep"])
def test_what_a_callback_raises_ends_the_simulation(name: str) -> None:
    class Enough(Exception):
        pass

    calls = 0

    def progress(_: podsim.Progress) -> None:
        nonlocal calls
        calls += 1
        raise Enough

    with pytest.raises(Enough):
        LONG[name](progress=progress)
    assert calls == 1


def test_a_sweep_that_was_ended_goes_on(tmp_path: Any) -> None:
    record = tmp_path / "record.jsonl"
    vary = {"batch.tokens": [f"{32 * i}Ki" for i in range(1, 41)]}

    def progress(one: podsim.Progress) -> None:
        if one.share >= 0.1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        podsim.sweep(SMALL, vary, jsonl=record, jobs=1, gap=True, set={"model.layers": 32}, progress=progress)
    kept = record.read_bytes()
    assert kept.count(b"\n") >= 4
    rows = podsim.sweep(SMALL, vary, jsonl=record, jobs=1, gap=True, set={"model.layers": 32})
    assert len(rows) == 40 and record.read_bytes().startswith(kept)


def test_progress_is_told_in_the_calling_thread() -> None:
    news: list[podsim.Progress] = []
    threads = set()

    def progress(one: podsim.Progress) -> None:
        news.append(one)
        threads.add(threading.get_ident())

    podsim.collective(
        chip="v5p", slice="16x16x16", op="all-gather", axes="xyz", bytes=1e9, fold="off", progress=progress
    )
    assert threads == {threading.get_ident()}
    simulating = [one for one in news if one.phase == "simulating"]
    assert len(simulating) > 2 and {one.phase for one in news} <= {
        "building", "choosing algorithms", "simulating", "explaining"
    }  # fmt: skip
    assert all(0 <= one.share <= 1 for one in news)
    assert all(one.events <= one.all_events for one in simulating)
    served: list[podsim.Progress] = []
    podsim.serve(SERVER, progress=served.append)
    assert served[-1].phase == "serving" and served[-1].share == 1
    podsim.sweep(SMALL, {"model.layers": [1, 2]}, progress=served.append)
    assert served[-1].phase == "sweeping" and served[-1].share == 1
    podsim.compare(SMALL, SMALL, progress=served.append)
    assert served[-1].phase == "comparing" and served[-1].share == 1


def test_other_threads_run_meanwhile() -> None:
    """Were the interpreter's lock held, the other thread would not wake once during the call."""
    steps = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal steps
        while not ended.is_set():
            time.sleep(0.001)
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    while steps == 0:
        time.sleep(0.001)
    before = steps
    podsim.collective(chip="v5p", slice="16x16x16", op="all-gather", axes="xyz", bytes=1e9, fold="off")
    during = steps - before
    ended.set()
    thread.join()
    assert during > 5


def test_simulations_beside_each_other() -> None:
    """Equal to the same one after the other."""
    layers = range(1, 7)
    alone = [podsim.run(SMALL, set={"model.layers": n})["step_time_s"] for n in layers]
    beside: dict[int, float] = {}

    def one(n: int) -> None:
        beside[n] = podsim.run(SMALL, set={"model.layers": n})["step_time_s"]

    threads = [threading.Thread(target=one, args=(n,)) for n in layers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [beside[n] for n in layers] == alone
    assert alone == sorted(alone)


def test_the_interpreter_ends_beside_a_thread_that_simulates() -> None:
    """A daemon's simulation is ended with the interpreter, which unwinds its thread."""
    program = (
        "import threading, time, podsim\n"
        f"def work(): podsim.run({str(QUICKSTART)!r}, fold='off', reuse=False)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "print('end', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
