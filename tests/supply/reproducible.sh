#!/usr/bin/env bash
# Makes a release of the checkout's last commit twice, in folders whose names differ in length, without the compiler's cache, and
# compares the checksums: reproducible.sh
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
commit=$(git -C "$top" rev-parse HEAD) # that of now: others may follow while this runs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in first/podsim the-second/checkout/of/podsim; do
    git clone --quiet --no-hardlinks "$top" "$work/$folder"
    (
        cd "$work/$folder"
        git checkout --quiet --detach "$commit"
        CCACHE_DISABLE=1 .ci/release >release.log
        cp build/dist/SHA256SUMS "$work/sums.${folder%%/*}"
    )
done
cat "$work/sums.first"
[[ -s "$work/sums.first" ]]
diff "$work/sums.first" "$work/sums.the-second"
echo "the same bytes in both releases"
