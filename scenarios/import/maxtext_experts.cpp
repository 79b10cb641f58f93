#include "scenarios/import/maxtext_experts.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

namespace podsim::scenarios {
namespace {

struct GroupedMatmul {
    std::string_view ours;
    std::string_view theirs;
    bool embed_first;  ///< k is of embed_dim, n of mlp_dim
};
constexpr std::array kGroupedMatmuls = std::to_array<GroupedMatmul>({
    {"gate_up_forward", "wi_tile_fwd", true},
    {"gate_up_dlhs", "wi_tile_dlhs", false},
    {"gate_up_drhs", "wi_tile_drhs", true},
    {"down_forward", "wo_tile_fwd", false},
    {"down_dlhs", "wo_tile_dlhs", true},
    {"down_drhs", "wo_tile_drhs", false},
});
using Tile = std::array<std::int64_t, 3>;
constexpr Tile kUnlessSet{512, 1024, 1024};

Tile tile_of(MaxTextSettings& settings, const GroupedMatmul& matmul, bool by_names) {
    const auto side = [&](std::string_view name, std::int64_t unless_set) {
        return settings.whole(fmt::format("{}_{}", matmul.theirs, name), 1, unless_set);
    };
    const std::int64_t rows = side("batch_seq", kUnlessSet[0]);
    const std::int64_t embed = side("embed_dim", kUnlessSet[1]);
    const std::int64_t mlp = side("mlp_dim", kUnlessSet[2]);
    return matmul.embed_first || !by_names ? Tile{rows, embed, mlp} : Tile{rows, mlp, embed};
}

/// Nothing where all are podsim's own.
std::string tiles_of(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const bool by_names = settings.has("weight_sparsity_m");
    std::vector<std::string> tiles;
    bool order_matters = false;
    for (const GroupedMatmul& matmul : kGroupedMatmuls) {
        const Tile tile = tile_of(settings, matmul, by_names);
        if (tile != kUnlessSet) {
            tiles.push_back(fmt::format("{}: [{}]", matmul.ours, fmt::join(tile, ", ")));
        }
        order_matters = order_matters || (!matmul.embed_first && tile[1] != tile[2]);
    }
    if (order_matters && !by_names) {
        notes.emplace_back(
            "the file is older than weight_sparsity_m, when tiles of experts were taken in the "
            "order batch_seq, embed_dim, mlp_dim whatever the matmul");
    }
    return tiles.empty() ? "" : fmt::format("tiles: {{{}}}", fmt::join(tiles, ", "));
}

std::string sparse_experts(MaxTextSettings& settings, std::vector<std::string>& notes) {
    std::vector<std::string> parts;
    if (!settings.has("use_custom_sort_vjp")) {
        notes.emplace_back(
            "the file is older than use_custom_sort_vjp, when gradients of sorted rows were "
            "added into zeros");
    }
    if (!settings.flag("use_custom_sort_vjp", false)) {
        parts.emplace_back("sort_vjp: scatter-add");
    }
    if (std::string tiles = tiles_of(settings, notes); !tiles.empty()) {
        parts.push_back(std::move(tiles));
    }
    return parts.empty() ? "" : fmt::format("moe: {{{}}}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> maxtext_experts(MaxTextSettings& settings, const MaxTextModel& model,
                                         std::vector<std::string>& notes) {
    const double capacity = settings.number("capacity_factor", -1);
    const bool sparse = settings.flag("sparse_matmul", true);
    static_cast<void>(settings.flag("megablox", true));
    if (capacity > 0 && !sparse) {
        return {fmt::format("capacity_factor: {}", capacity), "moe: {matmul: dense}"};
    }
    if (!sparse) {
        settings.cannot("sparse_matmul",
                        fmt::format("without a capacity_factor all {} experts compute all tokens, "
                                    "{:.3g} times the work of the {} of a token that are counted",
                                    model.experts,
                                    static_cast<double>(model.experts) /
                                        static_cast<double>(model.experts_per_token),
                                    model.experts_per_token));
        return {};
    }
    const std::string path = sparse_experts(settings, notes);
    return path.empty() ? std::vector<std::string>{} : std::vector{path};
}

}  // namespace podsim::scenarios
