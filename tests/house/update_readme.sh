#!/usr/bin/env bash
# Writes the program's output of the quick start between the markers of README.md.
# Usage: tests/house/update_readme.sh path/to/podsim
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."

output=$(mktemp)
readme=$(mktemp)
trap 'rm -f "$output" "$readme"' EXIT
"$program" run scenarios/quickstart/llama3-70b-v5p-pod.yaml >"$output"

awk -v output="$output" '
    $0 == "<!-- quickstart:end -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- quickstart:begin -->" {
        inside = 1
        print "```text"
        while ((getline line < output) > 0) print line
        print "```"
    }' README.md >"$readme"
cat "$readme" >README.md
