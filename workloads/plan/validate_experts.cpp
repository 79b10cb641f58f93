#include "workloads/plan/validate_experts.h"

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "sim/base/input_faults.h"
#include "workloads/models/model.h"
#include "workloads/models/setting_error.h"
#include "workloads/plan/nearest_size.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

constexpr double kMostLoad = 1024;  // of experts, over the mean

void check_expert(const TrainingPlan& plan, const ModelSpec& model) {
    const std::int64_t experts = model.experts.count;
    if (plan.ways.expert > 1 && experts == 0) {
        throw SettingError(
            "mesh.expert",
            fmt::format("expert = {}, but {} has no experts", plan.ways.expert, model.name),
            "use the axis as fsdp");
    }
    if (experts > 0 && experts % plan.ways.expert != 0) {
        throw SettingError("mesh.expert",
                           fmt::format("expert = {} does not divide the {} experts of {}",
                                       plan.ways.expert, experts, model.name),
                           nearest_divisors(plan.ways.expert, experts));
    }
}

/// Returns the path of a key of experts.
std::string key(const TrainingPlan& plan, std::string_view name) {
    return fmt::format("{}.{}", plan.inference ? "inference" : "training", name);
}

/// Checks `capacity_factor` or `expert_imbalance`, whose path is `at`.
void check_load(const std::string& at, double value, const ModelSpec& model) {
    const std::string_view setting = std::string_view(at).substr(at.find('.') + 1);
    if (!(value >= 1 && value <= kMostLoad)) {
        throw SettingError(at, fmt::format("{} = {} is out of range", setting, value),
                           fmt::format("allowed are 1 to {}", kMostLoad));
    }
    if (value > 1 && model.experts.count == 0) {
        throw SettingError(
            at, fmt::format("{} = {}, but {} has no experts", setting, value, model.name),
            "leave it out");
    }
}

void check_imbalance(const TrainingPlan& plan, const ModelSpec& model) {
    check_load(key(plan, "expert_imbalance"), plan.experts.imbalance, model);
    if (!plan.experts.loads.empty() && model.experts.count == 0) {
        throw SettingError(key(plan, "expert_imbalance"),
                           fmt::format("expert_imbalance of {}, which has no experts", model.name),
                           "leave it out");
    }
    if (plan.ways.expert == 1 && (plan.experts.imbalance > 1 || !plan.experts.loads.empty())) {
        throw SettingError(key(plan, "expert_imbalance"),
                           "expert_imbalance with expert = 1: every chip has all experts",
                           "leave it out, or add the axis expert");
    }
    if (!plan.experts.loads.empty() &&
        plan.experts.loads.size() != static_cast<std::size_t>(plan.ways.expert)) {
        throw SettingError(key(plan, "expert_imbalance"),
                           fmt::format("expert_imbalance has {} shares, but expert = {}",
                                       plan.experts.loads.size(), plan.ways.expert),
                           "write one for each rank of the axis expert");
    }
}

void check_capacity(const TrainingPlan& plan) {
    if (plan.experts.capacity_factor > 1 && (plan.experts.imbalance > 1 || plan.experts.uneven())) {
        throw SettingError(key(plan, "capacity_factor"), "capacity_factor beside expert_imbalance",
                           "experts are either padded to a capacity or take what comes: keep one");
    }
    if (plan.moe.sparse() && plan.experts.capacity_factor > 1) {
        throw SettingError(key(plan, "capacity_factor"),
                           "capacity_factor of sparse experts, which take what comes",
                           fmt::format("leave it out, or write moe: {{matmul: {}}}",
                                       plan.inference ? "ideal" : "dense"));
    }
}

/// Checks dense experts without a capacity.
void check_all(const TrainingPlan& plan, const std::string& setting) {
    if (plan.moe.of_all() && (plan.ways.expert > 1 || plan.ways.of_matrix() > 1)) {
        throw SettingError(
            setting, "dense experts without a capacity, which all work on all tokens of a chip",
            "write a capacity_factor, or use the axis as fsdp");
    }
}

void check_dense(const TrainingPlan& plan, sim::InputFaults& faults) {
    if (!plan.moe.dense() && !plan.moe.of_all()) {
        return;
    }
    faults.check("training.expert_imbalance", {"training.expert_imbalance", "training.moe"}, [&] {
        if (plan.experts.imbalance > 1 || plan.experts.uneven()) {
            throw SettingError(key(plan, "expert_imbalance"),
                               "expert_imbalance of dense experts, which all work on equal rows",
                               "leave it out, or write moe: {matmul: sparse}");
        }
    });
    faults.check("mesh.context", {"mesh.context", "training.moe"}, [&] {
        if (plan.ways.context > 1) {
            throw SettingError(
                "mesh.context",
                fmt::format("context = {} with dense experts, whose places are of whole sequences",
                            plan.ways.context),
                "use the axis as fsdp, or write moe: {matmul: sparse}");
        }
    });
    const std::string all = plan.ways.expert > 1 ? "mesh.expert" : "mesh.tensor";
    faults.check(all, {"mesh", "training.moe", "training.capacity_factor"},
                 [&] { check_all(plan, all); });
}

}  // namespace

void validate_experts(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults) {
    const std::string capacity = key(plan, "capacity_factor");
    const std::string imbalance = key(plan, "expert_imbalance");
    faults.check("mesh.expert", {"mesh.expert", "model"}, [&] { check_expert(plan, model); });
    faults.check(capacity, {capacity, "model"},
                 [&] { check_load(capacity, plan.experts.capacity_factor, model); });
    faults.check(imbalance, {imbalance, "mesh.expert", "model"},
                 [&] { check_imbalance(plan, model); });
    faults.check(capacity, {capacity, imbalance, key(plan, "moe")}, [&] { check_capacity(plan); });
    check_dense(plan, faults);
}

}  // namespace podsim::workloads
