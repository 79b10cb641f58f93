#!/usr/bin/env bash
# Builds the checkout's last commit twice, in folders whose names differ in length, without the compiler's cache, and compares
# what is built: reproducible.sh [TARGET...]   (podsim podsim_mpi)
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
targets=("${@:-podsim}")
[[ $# -gt 0 ]] || targets+=(podsim_mpi)
commit=$(git -C "$top" rev-parse HEAD) # that of now: others may follow while this runs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in first/podsim the-second/checkout/of/podsim; do
    git clone --quiet --no-hardlinks "$top" "$work/$folder"
    (
        cd "$work/$folder"
        git checkout --quiet --detach "$commit"
        export CCACHE_DISABLE=1
        cmake --preset release >cmake.log
        cmake --build --preset release --parallel "${JOBS:-$(nproc)}" --target "${targets[@]}" >build.log
        cd build/release
        find . \( -name podsim -type f -o -name '*.a' -o -name '*.so' \) -not -path './npm/*' -print0 | sort -z |
            xargs -0 sha256sum
    ) >"$work/sums.${folder%%/*}"
done
cat "$work/sums.first"
[[ -s "$work/sums.first" ]]
diff "$work/sums.first" "$work/sums.the-second"
echo "the same bytes in both builds"
