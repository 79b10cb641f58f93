#include "scenarios/src/import/maxtext_experts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

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
/// Three quarters of half of tpu7x's 64 MiB.
constexpr std::int64_t kVmem = std::int64_t{24} << 20;

/// True if two buffers of each operand and three of the result fit.
bool fits(std::int64_t operands, std::int64_t result) {
    return (2 * operands + 3 * result) * kElement <= kVmem;
}

/// Halves one side after the other, each until the tile fits or the side is least.
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

/// Returns tokamax's tile, of gate and up for the first three matmuls, of down for the others. If
/// experts are split, a device's rows are a buffer for those of all its peers (MaxText, moe.py; the
/// table has DeepSeek-V3 with 16 of them: 16 x 32768 rows, 16 groups). If matrices are split, it
/// has its peers' tokens.
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

/// True if tokamax multiplies; its tiles are not those of the keys.
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

/// Returns the tiles; empty if all are podsim's own.
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
    // With a capacity factor above 0 MaxText drops tokens, otherwise none. Models of gpt-oss and of
    // llama4 take fewer values (configs/types.py).
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
