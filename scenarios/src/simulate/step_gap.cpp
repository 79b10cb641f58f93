#include "scenarios/src/simulate/step_gap.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/src/base/run_limit.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/stream_account.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/program/alike_work.h"

namespace podsim::scenarios {
namespace {

/// Returns the link of these classes (workloads::LowerBound) with the longest busy time, the first
/// such.
std::size_t busiest_link(const sim::ExecutionResult& result, std::size_t ports, unsigned classes) {
    std::size_t busiest = result.links.size();
    for (std::size_t server = 0; server < result.links.size(); ++server) {
        const std::size_t link_class = server % ports / 2;
        if ((classes >> link_class & 1U) != 0 &&
            (busiest == result.links.size() ||
             result.links[server].busy > result.links[busiest].busy)) {
            busiest = server;
        }
    }
    return busiest;
}

}  // namespace

WorkAccount account_work(const workloads::StepProgram& program,
                         const workloads::MachineRates& rates) {
    WorkAccount account;
    for (const workloads::Op& op : program.ops) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            const workloads::ComputeTime time = workloads::compute_time(*work, rates);
            const sim::Time ideal = sim::round_up(time.mxu);
            const sim::Time padded = sim::round_up(time.mxu_padded);
            account.unrounded += time.mxu;
            account.hbm_unrounded += time.hbm;
            account.vpu_unrounded += time.vpu;
            account.ideal += ideal;
            account.padding += padded - ideal;
            const sim::Time hbm = sim::round_up(time.hbm);
            const sim::Time vpu = sim::round_up(time.vpu);
            const sim::Time total = std::max({padded, hbm, vpu});
            account.hbm += std::max(padded, hbm) - padded;
            account.vpu += total - std::max(padded, hbm);
            account.hbm_all += hbm;
            account.mxu_beyond_hbm += std::max(padded, hbm) - hbm;
            account.vpu_all += vpu;
            account.mxu_beyond_vpu += std::max(padded, vpu) - vpu;
            account.hbm_beyond_vpu += total - std::max(padded, vpu);
        }
    }
    return account;
}

bool retime(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
            LoweredStep& step) {
    const Durations durations(hardware);
    const std::int64_t memory = memory_rate(hardware);
    bool changed = std::exchange(step.workload.machine.memory_rate, memory) != memory;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        const std::vector<workloads::Op>& ops = programs.programs[p].ops;
        workloads::OfAlike<Durations::Timed> timed(programs.programs[p]);
        for (workloads::OpIndex i = 0; i < ops.size(); ++i) {
            sim::Task& task = step.workload.graphs[p].tasks[i];
            const auto& [duration, demand] = timed.of(i, [&] { return durations.timed(ops[i]); });
            changed = changed || task.duration != duration || task.demand != demand;
            task.duration = duration;
            task.demand = demand;
        }
    }
    return changed;
}

bool StepGap::Cause::lowers_anew() const {
    return std::ranges::any_of(parts, &Shortfall::lowers_anew);
}

StepGap::StepGap(const Scenario& scenario, const workloads::StepPrograms& programs,
                 const LoweredStep& folded, const workloads::LowerBound& lower, Options options)
    : scenario_(scenario),
      programs_(programs),
      folded_(folded),
      lower_(lower),
      reuse_(options.reuse),
      known_(options.known),
      most_played_(options.most_played),
      watch_(options.watch, Phase::explaining) {
    find_causes(options.played);
    times_.resize(std::size_t{1} << causes_.size());
    exceeded_.resize(times_.size());
    beside([this] { begin(); });
}

/// No exception passes through the library's task groups: one thrown while the group is cancelled
/// would be lost with its memory, or would leave the destructor.
template <class Work>
void StepGap::beside(Work work) {
    runs_.run([this, work = std::move(work)] {
        try {
            work();
        } catch (...) {
            const std::scoped_lock lock(failing_);
            if (!failure_) {
                failure_ = std::current_exception();
            }
            runs_.cancel();
        }
    });
}

StepGap::~StepGap() {
    runs_.cancel();
    runs_.wait();
}

bool StepGap::link_bound() const {
    return lower_.links > std::max({lower_.compute, lower_.hbm, lower_.vpu});
}

void StepGap::add_cause(const Shortfall& shortfall, const char* joins) {
    if (joins != nullptr) {
        for (Cause& cause : causes_) {
            if (cause.parts.front()->name == std::string_view(joins)) {
                cause.parts.push_back(&shortfall);
                cause.name += fmt::format(" and {}", shortfall.name);
                return;
            }
        }
    }
    causes_.push_back({shortfall.name, {&shortfall}});
}

void StepGap::find_causes(std::uint64_t played) {
    std::vector<const Shortfall*> present;
    for (const Shortfall& shortfall : shortfalls()) {
        if (shortfall.present(scenario_.hardware)) {
            present.push_back(&shortfall);
        }
    }
    const bool long_runs = present.size() < 64 && played > kMostPlayedByLedger >> present.size();
    const auto main = [](const Shortfall& one) {
        return one.name == std::string_view("kernels below peak") ||
               one.name == std::string_view("links below their rate");
    };
    const auto other =
        std::ranges::find_if(present, [&](const Shortfall* one) { return !main(*one); });
    for (const Shortfall* one : present) {
        if (long_runs) {
            add_cause(*one, main(*one) ? nullptr : (*other)->name);
        } else {
            add_cause(*one, present.size() > kMostCauses ? one->joins : nullptr);
        }
    }
}

IdealHardware StepGap::without(Causes causes) const {
    IdealHardware hardware = scenario_.hardware;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        if ((causes >> i & 1U) != 0) {
            for (const Shortfall* part : causes_[i].parts) {
                part->remove(hardware);
            }
        }
    }
    return hardware;
}

void StepGap::lower_bases() {
    Causes all = 0;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        all |= causes_[i].lowers_anew() ? Causes{1} << i : 0;
    }
    for (Causes causes = all; causes != 0; causes = (causes - 1) & all) {
        bases_[causes] =
            lower_step(programs_, AchievedHardware(without(causes)), scenario_.step().mesh,
                       Fold::automatic, &watch_, known_ != nullptr ? &known_->local() : nullptr);
    }
}

LoweredStep StepGap::lowered_without(Causes causes) const {
    Causes base = 0;
    bool latency = false;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        if ((causes >> i & 1U) != 0) {
            base |= causes_[i].lowers_anew() ? Causes{1} << i : 0;
            latency = latency || std::ranges::any_of(causes_[i].parts, &Shortfall::latency);
        }
    }
    LoweredStep step = base == 0 ? folded_ : bases_.at(base);
    retime(programs_, AchievedHardware(without(causes)), step);
    if (latency) {
        for (sim::LinkSpec& link : step.workload.machine.links) {
            link.latency = {};
        }
    }
    return step;
}

void StepGap::begin() {
    lower_bases();
    for (Causes causes = 1; causes + 1 < times_.size(); ++causes) {
        beside([this, causes] { run_without(causes); });
    }
    beside([this] { run_last(); });
}

void StepGap::run_without(Causes causes) {
    const LoweredStep step = lowered_without(causes);
    RunLimit limit(watch_, RunLimit::kNone, most_played_);
    try {
        WatchedRun watched(&limit);
        times_[causes] = sim::execute(step.workload, &watched, reuse_).end;
    } catch (const Stopped&) {
        if (!limit.exceeded()) {
            throw;
        }
        exceeded_[causes] = 1;
    }
}

void StepGap::run_last() {
    const Causes all = times_.size() - 1;
    last_step_ = lowered_without(all);
    if (!link_bound()) {
        if (all != 0) {
            run_without(all);
        }
        last_step_.workload.machine.isolated_operations = true;
    }
    RunLimit limit(watch_, RunLimit::kNone, most_played_);
    try {
        last_ = run_step(last_step_, {.reuse = reuse_, .watch = &limit});
    } catch (const Stopped&) {
        if (!limit.exceeded()) {
            throw;
        }
        exceeded_[all] = 1;
    }
    if (link_bound()) {
        times_[all] = last_.result.end;
    }
}

std::string StepGap::names_of(Causes causes) const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        if ((causes >> i & 1U) != 0) {
            names.push_back(causes_[i].name);
        }
    }
    return names.empty() ? "contention" : fmt::format("{}", fmt::join(names, " and "));
}

StepGap::Terms StepGap::terms(const StepRun& run) {
    runs_.wait();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    const auto exceeded = std::ranges::find(exceeded_, char{1});
    if (exceeded != exceeded_.end()) {
        throw ExceedsLimit(names_of(static_cast<Causes>(exceeded - exceeded_.begin())));
    }
    times_.front() = run.result.end;
    std::vector<std::string> names;
    for (const Cause& cause : causes_) {
        names.push_back(cause.name);
    }
    Terms terms{.ledger = ledger_of(names, times_)};
    for (const LedgerRow& row : terms.ledger) {
        terms.gap.push_back({row.name, row.share});
    }
    const auto shortfalls = static_cast<std::ptrdiff_t>(terms.gap.size());
    terms.gap.push_back({"contention", times_.back() - last_.result.end});
    read_off(terms.gap);
    terms.gap.erase(std::remove_if(terms.gap.begin() + shortfalls, terms.gap.end(),
                                   [](const Share& share) { return share.time.ps == 0; }),
                    terms.gap.end());
    return terms;
}

void StepGap::read_off(std::vector<Share>& gap) const {
    const StepRun& last = last_;
    const sim::Time bound = sim::round_down(lower_.time);
    if (link_bound()) {
        const sim::Workload& workload = last_step_.workload;
        RunRecord record(workload, &watch_);
        const sim::ExecutionResult result = sim::execute(workload, &record, reuse_);
        const std::size_t busiest =
            busiest_link(result, workload.machine.ports, lower_.link_classes);
        gap.push_back({"uneven links", result.links[busiest].busy - bound});
        const std::size_t program = workload.graph_of_place[busiest / workload.machine.ports];
        for (const Share& share : idle_by_cause(
                 record.held(busiest),
                 stream_of(programs_.programs[program], last.chips[program], last.result.end))) {
            gap.push_back({"idle links: " + share.name, share.time, share.cause});
        }
        return;
    }
    const workloads::StepProgram& program = programs_.programs[last.program];
    const WorkAccount work = account_work(program, ideal_rates(scenario_.hardware));
    const StreamAccount stream = account_stream(program, last.reported(), last.result.end);
    const char* uneven = programs_.members() > 1 ? "uneven work" : "uneven stages";
    if (lower_.vpu > std::max(lower_.compute, lower_.hbm)) {
        gap.push_back({"MXU beyond VPU", work.mxu_beyond_vpu});
        gap.push_back({"HBM beyond VPU", work.hbm_beyond_vpu});
        const sim::Time own = sim::round_down(work.vpu_unrounded);
        gap.push_back({"rounding", work.vpu_all - own});
        gap.push_back({uneven, own - bound});
    } else if (lower_.hbm > lower_.compute) {
        gap.push_back({"MXU beyond HBM", work.mxu_beyond_hbm});
        gap.push_back({"VPU", work.vpu});
        const sim::Time own = sim::round_down(work.hbm_unrounded);
        const sim::Time kernels = sim::round_down(lower_.hbm_kernels);
        gap.push_back({"rounding", work.hbm_all - own});
        gap.push_back({uneven, own - kernels});
        gap.push_back({"HBM of messages", kernels - bound});
    } else {
        gap.push_back({"padding", work.padding});
        gap.push_back({"HBM", work.hbm});
        gap.push_back({"VPU", work.vpu});
        const sim::Time own = sim::round_down(work.unrounded);
        gap.push_back({"rounding", work.ideal - own});
        gap.push_back({uneven, own - bound});
    }
    for (const Share& share : stream.waited_for) {
        gap.push_back({"exposed " + share.name, share.time,
                       "exposed " + (share.cause.empty() ? share.name : share.cause)});
    }
}

}  // namespace podsim::scenarios
