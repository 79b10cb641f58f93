#include "scenarios/src/search/step_outline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/memory.h"
#include "workloads/bounds/roofline.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// Bytes on the links of an axis in the course of a program.
class AxisSums {
public:
    void add(const std::vector<double>& up, sim::Bytes bytes) {
        up_.resize(std::max(up_.size(), up.size()));
        for (std::size_t chip = 0; chip < up.size(); ++chip) {
            up_[chip] += bytes.value() * up[chip];
        }
    }
    void add(const StepLinks& step, sim::Bytes bytes) {
        add(step.up, bytes);
        forward_ += bytes.value() * step.forward;
        back_ += bytes.value() * step.back;
    }
    /// The links down mirror those up, except on rings.
    [[nodiscard]] double most() const {
        const double on_lines = up_.empty() ? 0 : *std::ranges::max_element(up_);
        return on_lines + std::max(forward_, back_);
    }

private:
    std::vector<double> up_;  ///< by chip
    double forward_ = 0;      ///< of steps round rings, on every link
    double back_ = 0;
};

using workloads::Compute;
using workloads::OpIndex;
using workloads::StepProgram;

/// The bytes held for the whole step are rounded up once for all layers. A value that grows with
/// the layers may be off by this much for every further stretch.
constexpr double kRoundingBytes = 16;

double at_full_length(double value, double longer, std::int64_t copies) {
    return value + static_cast<double>(copies) * (longer - value);
}

/// Returns the largest value that an operation of the short step has in the full one, counted from
/// either end.
template <class Value>
double largest_at_full_length(const ShortStep& step, Value value) {
    double largest = 0;
    for (OpIndex i = 0; i < step.twins.size(); ++i) {
        for (const OpIndex twin : {step.twins[i].from_start, step.twins[i].from_end}) {
            if (twin != workloads::kWholeStep) {
                largest = std::max(largest, value(i, twin));
            }
        }
    }
    return largest;
}

/// Keeps only the operations that take time: others may free one buffer before they fill another.
template <class TimeOf>
void forget_instants(const StepProgram& program, std::vector<HeldBytes>& held, TimeOf time_of) {
    for (OpIndex i = 0; i < held.size(); ++i) {
        const auto* work = std::get_if<Compute>(&program.ops[i].work);
        if (work != nullptr && time_of(*work).ps == 0) {
            held[i] = {};
        }
    }
}

}  // namespace

sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known) {
    std::array<AxisSums, topology::kAxes> sums;
    for (const workloads::Op& op : program.ops) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr ||
            (tensor == TensorCollectives::in_steps && may_go_in_steps(*collective))) {
            continue;
        }
        const collectives::Members& members = mesh.members(collective->axes);
        if (members.span_slices()) {
            continue;
        }
        if (collective->step) {
            const collectives::RingStep& step = *collective->step;
            if (!step.senders) {
                const topology::AxisFactor& factor =
                    members.group[static_cast<std::size_t>(step.factor)];
                sums[static_cast<std::size_t>(factor.axis)].add(
                    step_links(slice, factor, step.direction), step.bytes);
            }
            continue;
        }
        const AlgorithmLinks& links = known.links(collective->operation, slice, members);
        for (std::size_t axis = 0; axis < sums.size(); ++axis) {
            sums[axis].add(links.up[axis], collective->bytes);
        }
    }
    double most = 0;
    for (const AxisSums& axis : sums) {
        most = std::max(most, axis.most());
    }
    return sim::Bytes(most) / link;
}

StepOutline::StepOutline(const Scenario& scenario, TensorCollectives tensor,
                         std::shared_ptr<KnownBounds> known)
    : hardware_(scenario.hardware),
      known_(std::move(known)),
      least_(hardware_, tensor, *known_),
      tensor_(tensor) {
    const TrainingStep& step = scenario.step();
    if (step.plan.overlap.schedule != workloads::SchedulePolicy::chain) {
        edges_ = Edges::needed;
    } else if (!step.plan.inference.has_value()) {
        short_ = short_step(step.model, step.plan);
    }
    if (short_ && !fits_in_order(*short_)) {
        workloads::TrainingPlan latest = step.plan;
        latest.overlap.fetch_layers = workloads::shortest_fetch(step.plan);
        if (latest.overlap.fetch_layers < step.plan.overlap.fetch_layers) {
            short_ = short_step(step.model, latest);
        }
        least_peak_ = short_ ? peak_of_short(&HeldBytes::without_gathered) : sim::Bytes{};
        const sim::Bytes usable = hardware_.chip.usable_hbm();
        if (tensor_ != TensorCollectives::as_built && least_peak_ > usable) {
            sums_alone_ = true;
        } else if (least_peak_ > usable * (1 + kMemoryBelief)) {
            return;
        } else {
            // The peak of the whole program decides how far ahead weights are gathered.
            short_.reset();
        }
    }
    if (short_) {
        outline_short();
    } else {
        outline_whole(scenario);
    }
    if (tensor_ == TensorCollectives::in_steps) {
        find_steps();
    }
}

/// Finds the longest computing right before a ReduceScatter, or of an operation that needs an
/// AllGather's rows.
void StepOutline::find_steps() {
    for (std::size_t p = 0; p < programs_.programs.size(); ++p) {
        auto& beside = beside_.emplace_back();
        const auto& ops = programs_.programs[p].ops;
        const auto goes = [&](OpIndex i, collectives::Operation operation) {
            const auto* collective = std::get_if<workloads::Collective>(&ops[i].work);
            return collective != nullptr && may_go_in_steps(*collective) &&
                   collective->operation == operation;
        };
        for (OpIndex i = 0; i < ops.size(); ++i) {
            for (const OpIndex need : ops[i].needs) {
                if (goes(i, collectives::Operation::reduce_scatter)) {
                    beside[i] = std::max(beside[i], compute_[p][need].all);
                }
                if (goes(need, collectives::Operation::all_gather)) {
                    beside[need] = std::max(beside[need], compute_[p][i].all);
                }
            }
        }
    }
}

bool StepOutline::fits_in_order(const ShortStep& step) const {
    const std::vector<double> held = held_in_order(step.program);
    const std::vector<double> longer = held_in_order(step.longer);
    const double peak = largest_at_full_length(step, [&](OpIndex i, OpIndex twin) {
        return at_full_length(held[i], longer[twin], step.copies);
    });
    return peak + kRoundingBytes * static_cast<double>(step.copies + 1) <=
           hardware_.chip.usable_hbm().value();
}

sim::Bytes StepOutline::peak_of_short(double HeldBytes::*bytes) const {
    const auto time_of = [&](const Compute& work) { return least_.of(work); };
    std::vector<HeldBytes> held = held_for_sure(short_->program, true);
    std::vector<HeldBytes> longer = held_for_sure(short_->longer, true);
    forget_instants(short_->program, held, time_of);
    forget_instants(short_->longer, longer, time_of);
    const double peak = largest_at_full_length(*short_, [&](OpIndex i, OpIndex twin) {
        return held[i].*bytes == 0 || longer[twin].*bytes == 0
                   ? 0
                   : at_full_length(held[i].*bytes, longer[twin].*bytes, short_->copies);
    });
    return sim::Bytes(
        std::max(0.0, peak - kRoundingBytes * static_cast<double>(short_->copies + 1)));
}

void StepOutline::outline_short() {
    least_peak_ = peak_of_short(&HeldBytes::all);
    least_kept_ = peak_of_short(&HeldBytes::kept);
    programs_ = workloads::StepPrograms(std::move(short_->program));
    number_operations();
    lengthen();
}

void StepOutline::lengthen() {
    const workloads::StepPrograms longer(std::move(short_->longer));
    Totals more = totals_of(longer);
    Totals totals = totals_of(programs_);
    more.times.resize(kinds_.all().size());
    totals.times.resize(kinds_.all().size());
    const std::int64_t copies = short_->copies;
    for (std::size_t kind = 0; kind < totals.times.size(); ++kind) {
        totals.times[kind] += copies * (more.times[kind] - totals.times[kind]);
    }
    totals.hbm = at_full_length(totals.hbm, more.hbm, copies);
    // Durations are rounded up, each by less than a picosecond.
    busy_ = totals.busy + (more.busy - totals.busy) * copies - sim::Time{copies + 1};
    add_totals(totals);
    lengthen_optimizer(longer.programs.front());
}

/// Operations that run once for all layers take longer in the full step.
void StepOutline::lengthen_optimizer(const StepProgram& longer) {
    for (OpIndex i = 0; i < short_->twins.size(); ++i) {
        const workloads::Op& op = programs_.programs.front().ops[i];
        const OpIndex twin = short_->twins[i].from_start;
        if (op.pass != workloads::Pass::optimizer || twin == workloads::kWholeStep ||
            !std::holds_alternative<Compute>(op.work)) {
            continue;
        }
        sim::Time& time = compute_.front()[i].all;
        const sim::Time more = least_.of(std::get<Compute>(longer.ops[twin].work));
        if (more > time) {
            time += (more - time) * short_->copies - sim::Time{short_->copies + 1};
        }
    }
}

StepOutline::Totals StepOutline::totals_of(const workloads::StepPrograms& programs) {
    Totals totals;
    for (const workloads::Op& op : programs.programs.front().ops) {
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            totals.hbm += work->hbm.value();
            totals.busy += least_.of(*work);
            continue;
        }
        const std::uint32_t kind = kinds_.of(programs, 0, op);
        totals.times.resize(std::max<std::size_t>(totals.times.size(), kind + 1));
        ++totals.times[kind];
    }
    return totals;
}

void StepOutline::add_totals(const Totals& totals) {
    StepProgram sums;
    Compute kernels;
    kernels.hbm = sim::Bytes(totals.hbm);
    sums.ops.push_back({.name = {}, .work = kernels, .after = {}});
    for (std::size_t kind = 0; kind < totals.times.size(); ++kind) {
        const auto times = static_cast<double>(totals.times[kind]);
        workloads::Op op{.name = {}, .work = kinds_.all()[kind].work, .after = {}};
        if (auto* collective = std::get_if<workloads::Collective>(&op.work)) {
            collective->bytes *= times;
            if (collective->step) {
                collective->step->bytes *= times;
            }
        } else {
            std::get<workloads::HostTransfer>(op.work).bytes *= times;
        }
        sums.ops.push_back(std::move(op));
    }
    totals_ = workloads::StepPrograms(std::move(sums));
}

void StepOutline::outline_whole(const Scenario& scenario) {
    const TrainingStep& step = scenario.step();
    workloads::TrainingPlan plan = step.plan;
    programs_ = workloads::build_stages_that_fit(step.model, plan,
                                                 most_believed(hardware_.chip.usable_hbm()));
    const bool shortened = plan.overlap.prefetch_layers < step.plan.overlap.prefetch_layers;
    double peak = 0;
    double kept = 0;
    for (const StepProgram& program : programs_.programs) {
        std::vector<HeldBytes> held = held_for_sure(program, edges_ == Edges::scheduled);
        forget_instants(program, held, [&](const Compute& work) { return least_.of(work); });
        for (const HeldBytes& bytes : held) {
            peak = std::max(peak, bytes.all);
            kept = std::max(kept, bytes.kept);
        }
    }
    least_peak_ = sim::Bytes(peak);
    least_kept_ = sim::Bytes(kept);
    sums_alone_ = tensor_ == TensorCollectives::in_steps &&
                  (shortened || least_peak_ > hardware_.chip.usable_hbm());
    number_operations();
    const bool hands_over = std::ranges::any_of(kinds_.all(), [](const auto& kind) {
        return std::holds_alternative<workloads::Handover>(kind.work);
    });
    if (programs_.programs.size() == 1 && !hands_over) {
        add_totals(totals_of(programs_));
    }
}

void StepOutline::number_operations() {
    for (std::size_t p = 0; p < programs_.programs.size(); ++p) {
        auto& kinds = kind_of_.emplace_back();
        auto& times = compute_.emplace_back();
        sim::Time busy;
        for (const workloads::Op& op : programs_.programs[p].ops) {
            kinds.push_back(kinds_.of(programs_, p, op));
            const auto* work = std::get_if<Compute>(&op.work);
            times.push_back({work != nullptr ? least_.of(*work) : sim::Time{}});
            busy += times.back().all;
        }
        busy_ = std::max(busy_, busy);
    }
}

sim::Time StepOutline::path(const std::vector<LeastTime>& of_kinds) {
    std::vector<std::vector<LeastTime>>& times = times_;
    times = compute_;
    for (std::size_t p = 0; p < times.size(); ++p) {
        for (std::size_t i = 0; i < times[p].size(); ++i) {
            if (kind_of_[p][i] != OperationKinds::kCompute) {
                times[p][i] = of_kinds[kind_of_[p][i]];
            }
        }
    }
    for (std::size_t p = 0; p < beside_.size(); ++p) {
        for (const auto& [i, computed] : beside_[p]) {
            for (sim::Time LeastTime::*time : {&LeastTime::all, &LeastTime::receive}) {
                sim::Time& takes = times[p][i].*time;
                takes = {std::max<std::int64_t>(0, takes.ps - computed.ps)};
            }
        }
    }
    if (short_) {
        return longest_path(programs_.programs.front(), times.front(), edges_, short_->stretches);
    }
    return longest_path(programs_, times, edges_, least_.launch());
}

sim::Time StepOutline::sums(const PlacedMesh& mesh) const {
    const workloads::MachineRates rates = achieved_rates(hardware_);
    const workloads::LowerBound lower = workloads::roofline_lower(
        totals_ ? *totals_ : programs_, hardware_.slice, mesh.mesh(), rates);
    sim::Seconds moved = std::max(lower.links, lower.hbm);
    if (totals_ && !hardware_.slice.twisted() && hardware_.perturbations.empty()) {
        moved = std::max(moved, busiest_link_time(totals_->programs.front(), hardware_.slice, mesh,
                                                  rates.ici_one_way, tensor_, least_.known()));
    }
    constexpr double kSure = 1 - 1e-9;
    return std::max(busy_,
                    sim::Time{static_cast<std::int64_t>(std::floor(moved.value() * 1e12 * kSure))});
}

sim::Time StepOutline::bound(const PlacedMesh& mesh) {
    if (sums_alone_) {
        return sums(mesh);
    }
    return std::max(path(least_.of(kinds_, programs_, mesh)), sums(mesh));
}

StepOutline::Estimate StepOutline::estimate(const PlacedMesh& mesh) {
    const sim::Time least = sums(mesh);
    return {.bound = std::max(path(least_.of(kinds_, programs_, mesh)), least),
            .likely = std::max(path(least_.likely(kinds_, programs_, mesh)), least)};
}

}  // namespace podsim::scenarios
