#!/usr/bin/env python3
"""Mutation testing: breaks production lines one at a time and asks whether a test notices.

    tests/house/mutate.py FOLDER [--count 100] [--jobs 2] [--seed COMMIT]

Copies the commit (HEAD) into FOLDER/tree-1, FOLDER/tree-2, ... (one a job), builds each with the
preset `check`, and draws mutants there; the checkout itself is never touched. The draws depend on
the commit's hash alone, so nobody chooses them: a line uniformly among all lines of production code
that can be mutated, then a kind of mutation uniformly among those the line allows, then a place.

Kinds: operator, constant, condition, statement (dropped), arguments (two neighbours swapped); with
--strings also the texts of messages and keys.
Results: caught (a test fails, or runs beyond its time: an endless loop), survived, equivalent (listed
in mutate_equivalents.txt with a reason) and not compiling (redrawn; warnings are errors there too).
The tests of the mutated folder run first, then those of the folders above it. Left out are the
tests that compare printed pages (house_tests).

FOLDER/results.jsonl has a line a mutant; a second call with the same folder and commit goes on where
the first stopped. `--list` prints the draws without building; `--show N` prints the N-th as a diff.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
EQUIVALENTS = HERE / "mutate_equivalents.txt"
FOLDERS = ["sim", "topology", "collectives", "workloads", "scenarios"]
KINDS = ["operator", "constant", "condition", "statement", "arguments"]

TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
      | (?P<raw>R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)")
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<character>'(?:[^'\\\n]|\\.)+')
      | (?P<number>(?:0[xX][0-9a-fA-F']+|(?:\d[\d']*)?\.?\d[\d']*\.?(?:[eE][+-]?\d+)?)[uUlLfF]*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>::|->|\+\+|--|<<=|>>=|<=>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|\|=|&=|\^=|<<|[^\s])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

OTHER_OPERATOR = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "++": ["--"], "--": ["++"],
}
OTHER_WORD = {
    "max": ["min"], "min": ["max"], "any_of": ["all_of"], "all_of": ["any_of"], "none_of": ["any_of"],
    "min_element": ["max_element"], "max_element": ["min_element"], "floor": ["ceil"],
    "ceil": ["floor"], "front": ["back"], "back": ["front"], "lower_bound": ["upper_bound"],
    "upper_bound": ["lower_bound"], "first": ["second"], "second": ["first"],
}
NOT_A_CALL = {"if", "for", "while", "switch", "catch", "return", "sizeof", "static_assert", "decltype",
              "noexcept", "alignas", "throw", "operator"}
SYMMETRIC = {"max", "min", "gcd", "lcm"}
NOT_DROPPED = {"return", "const", "constexpr", "auto", "using", "case", "default", "if", "for", "while",
               "switch", "else", "do", "try", "catch", "struct", "class", "enum", "static",
               "static_assert", "template", "typedef", "friend", "public", "private", "protected",
               "goto", "namespace", "assert", "}", "{", ")"}


class Token:
    __slots__ = ("kind", "text", "begin", "end", "line", "inside", "in_parentheses")

    def __init__(self, kind, text, begin, line):
        self.kind, self.text, self.begin, self.end, self.line = kind, text, begin, begin + len(text), line
        self.inside = "file"  # file (namespaces too), type, enum, code or value
        self.in_parentheses = False

    def __repr__(self):
        return self.text


def tokens_of(text):
    """The tokens that the compiler sees, each with its line (from 1)."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "delimiter" else "raw"
        if match.group("raw"):
            kind = "raw"
        if kind not in ("blank", "comment", "directive"):
            found.append(Token(kind, match.group(), match.start(), line))
        line += match.group().count("\n")
    mark_insides(found)
    return found


def mark_insides(found):
    """Marks what kind of braces each token stands in: a namespace, a type, code, or a value."""
    stack, head, brackets = ["file"], [], []
    for token in found:
        if token.text in ")}]" and brackets:
            brackets.pop()
        token.in_parentheses = brackets[-1:] == ["("]
        if token.text in ("(", "{", "["):
            brackets.append(token.text)
        if token.text == "}" and len(stack) > 1:
            stack.pop()
            head = []
        token.inside = stack[-1]
        if token.text == "{":
            stack.append(brace_kind(head, stack[-1]))
            head = []
        elif token.text == ";":
            head = []
        else:
            head.append(token.text)


def brace_kind(head, around):
    """What a brace opens, from the tokens since the last ; { or }."""
    if around in ("code", "value"):
        return around
    if "namespace" in head or head[:1] == ["extern"]:
        return "file"
    if "(" in head and "=" not in head[:head.index("(")]:
        return "code"
    if any(word in head for word in ("struct", "class", "union")) and "=" not in head:
        return "type"
    if "enum" in head:
        return "enum"
    return "value"


def matching(found, i, step):
    """The index of the bracket that belongs to the one at i; None when it is cut off."""
    pairs = {"(": ")", "{": "}", "[": "]"} if step > 0 else {")": "(", "}": "{", "]": "["}
    depth = 0
    while 0 <= i < len(found):
        text = found[i].text
        if text in pairs:
            depth += 1
        elif text in pairs.values():
            depth -= 1
            if depth == 0:
                return i
        i += step
    return None


def line_of(text, at):
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1:end if end >= 0 else len(text)]


class Place:
    """A replacement of a stretch of a file: what a mutant is."""

    def __init__(self, kind, line, begin, end, text):
        self.kind, self.line, self.begin, self.end, self.text = kind, line, begin, end, text


def is_value(found, i):
    """Whether a token belongs to something computed: code, or the right side of a definition."""
    token = found[i]
    if token.inside in ("code", "value"):
        return True
    while i > 0 and found[i - 1].text not in (";", "{", "}"):
        i -= 1
        if found[i].text == "=" and found[i].inside == token.inside:
            return True
    return False


def operator_places(text, found):
    for i, token in enumerate(found):
        if not is_value(found, i):
            continue
        if token.kind == "sign" and token.text in OTHER_OPERATOR:
            spaced = text[token.begin - 1] == " " and text[token.end] in " \n"
            increments = token.text in ("++", "--")
            if spaced or increments:
                for other in OTHER_OPERATOR[token.text]:
                    yield Place("operator", token.line, token.begin, token.end, other)
        elif token.kind == "word" and token.text in OTHER_WORD and token.inside == "code":
            called = i + 1 < len(found) and found[i + 1].text == "("
            member = i > 0 and found[i - 1].text in (".", "->", "::")
            if member and (called or token.text in ("first", "second")):
                for other in OTHER_WORD[token.text]:
                    yield Place("operator", token.line, token.begin, token.end, other)
        elif token.text == "!" and token.inside == "code":
            yield Place("operator", token.line, token.begin, token.end, "")


def constant_places(text, found):
    for i, token in enumerate(found):
        if not is_value(found, i):
            continue
        if token.kind == "number":
            digits = re.match(r"[0-9a-fA-FxX'.+-]*[0-9a-fA-F.]", token.text).group()
            suffix = token.text[len(digits):] if not token.text[:2].lower() == "0x" else ""
            if re.fullmatch(r"\d[\d']*", digits):
                value = int(digits.replace("'", ""))
                others = {value + 1, value * 2 if value > 2 else value + 2} | ({value - 1} if value else set())
                for other in sorted(others):
                    yield Place("constant", token.line, token.begin, token.end, f"{other}{suffix}")
            elif not token.text[:2].lower() == "0x":
                for other in (f"(2 * {token.text})", f"(1 + {token.text})"):
                    yield Place("constant", token.line, token.begin, token.end, other)
        elif token.text in ("true", "false"):
            other = "false" if token.text == "true" else "true"
            yield Place("constant", token.line, token.begin, token.end, other)


def condition_places(text, found):
    for i, token in enumerate(found):
        if token.inside != "code":
            continue
        if token.text in ("if", "while") and i + 1 < len(found) and found[i + 1].text == "(":
            close = matching(found, i + 1, 1)
            if close is None:
                continue
            begin, end = found[i + 1].end, found[close].begin
            condition = text[begin:end]
            if ";" in condition or re.match(r"(const )?auto\b|const ", condition):
                continue
            yield Place("condition", token.line, begin, end, f"!({condition})")
            if token.text == "if":
                yield Place("condition", token.line, begin, end, f"({condition}) || true")
            yield Place("condition", token.line, begin, end, f"({condition}) && false")
        elif token.text == "?":
            left = found[i - 1]
            if left.text == ")" or left.kind in ("word", "number"):
                yield Place("condition", token.line, token.begin, token.end, "&& false ?")


def statement_places(text, found):
    for i, token in enumerate(found):
        if token.inside != "code" or i == 0 or found[i - 1].text not in (";", "{", "}", ")", ":"):
            continue
        before = found[i - 1]
        if token.in_parentheses or (before.text == ")" and before.line == token.line):
            continue
        if before.text == ":" and not re.match(r"\s*(case|default)\b", line_of(text, before.begin)):
            continue
        if token.text in NOT_DROPPED or token.text == ";":
            if not (token.text == "return" and found[i + 1].text == ";"):
                continue
        if token.kind not in ("word", "sign"):
            continue
        end = i
        while end < len(found) and found[end].text != ";":
            if found[end].text in "([{" and matching(found, end, 1) is not None:
                end = matching(found, end, 1)
            elif found[end].text in ")]}":
                break
            end += 1
        if end >= len(found) or found[end].text != ";":
            continue
        words = [t for t in found[i:end] if t.kind == "word"]
        declares = (len(words) > 1 and text[words[0].end:words[1].begin].strip(" &*>") == ""
                    and words[0].text != "throw") or re.match(r"[\w:<>, ]+[>\w][&*]? \w+( =|;|\{|\()",
                                                              text[token.begin:found[end].end])
        if declares and token.text not in ("throw", "co_return"):
            continue
        yield Place("statement", token.line, token.begin, found[end].begin, "")


def argument_places(text, found):
    for i, token in enumerate(found):
        if token.text not in ("(", "{") or token.inside not in ("code", "value") or i == 0:
            continue
        if found[i - 1].text in NOT_A_CALL | SYMMETRIC or found[i - 1].kind != "word" and found[i - 1].text != ">":
            continue
        close = matching(found, i, 1)
        if close is None or (token.text == "{" and any(t.text == ";" for t in found[i:close])):
            continue
        commas, j = [], i + 1
        while j < close:
            if found[j].text in ("(", "{", "["):
                j = matching(found, j, 1) or close
            elif found[j].text == ",":
                commas.append(j)
            j += 1
        edges = [i, *commas, close]
        parts = [(a + 1, b - 1) for a, b in zip(edges, edges[1:]) if a + 1 <= b - 1]
        if len(parts) != len(edges) - 1:
            continue
        for (a, b), (c, d) in zip(parts, parts[1:]):
            first = text[found[a].begin:found[b].end]
            second = text[found[c].begin:found[d].end]
            named = first.startswith(".") or second.startswith(".")
            text_of_format = first.startswith('"') and found[i - 1].text == "format"
            if first == second or named or text_of_format or re.match(r"(const |\[)", first) or first.count("<") != first.count(">"):
                continue
            between = text[found[b].end:found[c].begin]
            yield Place("arguments", found[a].line, found[a].begin, found[d].end,
                        second + between + first)


def string_places(text, found):
    for i, token in enumerate(found):
        if token.kind == "string" and len(token.text) > 2 and is_value(found, i):
            yield Place("string", token.line, token.begin, token.end, '"~' + token.text[1:])


FINDERS = {
    "operator": operator_places,
    "constant": constant_places,
    "condition": condition_places,
    "statement": statement_places,
    "arguments": argument_places,
    "string": string_places,
}


class Mutant:
    def __init__(self, path, place, text):
        self.path, self.place = path, place
        self.mutated = text[:place.begin] + place.text + text[place.end:]
        lines = text[text.rfind("\n", 0, place.begin) + 1:text.find("\n", place.end)]
        shown = self.mutated[text.rfind("\n", 0, place.begin) + 1:
                             self.mutated.find("\n", place.begin + len(place.text))]
        self.before, self.after = squeeze(lines), squeeze(shown)

    def record(self, number):
        return {"draw": number, "file": self.path, "line": self.place.line, "kind": self.place.kind,
                "before": self.before, "after": self.after}


def squeeze(text):
    return " ".join(text.split())


def read_production():
    files = {}
    for folder in FOLDERS:
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files[path.relative_to(TOP).as_posix()] = path.read_text()
    return files


def draws(seed, kinds_drawn):
    """The endless series of mutants of a seed, none twice."""
    files = read_production()
    lines = {}
    for path, text in files.items():
        found = tokens_of(text)
        for kind in kinds_drawn:
            for place in FINDERS[kind](text, found):
                lines.setdefault((path, place.line), {}).setdefault(kind, []).append(place)
    keys = sorted(lines)
    chance = random.Random(int(hashlib.sha256(seed.encode()).hexdigest(), 16))
    seen = set()
    while True:
        path, line = chance.choice(keys)
        kinds = lines[path, line]
        kind = chance.choice([k for k in kinds_drawn if k in kinds])
        place = chance.choice(kinds[kind])
        mutant = Mutant(path, place, files[path])
        if (path, mutant.mutated) not in seen:
            seen.add((path, mutant.mutated))
            yield mutant


def run(command, folder, limit=None, environment=None):
    """Exit status and output; status None when the seconds are over: the whole group is killed."""
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output
        return process.returncode, output


class Tree:
    """A copy of the commit in a folder of its own, built."""

    def __init__(self, folder, commit):
        self.folder = folder
        # Two copies at a time must not meet in one folder for temporary files. Its path is short, as messages
        # that quote a long one leave out its middle.
        scratch = tempfile.mkdtemp()
        self.environment = dict(os.environ, TMPDIR=scratch, TEST_TMPDIR=f"{scratch}/")
        if (folder / ".commit").exists() and (folder / ".commit").read_text() == commit:
            return
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", TOP, "archive", commit], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        (folder / ".commit").write_text(commit)

    def build(self, targets, jobs=1):
        return run(["nice", "cmake", "--build", "--preset", "check", "--parallel", str(jobs),
                    "--target", *targets], self.folder)

    def prepare(self, jobs):
        status, output = run(["cmake", "--preset", "check"], self.folder)
        if status == 0:
            status, output = self.build(["podsim", *(f"{f}_tests" for f in FOLDERS)], jobs)
        if status != 0:
            sys.exit(f"mutate: the unmutated tree does not build:\n{output[-3000:]}")

    def write(self, path, text):
        (self.folder / path).write_text(text)

    def test(self, program, limit=None):
        """None when all pass, otherwise the name of what failed."""
        limits = f"ulimit -t {limit['cpu_s']} -v {limit['kib']};" if limit else ""
        status, output = run(
            ["bash", "-c", f"{limits} exec nice build/check/tests/{program} --gtest_fail_fast "
             f"--gtest_brief=1 '--gtest_filter=-{LEFT_OUT}'"],
            self.folder, limit and 20 * limit["cpu_s"], self.environment)
        if status in (None, -signal.SIGXCPU, -signal.SIGKILL):
            return "ran beyond its time"
        if status == 0:
            return None
        failed = re.search(r"\[  FAILED  \] (\S+?),? ", output + " ")
        return failed.group(1) if failed else f"ended with status {status}"


# Tests that compare what is printed with a page of the documentation.
LEFT_OUT = "*Readme*"


def programs_for(path):
    """The test programs that can notice a change of a file: its own folder's first."""
    return [f"{folder}_tests" for folder in FOLDERS[FOLDERS.index(path.split("/")[0]):]]


def try_mutant(tree, mutant, original, limits):
    """caught, survived or not compiling, and by what."""
    tree.write(mutant.path, mutant.mutated)
    try:
        for program in programs_for(mutant.path):
            status, output = tree.build([program])
            if status != 0:
                line = next((l for l in output.splitlines() if "error" in l), output[-200:])
                return "not compiling", line[-200:]
            failed = tree.test(program, limits[program])
            if failed:
                return "caught", f"{program}: {failed}"
        return "survived", ""
    finally:
        tree.write(mutant.path, original)


def equivalents():
    """{(file, before, after): reason} of the list beside this script."""
    listed, key = {}, None
    if EQUIVALENTS.exists():
        for line in EQUIVALENTS.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("reason: "):
                listed[tuple(key)] = line[len("reason: "):]
            elif line.startswith("file: "):
                key = [line[len("file: "):]]
            else:
                key.append(line.split(": ", 1)[1])
    return listed


def read_results(path):
    if not path.exists():
        return {}
    return {record["draw"]: record for record in map(json.loads, path.read_text().splitlines())}


def limits_of(tree, path):
    """What each test program may take: twice its processor time and memory unmutated, and some more.

    Processor time, so that another load on the machine makes no mutant seem caught.
    """
    if path.exists():
        return json.loads(path.read_text())
    limits = {}
    for folder in FOLDERS:
        program = f"{folder}_tests"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        failed = tree.test(program)
        if failed:
            sys.exit(f"mutate: {program} fails without a mutation: {failed}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        limits[program] = {"cpu_s": 20 + int(2 * (after.ru_utime - before.ru_utime)),
                           "kib": 2 * after.ru_maxrss + 2 * 1024 * 1024}
    path.write_text(json.dumps(limits))
    return limits


def judge(record, listed):
    key = (record["file"], record["before"], record["after"])
    if record["result"] == "survived" and key in listed:
        return "equivalent"
    return record["result"]


def summary(results, count):
    """The first `count` mutants that compile, in the order of the draws."""
    listed = equivalents()
    counts, shown = {}, 0
    for draw in sorted(results):
        verdict = judge(results[draw], listed)
        if verdict != "not compiling":
            shown += 1
        if shown > count:
            break
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict in ("survived", "equivalent"):
            r = results[draw]
            print(f"{verdict} #{draw} {r['file']}:{r['line']} {r['kind']}\n"
                  f"  - {r['before']}\n  + {r['after']}")
    judged = counts.get("caught", 0) + counts.get("survived", 0)
    print(", ".join(f"{counts.get(k, 0)} {k}" for k in ("caught", "survived", "equivalent",
                                                        "not compiling")))
    if judged:
        print(f"{100 * counts.get('caught', 0) / judged:.1f} % of the others caught")
    return counts


def same_mutant(record, mutant):
    return (record["file"], record["before"], record["after"]) == (mutant.path, mutant.before, mutant.after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="for copies of the tree and results")
    parser.add_argument("--count", type=int, default=100, help="mutants that compile (100)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="copies that work at a time")
    parser.add_argument("--seed", help="seed of the draws (the hash of HEAD)")
    parser.add_argument("--strings", action="store_true", help="mutate texts too")
    parser.add_argument("--list", action="store_true", help="print the draws, build nothing")
    parser.add_argument("--show", type=int, metavar="N", help="print the N-th draw as a diff")
    parser.add_argument("--summary", action="store_true", help="sum up the results there are")
    arguments = parser.parse_args()
    head = subprocess.run(["git", "-C", TOP, "rev-parse", "HEAD"], check=True, capture_output=True,
                          text=True).stdout.strip()
    series = draws(arguments.seed or head, KINDS + (["string"] if arguments.strings else []))

    if arguments.list:
        for number in range(arguments.count):
            mutant = next(series)
            print(f"#{number} {mutant.path}:{mutant.place.line} {mutant.place.kind}\n"
                  f"  - {mutant.before}\n  + {mutant.after}")
        return 0
    if arguments.show is not None:
        mutant = [next(series) for _ in range(arguments.show + 1)][-1]
        original = (TOP / mutant.path).read_text()
        sys.stdout.writelines(difflib.unified_diff(
            original.splitlines(True), mutant.mutated.splitlines(True),
            f"a/{mutant.path}", f"b/{mutant.path}"))
        return 0

    arguments.folder = arguments.folder.resolve()
    if TOP == arguments.folder or TOP in arguments.folder.parents:
        sys.exit("mutate: give a folder outside the checkout")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["git", "-C", TOP, "status", "--porcelain", "--", *FOLDERS], check=True,
                      capture_output=True, text=True).stdout:
        sys.exit("mutate: the checkout has uncommitted changes; the copies would lack them")
    results_path = arguments.folder / "results.jsonl"
    results = read_results(results_path)
    if arguments.summary:
        return 1 if summary(results, arguments.count).get("survived") else 0

    trees = queue.Queue()
    for number in range(1, arguments.jobs + 1):
        tree = Tree(arguments.folder / f"tree-{number}", head)
        print(f"building {tree.folder}", file=sys.stderr, flush=True)
        tree.prepare(arguments.jobs)
        trees.put(tree)
    limits = limits_of(trees.queue[0], arguments.folder / f"limits-{head[:12]}.json")

    write = threading.Lock()
    originals = read_production()

    def work(number, mutant):
        tree = trees.get()
        begin = time.monotonic()
        try:
            result, by = try_mutant(tree, mutant, originals[mutant.path], limits)
        finally:
            trees.put(tree)
        record = mutant.record(number) | {"result": result, "by": by,
                                          "seconds": round(time.monotonic() - begin, 1)}
        with write, results_path.open("a") as out:
            out.write(json.dumps(record) + "\n")
            results[number] = record
            print(f"#{number} {result:13} {mutant.path}:{mutant.place.line} {mutant.place.kind}: {by}",
                  flush=True)

    compiled = 0
    pending = {}
    numbered = enumerate(series)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        while compiled + len(pending) < arguments.count or pending:
            while compiled + len(pending) < arguments.count:
                number, mutant = next(numbered)
                known = results.get(number)
                if known:
                    if not same_mutant(known, mutant):
                        sys.exit(f"mutate: {results_path} has draws of another commit or seed; "
                                 "give another folder, or the seed it was made with")
                    compiled += known["result"] != "not compiling"
                else:
                    pending[pool.submit(work, number, mutant)] = number
            done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                future.result()
                compiled += results[pending.pop(future)]["result"] != "not compiling"
    return 1 if summary(results, arguments.count).get("survived") else 0


if __name__ == "__main__":
    sys.exit(main())
