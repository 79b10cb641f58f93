#!/usr/bin/env bash
# Runs each fuzz target for a time, or to RUNS=10^7 inputs: run.sh BUILD SECONDS [NAME...]
# Inputs that reach new code stay in BUILD/fuzz/<name>, and the next run continues from them. Inputs that end a target are
# BUILD/fuzz/<name>-crash-*, -timeout-* or -oom-*; the script fails if there is one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$1
seconds=$2
shift 2
mkdir -p "$build/fuzz"

# The dictionary has the words of scenarios and of configs.
python3 - "$top" >"$build/fuzz/words" <<'PYTHON'
import json, pathlib, re, sys
top = pathlib.Path(sys.argv[1])
words = set(re.findall(r'"([a-z_]+)": \{', (top / "docs/scenario.schema.json").read_text()))
for config in (top / "tests/workloads/configs").glob("*.json"):
    words |= set(json.loads(config.read_text()))
words |= {"v5p", "v4p", "v5e", "x%4", "x/4", "4x4x4", "GB/s", "MiB", "inf", "llama-3-8b", "fsdp", "tensor", "null"}
print("\n".join(f'"{word}"' for word in sorted(words)))
PYTHON

names=("$@")
[[ $# -gt 0 ]] || mapfile -t names < <(cd "$here" && printf '%s\n' *_fuzz.cpp | sed 's/_fuzz.cpp//')
failed=0
# Stacks of allocations take a fifth of the time. A target that runs again on the input that ended it, without this, prints them.
export ASAN_OPTIONS=malloc_context_size=1
for name in "${names[@]}"; do
    mkdir -p "$build/fuzz/$name"
    seeds=()
    [[ ! -d $here/corpus/$name ]] || seeds=("$here/corpus/$name")
    case $name in
    scenario) seeds+=("$top"/scenarios/{book,examples,published,quickstart}) ;;
    hlo) seeds+=("$top"/scenarios/examples) ;;
    hf_config) seeds+=("$top/tests/workloads/configs") ;;
    esac
    # Some targets have a dictionary of their own, and longer inputs.
    words=$build/fuzz/words
    length=8192
    if [[ -e $here/$name.dict ]]; then
        words=$here/$name.dict
        length=65536
    fi
    echo "fuzz: $name, $seconds s"
    "$build/tests/fuzz/fuzz_$name" "$build/fuzz/$name" "${seeds[@]}" -max_total_time="$seconds" -runs="${RUNS:-10000000}" -timeout=60 \
        -rss_limit_mb=3000 -max_len="$length" -dict="$words" -artifact_prefix="$build/fuzz/$name-" -print_final_stats=1 -verbosity=1 \
        >"$build/fuzz/$name.log" 2>&1 || failed=1
    grep -E "ERROR|SUMMARY|runtime error|Test unit written|number_of_executed_units" "$build/fuzz/$name.log" || true
    grep -oE "cov: [0-9]+" "$build/fuzz/$name.log" | tail -1 || true
done
exit $failed
