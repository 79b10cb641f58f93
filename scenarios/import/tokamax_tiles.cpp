#include "scenarios/import/tokamax_tiles.h"

#include <algorithm>

namespace podsim::scenarios {
namespace {

struct Tuned {
    TokamaxMatmul matmul;
    TokamaxTile forward;
    TokamaxTile dlhs;
    TokamaxTile drhs;
};
constexpr std::array kTuned = std::to_array<Tuned>({
    {{65536, 7168, 2048, 256}, {256, 3584, 1024}, {512, 2048, 1024}, {256, 1024, 2048}},
    {{131072, 512, 7168, 256}, {256, 512, 7168}, {256, 7168, 512}, {256, 256, 7168}},
    {{131072, 1536, 4096, 128}, {256, 1536, 4096}, {512, 1024, 1536}, {512, 512, 4096}},
    {{131072, 2048, 7168, 256}, {128, 2048, 3584}, {512, 7168, 512}, {256, 2048, 1024}},
    {{131072, 4096, 1536, 128}, {256, 4096, 1536}, {512, 1536, 1024}, {512, 1024, 1536}},
    {{131072, 7168, 512, 256}, {128, 7168, 512}, {256, 512, 7168}, {256, 7168, 512}},
    {{131072, 7168, 2048, 256}, {512, 3584, 1024}, {512, 2048, 1792}, {256, 1792, 1024}},
    {{262144, 256, 7168, 256}, {512, 1024, 2048}, {512, 7168, 128}, {1024, 256, 1024}},
    {{262144, 512, 7168, 256}, {256, 512, 7168}, {256, 7168, 512}, {512, 512, 7168}},
    {{262144, 1024, 7168, 256}, {256, 1024, 7168}, {256, 7168, 1024}, {512, 1024, 3584}},
    {{262144, 1536, 4096, 128}, {256, 1536, 4096}, {1024, 1024, 1536}, {512, 512, 4096}},
    {{262144, 2048, 7168, 256}, {128, 2048, 3584}, {256, 7168, 512}, {256, 2048, 1024}},
    {{262144, 4096, 1536, 128}, {256, 4096, 1536}, {512, 1536, 1024}, {512, 4096, 512}},
    {{262144, 7168, 256, 256}, {1024, 128, 256}, {256, 512, 1792}, {1024, 128, 1024}},
    {{262144, 7168, 512, 256}, {512, 7168, 512}, {256, 512, 7168}, {256, 7168, 512}},
    {{262144, 7168, 1024, 256}, {512, 7168, 1024}, {512, 1024, 7168}, {256, 3584, 1024}},
    {{262144, 7168, 2048, 256}, {256, 7168, 512}, {256, 2048, 1792}, {512, 1024, 2048}},
    {{327680, 2880, 2880, 128}, {512, 2944, 1536}, {512, 2944, 1536}, {512, 2944, 768}},
    {{393216, 768, 2048, 128}, {1024, 768, 2048}, {512, 2048, 768}, {512, 768, 2048}},
    {{393216, 2048, 768, 128}, {512, 2048, 768}, {1024, 768, 2048}, {512, 2048, 768}},
    {{524288, 1536, 4096, 128}, {512, 1536, 1536}, {1024, 1024, 1536}, {512, 512, 4096}},
    {{524288, 2048, 7168, 16}, {256, 256, 7168}, {512, 2048, 1792}, {256, 512, 3584}},
    {{524288, 4096, 1536, 128}, {256, 4096, 1536}, {1024, 1536, 1024}, {512, 4096, 512}},
    {{524288, 7168, 2048, 16}, {1024, 1024, 1024}, {512, 2048, 1792}, {256, 512, 3584}},
});

constexpr std::int64_t kLeast = 128;
constexpr std::int64_t kMostRows = 1024;
constexpr std::int64_t kElement = 2;
constexpr std::int64_t kVmem = std::int64_t{24}
                               << 20;  ///< three quarters of half of tpu7x's 64 MiB

/// Two buffers of each operand, three of the result.
bool fits(std::int64_t operands, std::int64_t result) {
    return (2 * operands + 3 * result) * kElement <= kVmem;
}

/// Halves one side after the other, each as long as it helps.
template <class Fits>
void shrink(TokamaxTile& tile, std::array<std::size_t, 3> order, const Fits& fits_now) {
    for (const std::size_t side : order) {
        while (!fits_now() && tile[side] > kLeast) {
            tile[side] = std::max(tile[side] / 2 / kLeast * kLeast, kLeast);
        }
    }
}

TokamaxTile by_vmem(std::int64_t rows, std::int64_t k, std::int64_t n, bool sums) {
    TokamaxTile tile{std::min(rows, kMostRows), k, n};
    const std::int64_t& m = tile[0];
    const std::int64_t& inner = tile[1];
    const std::int64_t& columns = tile[2];
    if (sums) {
        shrink(tile, {1, 2, 0}, [&] { return fits(m * (inner + columns), inner * columns); });
    } else {
        shrink(tile, {0, 2, 1}, [&] { return fits(m * inner + inner * columns, m * columns); });
    }
    return tile;
}

}  // namespace

TokamaxTile tokamax_tile(const TokamaxMatmul& matmul, TokamaxPass pass, std::string_view chip) {
    if (chip != "tpu7x") {
        return {kLeast, kLeast, kLeast};
    }
    const auto same = [&](const Tuned& tuned) {
        return tuned.matmul.rows == matmul.rows && tuned.matmul.k == matmul.k &&
               tuned.matmul.n == matmul.n && tuned.matmul.groups == matmul.groups;
    };
    if (const auto* const tuned = std::ranges::find_if(kTuned, same); tuned != kTuned.end()) {
        return pass == TokamaxPass::forward ? tuned->forward
               : pass == TokamaxPass::dlhs  ? tuned->dlhs
                                            : tuned->drhs;
    }
    return pass == TokamaxPass::dlhs
               ? by_vmem(matmul.rows, matmul.n, matmul.k, false)
               : by_vmem(matmul.rows, matmul.k, matmul.n, pass == TokamaxPass::drhs);
}

}  // namespace podsim::scenarios
