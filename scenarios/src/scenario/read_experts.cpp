#include "scenarios/src/scenario/read_experts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/training_parts.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/random.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

enum class Distribution { lognormal };
constexpr std::pair<std::string_view, Distribution> kDistributions[] = {
    {"lognormal", Distribution::lognormal}};
constexpr double kMostSpread = 10;

/// Returns the shares in proportion, scaled to a mean of 1. They are divided by the largest first:
/// their sum may exceed a double.
std::vector<double> as_loads(std::vector<double> shares) {
    const double largest = std::ranges::max(shares);
    double sum = 0;
    for (double& share : shares) {
        share /= largest;
        sum += share;
    }
    for (double& share : shares) {
        share *= static_cast<double>(shares.size()) / sum;
    }
    return shares;
}

double parse_spread(const std::string& text) {
    const double spread = parse_percent(text);
    if (spread > kMostSpread) {
        throw sim::InputError(
            fmt::format("a spread of '{}' is above 1000 %", text),
            "write the deviation of the logarithms of experts' tokens, as in 50 %");
    }
    return spread;
}

using workloads::ExpertMatmul;
constexpr std::pair<std::string_view, ExpertMatmul> kMatmuls[] = {{"sparse", ExpertMatmul::sparse},
                                                                  {"dense", ExpertMatmul::dense},
                                                                  {"ideal", ExpertMatmul::ideal}};
enum class SortGradient { custom, scatter_add };
constexpr std::pair<std::string_view, SortGradient> kSortGradients[] = {
    {"custom", SortGradient::custom}, {"scatter-add", SortGradient::scatter_add}};
constexpr std::int64_t kMostTile = 1 << 20;

/// Reads `tile`, and over it those of `tiles`, by product and gradient.
void read_tiles(const Reader& moe, workloads::ExpertPath& path) {
    const workloads::ExpertTile all = read_expert_tile(moe["tile"]);
    const Reader tiles = moe["tiles"];
    using Tiles = workloads::ExpertTiles;
    const auto of = [&](std::string_view forward, std::string_view dlhs, std::string_view drhs) {
        return Tiles{read_expert_tile(tiles[forward], all), read_expert_tile(tiles[dlhs], all),
                     read_expert_tile(tiles[drhs], all)};
    };
    path.gate_up = of("gate_up_forward", "gate_up_dlhs", "gate_up_drhs");
    path.down = of("down_forward", "down_dlhs", "down_drhs");
}

/// Reads the path of experts in a model that has them; `matmul` as written, or by whether there is
/// a capacity.
void read_path(const Reader& training, std::optional<ExpertMatmul> matmul,
               workloads::ExpertPath& path) {
    const Reader moe = training["moe"];
    const bool capacity = training["capacity_factor"].present();
    path.matmul = matmul.value_or(capacity ? ExpertMatmul::dense : ExpertMatmul::sparse);
    if (path.dense() && !capacity) {
        path.matmul = ExpertMatmul::dense_of_all;
    }
    if (path.sparse() && capacity) {
        training["capacity_factor"].refuse(
            "capacity_factor of sparse experts, which take what comes",
            "leave it out, or write moe: {matmul: dense}");
    }
    for (const std::string_view key : {"tile", "tiles", "sort_vjp"}) {
        if (!path.sparse() && moe[key].present()) {
            moe[key].refuse(fmt::format("{} of experts that are not sparse", key),
                            "leave it out, or write matmul: sparse");
        }
    }
}

void read_moe(const Reader& training, const workloads::ModelSpec& model,
              workloads::TrainingPlan& plan) {
    const Reader moe = training["moe"];
    const auto written = moe["matmul"].choose<ExpertMatmul>(kMatmuls, ExpertMatmul::sparse);
    workloads::ExpertPath tiled;
    read_tiles(moe, tiled);
    const auto gradient =
        moe["sort_vjp"].choose<SortGradient>(kSortGradients, SortGradient::custom);
    moe.check({"model", "training.moe.matmul"}, [&] {
        if (model.experts.count == 0) {
            if (moe.present()) {
                throw moe.error(fmt::format("moe of {}, which has no experts", model.name),
                                "leave it out");
            }
            return;
        }
        read_path(training, moe["matmul"].present() ? std::optional(written) : std::nullopt,
                  plan.moe);
        plan.moe.gate_up = tiled.gate_up;
        plan.moe.down = tiled.down;
        plan.moe.custom_sort_vjp = gradient == SortGradient::custom;
    });
}

}  // namespace

workloads::ExpertTile read_expert_tile(const Reader& tile,
                                       const workloads::ExpertTile& unless_set) {
    workloads::ExpertTile read = unless_set;
    if (!tile.present()) {
        return read;
    }
    const std::vector<Reader> sides = tile.items();
    if (sides.size() != 3) {
        tile.refuse(fmt::format("the list has {} entries", sides.size()),
                    "write rows, inner dimension and columns, as in [512, 1024, 1024]");
        return read;
    }
    double* const into[] = {&read.m, &read.k, &read.n};
    for (std::size_t i = 0; i < sides.size(); ++i) {
        *into[i] = static_cast<double>(sides[i].whole(1, kMostTile, 1));
    }
    return read;
}

std::vector<double> drawn_shares(double spread, std::uint64_t seed, std::int64_t experts,
                                 int ranks) {
    std::vector<double> shares(static_cast<std::size_t>(ranks), 0);
    for (std::int64_t expert = 0; expert < experts; ++expert) {
        std::uint64_t state = seed;
        state = sim::next_random(state) + static_cast<std::uint64_t>(expert);
        shares[static_cast<std::size_t>(expert * ranks / experts)] +=
            sim::exponential(spread * sim::near_normal(state));
    }
    return shares;
}

namespace {

constexpr std::pair<std::string_view, ExpertMatmul> kServedMatmuls[] = {
    {"sparse", ExpertMatmul::sparse}, {"ideal", ExpertMatmul::ideal}};
constexpr std::pair<std::string_view, bool> kReceives[] = {{"columns", false}, {"experts", true}};

void refuse_of_dense(const Reader& key, std::string_view name, const workloads::ModelSpec& model) {
    if (key.present()) {
        key.refuse(fmt::format("{} of {}, which has no experts", name, model.name), "leave it out");
    }
}

void read_imbalance(const Reader& imbalance, const topology::DeviceMesh& mesh,
                    const workloads::ModelSpec& model, workloads::TrainingPlan& plan) {
    const bool drawn = imbalance.is_map();
    if (!imbalance.present() || (!drawn && imbalance.node().kind != YamlNode::Kind::sequence)) {
        plan.experts.imbalance = imbalance.get<double>(parse_multiple, 1);
        return;
    }
    std::vector<double> shares;
    if (drawn && model.experts.count > 0) {
        static_cast<void>(imbalance["distribution"].require().choose<Distribution>(
            kDistributions, Distribution::lognormal));
        const double spread = imbalance["spread"].read(parse_spread);
        const auto seed = static_cast<std::uint64_t>(imbalance["seed"].whole(0, 1LL << 53, 1));
        shares = drawn_shares(spread, seed, model.experts.count, plan.ways.expert);
    } else if (drawn) {
        shares.assign(static_cast<std::size_t>(plan.ways.expert), 1);  // the plan refuses this
    } else {
        for (const Reader& share : imbalance.items()) {
            shares.push_back(share.read(parse_number));
        }
    }
    if (std::ranges::none_of(shares, [](double share) { return share > 0; })) {
        throw imbalance.error(shares.empty() ? "the list is empty" : "no rank takes any tokens",
                              "write a share for each rank of the axis expert, as in [4, 2, 1, 1]");
    }
    plan.experts.loads = as_loads(std::move(shares));
    if (mesh.across({workloads::axis::expert}).length > 1) {
        throw imbalance.error(
            "the axis expert has members in several slices, between which "
            "unequal shares cannot be exchanged",
            "write one number, or keep expert within a slice");
    }
}

/// Checks that whole experts fit on the tensor ways.
void check_whole(const Reader& split, const workloads::ModelSpec& model,
                 const workloads::TrainingPlan& plan) {
    const int ways = plan.ways.of_matrix();
    if (plan.ways.expert > 1) {
        split.refuse("members of the axis expert have whole experts already",
                     "leave it out, or the axis");
    }
    if (model.experts.count % ways != 0) {
        split.refuse(fmt::format("{} experts on {} tensor ways", model.experts.count, ways),
                     "write split: columns, or ways that divide the experts");
    }
}

}  // namespace

void read_served_experts(const Reader& inference, const topology::DeviceMesh& mesh,
                         const workloads::ModelSpec& model, workloads::TrainingPlan& plan) {
    const Reader moe = inference["moe"];
    const Reader capacity = inference["capacity_factor"];
    plan.moe.matmul = moe["matmul"].choose<ExpertMatmul>(kServedMatmuls, ExpertMatmul::sparse);
    const workloads::ExpertTile tile = read_expert_tile(moe["tile"]);
    plan.moe.gate_up = plan.moe.down = {tile, tile, tile};
    plan.moe.served = plan.moe.sparse() && !moe["tile"].present();
    plan.moe.whole = moe["split"].choose<bool>(kReceives, false);
    plan.experts.capacity_factor = capacity.get<double>(parse_multiple, 1);
    moe.check({"model", "inference.moe"}, [&] {
        if (model.experts.count == 0) {
            refuse_of_dense(moe, "moe", model);
            refuse_of_dense(capacity, "capacity_factor", model);
            plan.moe = {};
        } else if (plan.moe.sparse() && capacity.present()) {
            capacity.refuse("capacity_factor of sparse experts, which take what comes",
                            "leave it out, or write moe: {matmul: ideal}");
        } else if (!plan.moe.sparse() && moe["tile"].present()) {
            moe["tile"].refuse("tile of experts that are not sparse",
                               "leave it out, or write matmul: sparse");
        }
    });
    moe["split"].check({"mesh", "model", "inference.moe"}, [&] {
        if (plan.moe.whole) {
            check_whole(moe["split"], model, plan);
        }
    });
    const Reader imbalance = inference["expert_imbalance"];
    imbalance.check({"mesh", "model"}, [&] { read_imbalance(imbalance, mesh, model, plan); });
}

void read_experts(const Reader& training, const topology::DeviceMesh& mesh,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan) {
    plan.experts.capacity_factor = training["capacity_factor"].get<double>(parse_multiple, 1);
    read_moe(training, model, plan);
    const Reader imbalance = training["expert_imbalance"];
    imbalance.check({"mesh", "model"}, [&] { read_imbalance(imbalance, mesh, model, plan); });
}

}  // namespace podsim::scenarios
