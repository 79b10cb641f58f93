#include "scenarios/explain/step_gap.h"

#include <algorithm>
#include <utility>

#include "scenarios/explain/stream_account.h"
#include "scenarios/explain/work_account.h"
#include "scenarios/lower/rates.h"
#include "scenarios/lower/retime.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/watch/run_limit.h"

namespace podsim::scenarios {
namespace {

/// What one group of the profile's factors costs, and the hardware without it.
struct Cause {
    const char* name;
    void (*remove)(topology::Efficiency&);
    bool clock = false;  ///< and the clock of the cores
};

constexpr Cause kCauses[] = {
    {"stragglers", [](topology::Efficiency& e) { e.straggler = 0; }},
    {"kernels below peak",
     [](topology::Efficiency& e) {
         e.mxu = e.mxu_8bit = e.attention = e.vpu = e.hbm = e.fusion = e.gather = 1;
         e.mxu_ramp = e.mxu_grouped = e.grid_step_s = e.attention_backward = 0;
     },
     true},
    {"links below their rate", [](topology::Efficiency& e) { e.ici = e.dcn = 1; }},
    {"launch", [](topology::Efficiency& e) { e.launch_s = e.kernel_s = e.sequence_s = 0; }},
    {"host between steps", [](topology::Efficiency& e) { e.host_s = 0; }},
};

/// The link of these classes (workloads::LowerBound) that is held longest, the first such.
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
    beside([this] {
        remove_from_hardware();
        of_hardware_ = static_cast<std::ptrdiff_t>(without_.size());
        remove_from_step();
        start(true);
    });
}

/// No exception goes through the library's task groups: one that came while the group is cancelled would be lost
/// with its memory, or would leave the destructor.
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

/// The step without the last cause that made a difference.
const LoweredStep& StepGap::latest() const {
    for (auto one = without_.rbegin(); one != without_.rend(); ++one) {
        if (!one->same) {
            return one->step;
        }
    }
    return folded_;
}

void StepGap::begin(const char* cause, LoweredStep step) {
    start(false);
    waiting_ = &without_.emplace_back(Without{cause, std::move(step), {}});
}

/// Of all but the last run only the end is looked at.
void StepGap::start(bool last) {
    if (Without* const one = std::exchange(waiting_, nullptr)) {
        beside([this, one, last] {
            RunLimit limit(watch_, RunLimit::kNone, most_played_);
            try {
                if (last) {
                    one->run = run_step(one->step, {.reuse = reuse_, .watch = &limit});
                } else {
                    WatchedRun watched(&limit);
                    one->run.result = sim::execute(one->step.workload, &watched, reuse_);
                }
            } catch (const Stopped&) {
                if (!limit.exceeded()) {
                    throw;
                }
                one->exceeded = true;
            }
        });
    }
}

void StepGap::nothing_changes(const char* cause) {
    without_.push_back({.cause = cause, .step = {}, .run = {}, .same = true});
}

void StepGap::remove_from_hardware() {
    IdealHardware hardware = scenario_.hardware;
    const auto lower_again = [&] {
        return lower_step(programs_, AchievedHardware(hardware), scenario_.step().mesh,
                          Fold::automatic, &watch_, known_ != nullptr ? &known_->local() : nullptr);
    };
    if (!hardware.perturbations.empty()) {
        hardware.perturbations.clear();
        begin("perturbations", lower_again());
    }
    for (const Cause& cause : kCauses) {
        const topology::Efficiency before = hardware.efficiency;
        cause.remove(hardware.efficiency);
        const bool clocked = cause.clock && std::exchange(hardware.core_clock, 1) != 1;
        if (hardware.efficiency == before && !clocked) {
            continue;
        }
        if (hardware.efficiency.ici != before.ici || hardware.efficiency.dcn != before.dcn) {
            begin(cause.name, lower_again());
            continue;
        }
        LoweredStep step = latest();
        if (retime(programs_, AchievedHardware(hardware), step)) {
            begin(cause.name, std::move(step));
        } else {
            nothing_changes(cause.name);
        }
    }
}

void StepGap::remove_from_step() {
    LoweredStep step = latest();
    if (std::exchange(step.workload.machine.memory_rate, 0) != 0) {
        begin("HBM shared with collectives", step);
    }
    bool launches = false;
    for (sim::TaskGraph& graph : step.workload.graphs) {
        for (sim::Task& task : graph.tasks) {
            if (task.operation != sim::kNoOperation && task.duration.ps > 0) {
                task.duration = {};
                launches = true;
            }
        }
    }
    if (launches) {
        begin("launch", step);
    }
    bool latencies = false;
    for (sim::LinkSpec& link : step.workload.machine.links) {
        latencies = latencies || link.latency.ps > 0;
        link.latency = {};
    }
    if (latencies) {
        begin("latency", step);
    }
    if (!link_bound()) {
        step.workload.machine.isolated_operations = true;
        begin("contention", std::move(step));
    }
}

std::vector<Share> StepGap::shares(const StepRun& run) {
    runs_.wait();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    for (const Without& one : without_) {
        if (one.exceeded) {
            throw ExceedsLimit(one.cause);
        }
    }
    std::vector<Share> gap;
    const StepRun* now = &run;
    for (const Without& one : without_) {
        const StepRun* const next = one.same ? now : &one.run;
        gap.push_back({one.cause, now->result.end - next->result.end});
        now = next;
    }
    read_off(*now, gap);
    gap.erase(std::remove_if(gap.begin() + of_hardware_, gap.end(),
                             [](const Share& share) { return share.time.ps == 0; }),
              gap.end());
    return gap;
}

void StepGap::read_off(const StepRun& last, std::vector<Share>& gap) const {
    const sim::Time bound = sim::round_down(lower_.time);
    if (link_bound()) {
        const sim::Workload& workload = latest().workload;
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
