// `program:` a list of stages, one map for each.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/ring_step_schedule.h"
#include "collectives/catalogue/operations.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/collective_ends.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/program.h"
#include "scenarios/src/scenario/read_attention.h"
#include "scenarios/src/scenario/read_experts.h"
#include "scenarios/src/scenario/reader.h"
#include "sim/base/nearest.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/matmul_work.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kWidestHead = 1 << 16;
constexpr std::int64_t kLongestSequence = 1LL << 30;
constexpr std::pair<std::string_view, bool> kPasses[] = {{"forward", false}, {"backward", true}};

/// Returns the keys of an attention stage, beside `do` and `name`.
const std::vector<std::string_view>& attention_stage_keys() {
    static const std::vector<std::string_view> keys{
        "heads",     "kv_heads", "head_dim",  "value_dim",          "sequence",
        "sequences", "pass",     "attention", "attention_backward", "attention_blocks"};
    return keys;
}

/// Returns the dot products, softmax and HBM bytes of one layer's attention on every chip
/// (workloads/work/attention_work.h), with the sequences and heads of one chip: forward, or
/// backward with the kernels that `attention_backward` names. Projections are not included.
StageCompute read_attention_stage(const Reader& stage, const Hardware& hardware) {
    workloads::ModelSpec model;
    model.layers = 1;
    model.heads = stage["heads"].require().whole(1, kMostHeads, 1);
    model.kv_heads = stage["kv_heads"].whole(1, kMostHeads, model.heads);
    if (stage["heads"].sound() && stage["kv_heads"].sound() && model.heads % model.kv_heads != 0) {
        stage["kv_heads"].refuse(
            fmt::format("{} heads of queries do not divide among {}", model.heads, model.kv_heads),
            "write a divisor of heads");
    }
    model.head_dim = stage["head_dim"].require().whole(1, kWidestHead, 1);
    model.d_model = model.heads * model.head_dim;
    workloads::TrainingPlan plan;
    plan.batch.sequence = stage["sequence"].require().whole(1, kLongestSequence, 1);
    plan.batch.tokens = plan.batch.sequence * stage["sequences"].whole(1, kLongestSequence, 1);
    plan.attention = read_attention_kernels(stage);
    plan.attention.cores = hardware.chip.cores.value;
    plan.attention.vmem = hardware.chip.vmem.value / hardware.chip.cores.value;
    workloads::Shard shard = workloads::make_shard(model, plan);
    shard.value_dim = static_cast<double>(stage["value_dim"].whole(1, kWidestHead, model.head_dim));
    const bool backward = stage["pass"].choose<bool>(kPasses, false);
    return {.work = backward ? workloads::attention_backward(shard, false)
                             : workloads::attention_forward(shard, false),
            .at = {}};
}

constexpr std::int64_t kMostRows = 1LL << 40;
constexpr std::int64_t kWidest = 1LL << 24;
constexpr std::int64_t kMostGroups = 1 << 16;
constexpr std::pair<std::string_view, bool> kKernels[] = {{"gmm", false}, {"tgmm", true}};

/// Returns the keys of a grouped-matmul stage, beside `do` and `name`.
const std::vector<std::string_view>& grouped_stage_keys() {
    static const std::vector<std::string_view> keys{"m", "k", "n", "groups", "kernel", "tile"};
    return keys;
}

/// Returns the work of m bf16 rows on a chip, sorted by group (workloads/work/grouped_tiles.h).
/// They are multiplied by their groups' k x n matrices (kernel: gmm); or their k columns,
/// transposed, are multiplied by n others, to a k x n sum for each group (kernel: tgmm). A chip of
/// several devices has m / devices rows on each, of all groups.
StageCompute read_grouped_stage(const Reader& stage, const Hardware& hardware) {
    const auto whole = [&stage](std::string_view key, std::int64_t most) {
        return static_cast<double>(stage[key].require().whole(1, most, 1));
    };
    workloads::Shard shard;
    shard.experts.path.matmul = workloads::ExpertMatmul::sparse;
    shard.experts.path.devices = hardware.chip.devices.value;
    shard.experts.path.cores = hardware.chip.cores.value;
    shard.experts.tokens = whole("m", kMostRows);
    shard.experts.reached = shard.experts.held = whole("groups", kMostGroups);
    const double k = whole("k", kWidest);
    const double n = whole("n", kWidest);
    const workloads::ExpertTile tile = read_expert_tile(stage["tile"]);
    const bool transposed = stage["kernel"].choose<bool>(kKernels, false);
    return {.work = transposed
                        ? workloads::grouped_weight_gradient(shard, k, n, workloads::Branches::one,
                                                             tile, {})
                        : workloads::grouped(shard, k, n, workloads::Branches::one, tile, {}),
            .at = {}};
}

constexpr int kMostPieces = 4096;
constexpr std::int64_t kLargestDimension = 1LL << 40;

/// Bytes of an element.
constexpr std::pair<std::string_view, double> kElementBytes[] = {
    {"int8", 1}, {"fp8", 1}, {"bf16", 2}, {"fp32", 4}};

/// Reads the ranks by which a permute moves, in either direction.
int parse_permute_shift(const std::string& text, int members) {
    int shift = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, shift);
    if (error != std::errc{} || stop != end || shift % members == 0) {
        throw sim::InputError(
            fmt::format("{} moves nothing in a group of {}", in_quotes(text), members),
            fmt::format("write a whole number that is not a multiple of {}", members));
    }
    return shift;
}

/// Stages that are not collectives.
constexpr std::string_view kOwnKinds[] = {"host-to-chip",   "chip-to-host", "matmul",
                                          "grouped-matmul", "attention",    "read-hbm"};

/// Refuses keys that a stage of this kind does not have.
void refuse_others_in_stage(const Reader& stage, std::string_view kind,
                            const std::vector<std::string_view>& own) {
    for (const YamlNode::Entry& entry : stage.node().entries) {
        if (entry.key != "do" && entry.key != "name" &&
            std::ranges::find(own, entry.key) == own.end()) {
            stage[entry.key].refuse(fmt::format("{} has no such key", kind),
                                    fmt::format("it has {}", fmt::join(own, ", ")));
        }
    }
}

enum class GatherForm { blocking, one_way, two_way };
constexpr std::pair<std::string_view, GatherForm> kGatherForms[] = {
    {"blocking", GatherForm::blocking},
    {"one-way", GatherForm::one_way},
    {"two-way", GatherForm::two_way}};
constexpr std::pair<std::string_view, bool> kOperands[] = {{"activations", false},
                                                           {"weights", true}};
constexpr std::pair<std::string_view, bool> kActivationSplits[] = {{"m", false}, {"k", true}};
constexpr std::pair<std::string_view, bool> kWeightSplits[] = {{"n", false}, {"k", true}};

collectives::Members read_group(const Reader& axes, const Hardware& hardware) {
    collectives::Members read;
    axes.require().derive({"hardware.slice", "hardware.slices"}, [&] {
        read = axes.read([&](const std::string& text) {
            collectives::Members members = parse_members(text, hardware.slice, hardware.slices);
            if (members.size() < 2) {
                throw sim::InputError("the group has a single member", "name axes longer than 1");
            }
            return members;
        });
    });
    return read;
}

/// Reads a chip of the slice, if the slice is sound.
topology::Point read_chip_of(const Reader& chip, const Hardware& hardware) {
    topology::Point read{};
    chip.require().derive({"hardware.slice"}, [&] {
        read = chip.read([&](const std::string& text) { return parse_chip(text, hardware); });
    });
    return read;
}

/// Bytes of the operands and the result of a matmul.
struct MatmulBytes {
    double activations = 0;
    double weights = 0;
    double result = 0;
};

StageGather read_gather(const Reader& gather, const MatmulBytes& matmul, const Hardware& hardware) {
    StageGather result;
    result.of_weights = gather["operand"].choose<bool>(kOperands, false);
    result.inner =
        gather["split"].choose<bool>(result.of_weights ? kWeightSplits : kActivationSplits, false);
    result.members = read_group(gather["axes"], hardware);
    result.bytes = sim::Bytes(result.of_weights ? matmul.weights : matmul.activations);
    const double other = result.of_weights ? matmul.activations : matmul.weights;
    result.every_part = sim::Bytes(result.inner ? matmul.result : other);
    result.later_parts = sim::Bytes(result.inner ? matmul.result : 0);
    const auto form = gather["overlap"].choose<GatherForm>(kGatherForms, GatherForm::blocking);
    result.blocking = form == GatherForm::blocking;
    if (result.blocking) {
        result.order = {.steps = {{}}, .pieces = {{1, {0}}}};
    } else if (gather["axes"].sound()) {
        gather["overlap"].check({}, [&] {
            if (result.members.across.length > 1) {
                throw gather["overlap"].error("there are no ring steps between slices",
                                              "write blocking, or axes within a slice");
            }
            try {
                result.order = collectives::step_gather(hardware.slice, result.members.group,
                                                        form == GatherForm::two_way);
            } catch (const sim::InputError& error) {
                throw gather["overlap"].located(error);
            }
        });
    }
    return result;
}

StageCompute read_matmul(const Reader& stage, const Hardware& hardware) {
    refuse_others_in_stage(stage, "matmul",
                           {"m", "k", "n", "weights", "activations", "dtype", "at", "gather"});
    const auto dimension = [&](std::string_view key) {
        return static_cast<double>(stage[key].require().whole(1, kLargestDimension, 1));
    };
    const workloads::MatmulShape shape{dimension("m"), dimension("k"), dimension("n"), 1};
    const double weights = stage["weights"].choose<double>(kElementBytes, 2.0);
    const double activations = stage["activations"].choose<double>(kElementBytes, 2.0);
    StageCompute compute;
    compute.work.dtype = read_dtype(stage["dtype"], hardware.chip);
    compute.work.flops = sim::Flops(2 * shape.m * shape.k * shape.n);
    compute.work.matmuls = {shape};
    const MatmulBytes bytes{shape.m * shape.k * activations, shape.k * shape.n * weights,
                            shape.m * shape.n * activations};
    compute.work.hbm = sim::Bytes(bytes.activations + bytes.weights + bytes.result);
    if (stage["at"].present()) {
        compute.at = read_chip_of(stage["at"], hardware);
    }
    if (stage["gather"].present()) {
        if (compute.at) {
            stage["at"].refuse("a gathered operand is for every chip of its group",
                               "leave out at, or gather");
        }
        compute.gather = read_gather(stage["gather"], bytes, hardware);
    }
    return compute;
}

StageCollective read_collective(const Reader& stage, collectives::Operation operation,
                                const Hardware& hardware) {
    using collectives::EndsTaken;
    const EndsTaken ends = collectives::info(operation).ends;
    std::vector<std::string_view> own{"bytes", "algorithm"};
    const auto chip = [&](std::string_view key) {
        own.push_back(key);
        return read_chip_of(stage[key], hardware);
    };
    StageCollective one;
    one.operation = operation;
    if (ends == EndsTaken::two_chips) {
        one.ends.root = chip("from");
        one.ends.to = chip("to");
    } else {
        own.insert(own.begin(), "axes");
        one.members = read_group(stage["axes"], hardware);
    }
    if (ends == EndsTaken::root) {
        one.ends.root = chip("root");
    }
    if (ends == EndsTaken::shift) {
        own.emplace_back("shift");
    }
    if (ends == EndsTaken::shift && stage["axes"].sound()) {
        one.ends.shift = stage["shift"].get<int>(
            [&](const std::string& text) { return parse_permute_shift(text, one.members.size()); },
            1);
    }
    refuse_others_in_stage(stage, collectives::to_string(operation), own);
    one.bytes = stage["bytes"].read(parse_bytes);
    one.algorithm = stage["algorithm"].get<collectives::Algorithm>(
        [](const std::string& text) { return collectives::parse_algorithm(printable(text)); },
        collectives::Algorithm::automatic);
    return one;
}

Stage read_stage(const Reader& stage, const Hardware& hardware) {
    const std::string kind =
        stage["do"].read([](const std::string& text) { return printable(text); });
    for (const std::string_view name : kOwnKinds) {
        stage["do"].may_be(name);
    }
    for (const collectives::Operation operation : collectives::all_operations()) {
        stage["do"].may_be(collectives::to_string(operation));
    }
    Stage result;
    result.mark = stage.mark();
    if (!stage["do"].sound()) {
        return result;
    }
    result.name = stage["name"].get<std::string>(
        [](const std::string& text) { return printable(text); }, kind);
    if (kind == "host-to-chip" || kind == "chip-to-host") {
        refuse_others_in_stage(stage, kind, {"bytes"});
        result.work = HostTransfer{kind == "host-to-chip" ? collectives::HostDirection::to_chip
                                                          : collectives::HostDirection::to_host,
                                   stage["bytes"].read(parse_bytes)};
    } else if (kind == "matmul") {
        result.work = read_matmul(stage, hardware);
    } else if (kind == "grouped-matmul") {
        refuse_others_in_stage(stage, kind, grouped_stage_keys());
        result.work = read_grouped_stage(stage, hardware);
    } else if (kind == "attention") {
        refuse_others_in_stage(stage, kind, attention_stage_keys());
        result.work = read_attention_stage(stage, hardware);
    } else if (kind == "read-hbm") {
        refuse_others_in_stage(stage, kind, {"bytes"});
        StageCompute compute;
        compute.work.hbm =
            stage["bytes"].read(parse_bytes) / static_cast<double>(std::max(hardware.chips(), 1));
        result.work = compute;
    } else {
        std::vector<std::string> names(std::begin(kOwnKinds), std::end(kOwnKinds));
        for (const collectives::Operation operation : collectives::all_operations()) {
            if (kind == collectives::to_string(operation)) {
                result.work = read_collective(stage, operation, hardware);
                return result;
            }
            names.emplace_back(collectives::to_string(operation));
        }
        throw sim::unknown_name("program.stages.do", kind, names).at(stage["do"].mark());
    }
    return result;
}

}  // namespace

Program read_program(const Reader& program, const Hardware& hardware) {
    Program result;
    result.pieces = static_cast<int>(program["pieces"].whole(1, kMostPieces, 1));
    for (const Reader& stage : program["stages"].require().items()) {
        stage.check({}, [&] { result.stages.push_back(read_stage(stage, hardware)); });
        if (result.pieces > 1 && stage["gather"].present()) {
            stage["gather"].refuse("a gathered operand does not go with pieces", "write pieces: 1");
        }
        if (result.pieces > 1 && (stage["heads"].present() || stage["groups"].present())) {
            stage["do"].refuse("a kernel does not go with pieces", "write pieces: 1");
        }
    }
    if (result.stages.empty()) {
        program["stages"].refuse("there is no stage",
                                 "write at least one, such as "
                                 "- {do: host-to-chip, bytes: 1 GB}");
    }
    return result;
}

}  // namespace podsim::scenarios
