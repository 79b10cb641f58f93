#!/usr/bin/env bash
# Writes what the program prints between the markers of docs/ and scenarios/book/README.md, and the outputs
# of the notebook, with the Python package beside the program where it was built.
# Usage: tests/house/update_docs.sh path/to/podsim
# Takes five minutes.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."

output=$(mktemp)
page=$(mktemp)
trap 'rm -f "$output" "$page"' EXIT

# fill FILE MARKER ARGUMENTS...
fill() {
    local file=$1 marker=$2
    shift 2
    "$program" "$@" >"$output"
    awk -v output="$output" -v marker="$marker" '
        $0 == "<!-- " marker ":end -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- " marker ":begin -->" {
            inside = 1
            print "```text"
            while ((getline line < output) > 0) print line
            print "```"
        }' "$file" >"$page"
    cat "$page" >"$file"
}

fill docs/inference.md pareto sweep scenarios/examples/llama3-70b-decode-v5e.yaml \
    --vary inference.context=2048,8192,32768 --vary inference.batch=1,32,64,120,240
fill docs/inference.md serve serve scenarios/examples/serve-llama3-8b-v5e.yaml
# The commands of the tutorial stand in it, each above its block.
while IFS=$'\t' read -r marker arguments; do
    eval "fill docs/tutorial.md $marker $arguments"
done < <(awk '/^    podsim / { command = substr($0, 12) }
    /^<!-- .*:begin -->$/ { sub(":begin", "", $2); print $2 "\t" command }' docs/tutorial.md)
fill docs/tables/published.md published compare scenarios/published
fill docs/tables/blind.md blind compare scenarios/blind
fill docs/tables/other-rows.md rows compare scenarios/other-rows
fill scenarios/book/README.md book compare scenarios/book
fill docs/tables/calibrate.md calibrate calibrate scenarios/published --per-chip mxu,straggler,mxu_8bit \
    --pooled gather
package=$(dirname "$program")/python
if [[ -d $package ]]; then
    PYTHONPATH=$package /usr/bin/python3 -B tests/python/notebook.py docs/podsim.ipynb
fi
