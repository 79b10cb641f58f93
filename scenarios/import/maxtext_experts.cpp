#include "scenarios/import/maxtext_experts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

#include "scenarios/import/tokamax_tiles.h"

namespace podsim::scenarios {
namespace {

struct GroupedMatmul {
    std::string_view ours;
    std::string_view theirs;
    bool embed_first;  ///< k is of embed_dim, n of mlp_dim
    TokamaxPass pass;
};
constexpr std::array kGroupedMatmuls = std::to_array<GroupedMatmul>({
    {"gate_up_forward", "wi_tile_fwd", true, TokamaxPass::forward},
    {"gate_up_dlhs", "wi_tile_dlhs", false, TokamaxPass::dlhs},
    {"gate_up_drhs", "wi_tile_drhs", true, TokamaxPass::drhs},
    {"down_forward", "wo_tile_fwd", false, TokamaxPass::forward},
    {"down_dlhs", "wo_tile_dlhs", true, TokamaxPass::dlhs},
    {"down_drhs", "wo_tile_drhs", false, TokamaxPass::drhs},
});
using Tile = TokamaxTile;
constexpr Tile kUnlessSet{512, 1024, 1024};

void pass_over_tile(MaxTextSettings& settings, const GroupedMatmul& matmul) {
    for (const std::string_view side : {"batch_seq", "embed_dim", "mlp_dim"}) {
        if (const std::string key = fmt::format("{}_{}", matmul.theirs, side); settings.has(key)) {
            settings.pass_over(key, "use_tokamax_gmm has tiles of its own");
        }
    }
}

Tile tile_of(MaxTextSettings& settings, const GroupedMatmul& matmul, bool by_names) {
    const auto side = [&](std::string_view name, std::int64_t unless_set) {
        return settings.whole(fmt::format("{}_{}", matmul.theirs, name), 1, unless_set);
    };
    const std::int64_t rows = side("batch_seq", kUnlessSet[0]);
    const std::int64_t embed = side("embed_dim", kUnlessSet[1]);
    const std::int64_t mlp = side("mlp_dim", kUnlessSet[2]);
    return matmul.embed_first || !by_names ? Tile{rows, embed, mlp} : Tile{rows, mlp, embed};
}

/// Of gate and up for the first three, of down for the others. Where experts are split, a device's rows are a buffer for those of all its
/// peers (MaxText, moe.py; the table has DeepSeek-V3 with 16 of them: 16 x 32768 rows, 16 groups); where matrices are, it has its peers' tokens.
Tile tile_of_tokamax(const MaxTextMachine& machine, const MaxTextModel& model,
                     const MaxTextBatch& batch, const MaxTextMesh& mesh,
                     const GroupedMatmul& matmul) {
    const bool gate_up = matmul.theirs.starts_with("wi");
    const std::int64_t devices = machine.devices() * machine.slices;
    const std::int64_t rows = batch.micro * batch.sequence * model.experts_per_token *
                              mesh.experts * mesh.tensor / devices;
    const std::int64_t width = std::max<std::int64_t>(model.expert_d_ff / mesh.tensor, 1);
    return tokamax_tile({.rows = std::max<std::int64_t>(rows, 1),
                         .k = gate_up ? model.d_model : width,
                         .n = gate_up ? width : model.d_model,
                         .groups = model.experts / mesh.experts},
                        matmul.pass, machine.chip);
}

/// Whether tokamax multiplies, whose tiles are not those of the keys.
bool tokamax_chooses(MaxTextSettings& settings, const MaxTextMesh& mesh,
                     std::vector<std::string>& notes) {
    const bool second = settings.has("use_gmm_v2") && settings.flag("use_gmm_v2", false);
    if (!settings.has("use_tokamax_gmm") || !settings.flag("use_tokamax_gmm", false) || second) {
        return false;
    }
    if (mesh.stages > 1) {
        notes.emplace_back(
            "use_tokamax_gmm in a pipeline: tiles are those of the keys, not tokamax's");
        return false;
    }
    if (settings.text("quantization", "").empty()) {
        return true;
    }
    notes.emplace_back(
        "use_tokamax_gmm beside a quantization: tiles are those of the keys, which MaxText has not "
        "read there since April 2026");
    return false;
}

/// Nothing where all are podsim's own.
std::string tiles_of(MaxTextSettings& settings, const MaxTextMachine& machine,
                     const MaxTextModel& model, const MaxTextBatch& batch, const MaxTextMesh& mesh,
                     std::vector<std::string>& notes) {
    const bool tokamax = tokamax_chooses(settings, mesh, notes);
    const bool by_names = settings.has("weight_sparsity_m") || tokamax;
    std::vector<std::string> tiles;
    bool order_matters = false;
    for (const GroupedMatmul& matmul : kGroupedMatmuls) {
        if (tokamax) {
            pass_over_tile(settings, matmul);
        }
        const Tile tile = tokamax ? tile_of_tokamax(machine, model, batch, mesh, matmul)
                                  : tile_of(settings, matmul, by_names);
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

std::string sparse_experts(MaxTextSettings& settings, const MaxTextMachine& machine,
                           const MaxTextModel& model, const MaxTextBatch& batch,
                           const MaxTextMesh& mesh, std::vector<std::string>& notes) {
    std::vector<std::string> parts;
    if (!settings.has("use_custom_sort_vjp")) {
        notes.emplace_back(
            "the file is older than use_custom_sort_vjp, when gradients of sorted rows were "
            "added into zeros");
    }
    if (!settings.flag("use_custom_sort_vjp", false)) {
        parts.emplace_back("sort_vjp: scatter-add");
    }
    if (std::string tiles = tiles_of(settings, machine, model, batch, mesh, notes);
        !tiles.empty()) {
        parts.push_back(std::move(tiles));
    }
    return parts.empty() ? "" : fmt::format("moe: {{{}}}", fmt::join(parts, ", "));
}

}  // namespace

bool maxtext_sparse_matmul(MaxTextSettings& settings) {
    const bool older = settings.has("megablox") && !settings.has("sparse_matmul");
    return settings.flag(older ? "megablox" : "sparse_matmul", true);
}

std::vector<std::string> maxtext_experts(MaxTextSettings& settings, const MaxTextMachine& machine,
                                         const MaxTextModel& model, const MaxTextBatch& batch,
                                         const MaxTextMesh& mesh, std::vector<std::string>& notes) {
    const double capacity = settings.number("capacity_factor", -1);
    const bool sparse = maxtext_sparse_matmul(settings);
    static_cast<void>(settings.flag("megablox", true));
    if (sparse && settings.has("capacity_factor")) {
        settings.pass_over("capacity_factor", "read with sparse_matmul=false alone");
    }
    // MaxText drops tokens above 0, and none at 0 or below; two families take fewer values (configs/types.py).
    const std::string name = settings.text("model_name", "default");
    if (name.starts_with("gpt-oss") && !sparse && capacity != -1) {
        settings.refuse("capacity_factor",
                        "MaxText takes -1 alone for gpt-oss without sparse_matmul",
                        "write -1, or sparse_matmul=true");
    }
    if (name.starts_with("llama4") && capacity >= 0) {
        settings.refuse("capacity_factor", "MaxText takes values below 0 alone for llama4",
                        "write -1");
    }
    if (capacity > 0 && !sparse) {
        return {fmt::format("capacity_factor: {}", capacity), "moe: {matmul: dense}"};
    }
    if (!sparse) {
        notes.push_back(fmt::format(
            "{}=false without a capacity_factor above 0: all {} experts compute all tokens, {:.3g} "
            "times "
            "the work of the {} of a token",
            settings.has("sparse_matmul") ? "sparse_matmul" : "megablox", model.experts,
            static_cast<double>(model.experts) / static_cast<double>(model.experts_per_token),
            model.experts_per_token));
        return {"moe: {matmul: dense}"};
    }
    const std::string path = sparse_experts(settings, machine, model, batch, mesh, notes);
    return path.empty() ? std::vector<std::string>{} : std::vector{path};
}

}  // namespace podsim::scenarios
