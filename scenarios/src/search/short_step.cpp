#include "scenarios/src/search/short_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "workloads/plan/ranks.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using workloads::ModelSpec;
using workloads::Op;
using workloads::OpIndex;
using workloads::Pass;
using workloads::StepProgram;

/// How the layers of a model are cut down.
struct Cut {
    std::int64_t layers = 0;  ///< n1
    std::int64_t period = 0;  ///< p'
    std::int64_t copies = 0;
    std::int64_t lead = 0;  ///< layers before those that stand for all
};

/// Returns the number of layers at the start behind which kinds repeat every `period` layers.
std::int64_t prefix_of(const ModelSpec& model, std::int64_t period) {
    std::int64_t prefix = std::max<std::int64_t>(0, model.layers - period);
    while (prefix > 0 && workloads::layer_kind(model, prefix - 1) ==
                             workloads::layer_kind(model, prefix - 1 + period)) {
        --prefix;
    }
    return prefix;
}

std::optional<Cut> cut_of(const ModelSpec& model, const workloads::TrainingPlan& plan) {
    const double ahead =
        std::max(std::ceil(plan.overlap.prefetch_layers), std::ceil(plan.overlap.fetch_layers));
    constexpr double kFarthest = 8;
    const bool unlike =
        plan.ways.pipeline > 1 || workloads::uneven_context(plan, model) || plan.experts.uneven();
    if (unlike || ahead > kFarthest || std::isfinite(plan.overlap.bucket.value())) {
        return std::nullopt;
    }
    const auto margin = static_cast<std::int64_t>(ahead) + 2;
    std::optional<Cut> best;
    for (std::int64_t period = 1; period <= 12; ++period) {
        const std::int64_t prefix = prefix_of(model, period);
        const std::int64_t p = period * ((margin - 1 + period - 1) / period);
        const std::int64_t least = prefix + margin + p + margin;
        if (least + p > model.layers) {
            continue;
        }
        const std::int64_t layers = least + (model.layers - least) % p;
        const Cut cut{layers, p, (model.layers - layers) / p, layers - p - margin};
        if (!best || cut.layers + cut.period < best->layers + best->period) {
            best = cut;
        }
    }
    return best && 2 * best->layers + best->period < model.layers ? best : std::nullopt;
}

StepProgram build(ModelSpec model, const workloads::TrainingPlan& plan, std::int64_t layers) {
    model.layers = layers;
    return workloads::build_step(model, plan);
}

/// A pass over a layer, or the operations between layers; `occurrence` numbers those of the same
/// kind.
struct Turn {
    std::int64_t layer = -1;
    bool forward = true;
    int occurrence = 0;
    auto operator<=>(const Turn&) const = default;
};
struct TurnPlace {
    OpIndex begin = 0;
    OpIndex end = 0;
    OpIndex last_compute = workloads::kWholeStep;
};

std::map<Turn, TurnPlace> turns_of(const StepProgram& program) {
    std::map<Turn, TurnPlace> turns;
    std::map<std::pair<std::int64_t, bool>, int> seen;
    for (std::size_t t = 0; t < program.turns.size(); ++t) {
        TurnPlace place{program.turns[t],
                        static_cast<OpIndex>(t + 1 < program.turns.size() ? program.turns[t + 1]
                                                                          : program.ops.size())};
        Turn turn;
        for (OpIndex i = place.begin; i < place.end; ++i) {
            if (!std::holds_alternative<workloads::Compute>(program.ops[i].work)) {
                continue;
            }
            if (place.last_compute == workloads::kWholeStep) {
                turn.layer = program.ops[i].layer;
                turn.forward = program.ops[i].pass == Pass::forward;
            }
            place.last_compute = i;
        }
        turn.occurrence = seen[{turn.layer, turn.forward}]++;
        turns[turn] = place;
    }
    return turns;
}

/// True for the same kind of work. The optimizer's may have any size.
bool alike(const Op& one, const Op& other) {
    if (one.work.index() != other.work.index() || one.pass != other.pass) {
        return false;
    }
    if (const auto* collective = std::get_if<workloads::Collective>(&one.work)) {
        const auto& twin = std::get<workloads::Collective>(other.work);
        return collective->operation == twin.operation && collective->axes == twin.axes &&
               collective->bytes == twin.bytes && collective->step == twin.step;
    }
    const auto* compute = std::get_if<workloads::Compute>(&one.work);
    if (compute == nullptr || one.pass == Pass::optimizer) {
        return true;
    }
    const auto& twin = std::get<workloads::Compute>(other.work);
    return compute->flops == twin.flops && compute->hbm == twin.hbm &&
           compute->vector == twin.vector;
}

class Matching {
public:
    Matching(ShortStep& step, const Cut& cut) : step_(step), cut_(cut) {
        step_.twins.resize(step_.program.ops.size());
    }

    /// True if everything in the shorter program has its like in the longer one.
    bool match() {
        const std::map<Turn, TurnPlace> places = turns_of(step_.program);
        const std::map<Turn, TurnPlace> longer = turns_of(step_.longer);
        for (const auto& [turn, place] : places) {
            const bool from_start = turn.layer < cut_.lead + cut_.period;
            const bool from_end = turn.layer >= cut_.lead;
            if (from_start && !pair(place, longer, turn, &ShortStep::Twins::from_start)) {
                return false;
            }
            Turn shifted = turn;
            shifted.layer += cut_.period;
            if (from_end && !pair(place, longer, shifted, &ShortStep::Twins::from_end)) {
                return false;
            }
        }
        return find_stretches(places);
    }

private:
    bool pair(const TurnPlace& place, const std::map<Turn, TurnPlace>& longer, const Turn& turn,
              OpIndex ShortStep::Twins::*twin) {
        const auto found = longer.find(turn);
        if (found == longer.end() ||
            found->second.end - found->second.begin != place.end - place.begin) {
            return false;
        }
        for (OpIndex i = place.begin; i < place.end; ++i) {
            const OpIndex other = found->second.begin + (i - place.begin);
            if (!alike(step_.program.ops[i], step_.longer.ops[other])) {
                return false;
            }
            step_.twins[i].*twin = other;
        }
        return true;
    }

    /// Finds the stretches: forward from the end of the layer before the p' to the end of the last
    /// of them, backward the reverse.
    bool find_stretches(const std::map<Turn, TurnPlace>& places) {
        const std::int64_t last = cut_.lead + cut_.period - 1;
        for (const auto& [turn, place] : places) {
            if (turn.layer != (turn.forward ? last : cut_.lead)) {
                continue;
            }
            Turn before = turn;
            before.layer = turn.forward ? cut_.lead - 1 : last + 1;
            const auto from = places.find(before);
            if (from == places.end() || from->second.last_compute >= place.last_compute ||
                place.last_compute == workloads::kWholeStep) {
                return false;
            }
            step_.stretches.push_back({from->second.last_compute, place.last_compute, cut_.copies});
        }
        std::ranges::sort(step_.stretches, {}, &RepeatedStretch::from);
        return true;
    }

    ShortStep& step_;
    const Cut& cut_;
};

}  // namespace

std::optional<ShortStep> short_step(const ModelSpec& model, const workloads::TrainingPlan& plan) {
    const std::optional<Cut> cut = cut_of(model, plan);
    if (!cut) {
        return std::nullopt;
    }
    ShortStep step{.program = build(model, plan, cut->layers),
                   .longer = build(model, plan, cut->layers + cut->period),
                   .copies = cut->copies,
                   .stretches = {},
                   .twins = {}};
    return Matching(step, *cut).match() ? std::optional(std::move(step)) : std::nullopt;
}

}  // namespace podsim::scenarios
