#include "scenarios/src/simulate/critical_path.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "collectives/paths/ports.h"
#include "workloads/bounds/compute_time.h"

namespace podsim::scenarios {
namespace {

constexpr std::array<const char*, 5> kLinkClasses{"ICI x", "ICI y", "ICI z", "PCIe", "DCN"};
constexpr std::span kIciClasses = std::span(kLinkClasses).first<topology::kAxes>();

class Path {
public:
    Path(const sim::Workload& workload, const std::vector<std::vector<std::string>>& resources,
         const RunRecord& record)
        : workload_(workload), resources_(resources), record_(record) {
        for (const sim::TaskGraph& graph : workload.graphs) {
            std::vector<std::uint32_t>& tasks =
                task_of_.emplace_back(workload.operations.size(), kNone);
            std::vector<std::uint32_t>& before = work_before_.emplace_back();
            std::vector<std::uint32_t> last;
            for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
                const sim::Task& spec = graph.tasks[task];
                before.push_back(kNone);
                if (spec.operation != sim::kNoOperation) {
                    tasks[spec.operation] = task;
                    continue;
                }
                last.resize(std::max<std::size_t>(last.size(), spec.resource + 1), kNone);
                before.back() = std::exchange(last[spec.resource], task);
            }
        }
    }

    std::vector<Share> trace(sim::Time end) {
        at_ = end;
        for (std::size_t place = 0; place < workload_.machine.places; ++place) {
            const std::size_t tasks = graph(place).tasks.size();
            for (std::uint32_t task = 0; task < tasks; ++task) {
                if (record_.ended(place, task) == end) {
                    follow_task(place, task);
                    return finish();
                }
            }
        }
        return finish();
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffff;

    /// The next item to examine: a task that ended now, or the start of a link's time for a
    /// message.
    struct Next {
        std::size_t place = 0;
        std::uint32_t task = kNone;
    };

    [[nodiscard]] const sim::TaskGraph& graph(std::size_t place) const {
        return workload_.graphs[workload_.graph_of_place[place]];
    }
    [[nodiscard]] const sim::Schedule& schedule(sim::OperationId operation) const {
        return workload_.schedules[workload_.operations[operation.index()].schedule];
    }

    /// Assigns the time from `since` until now to this resource.
    void give(const std::string& resource, sim::Time since) {
        if (since > at_) {
            throw std::logic_error("a cause lies behind its effect");
        }
        if (since == at_) {
            return;
        }
        const auto found = std::ranges::find(shares_, resource, &Share::name);
        if (found == shares_.end()) {
            shares_.push_back({resource, at_ - since});
        } else {
            found->time += at_ - since;
        }
        at_ = since;
    }

    void follow_task(std::size_t place, std::uint32_t task) {
        Next next{place, task};
        while (next.task != kNone) {
            const sim::Task& spec = graph(next.place).tasks[next.task];
            if (spec.operation == sim::kNoOperation) {
                next = before_work(next, spec);
            } else {
                next = before_operation(next, spec);
            }
        }
    }

    Next before_work(const Next& now, const sim::Task& spec) {
        const sim::Time began = record_.began(now.place, now.task);
        const std::vector<double>& slowdown = workload_.machine.slowdown;
        const sim::Time alone = slowdown.empty() || slowdown[now.place] == 1
                                    ? spec.duration
                                    : sim::slowed(spec.duration, slowdown[now.place]);
        give("HBM", std::min(at_, began + alone));
        give("slow chips", std::min(at_, began + spec.duration));
        give(resources_[workload_.graph_of_place[now.place]][now.task], began);
        return before_task(now);
    }

    Next before_operation(const Next& now, const sim::Task& spec) {
        const sim::OperationId operation{std::size_t{spec.operation}};
        const std::vector<Arrival> last = record_.arrivals(now.place, operation, at_);
        if (last.empty()) {
            return before_start(now);
        }
        return before_arrival(last.front());
    }

    /// Follows an operation that has just started at this place.
    Next before_start(const Next& now) {
        give("launch", record_.began(now.place, now.task));
        return before_task(now);
    }

    /// Follows a task that has just begun.
    Next before_task(const Next& now) {
        if (at_.ps == 0) {
            return {};
        }
        const sim::Task& spec = graph(now.place).tasks[now.task];
        const std::uint32_t work_before =
            work_before_[workload_.graph_of_place[now.place]][now.task];
        std::uint32_t found = kNone;
        const auto consider = [&](std::uint32_t task) {
            const bool works = graph(now.place).tasks[task].operation == sim::kNoOperation;
            if (record_.ended(now.place, task) == at_ && (found == kNone || works)) {
                found = task;
            }
        };
        for (const std::uint32_t task : spec.after) {
            consider(task);
        }
        if (work_before != kNone) {
            consider(work_before);
        }
        if (found == kNone) {
            throw std::logic_error("a task began without a cause");
        }
        return {now.place, found};
    }

    /// Follows a message that has just arrived.
    Next before_arrival(const Arrival& message) {
        const sim::Transfer& transfer = schedule(message.operation).transfers[message.transfer];
        const sim::Holding held = find(message, transfer, transfer.hop_count - 1);
        if (waits_for_memory()) {
            give("HBM", std::min(at_, held.end + tail_latency(held)));
        }
        give("latency", std::min(at_, held.end));
        return before_release(held);
    }

    /// Follows a message that has just left the link.
    Next before_release(const sim::Holding& held) { return before_holding(back_over_link(held)); }

    /// Goes back to the instant at which the link was given to the message. If the message's last
    /// byte arrived late over a slower link before this one, goes on with the message on that link.
    sim::Holding back_over_link(sim::Holding held) {
        const sim::Transfer& transfer = schedule(held.operation).transfers[held.transfer];
        while (held.hop > 0 && held.end > held.start + own_time(held, transfer)) {
            const sim::Holding before = find(message_of(held), transfer, held.hop - 1);
            if (before.end + tail_latency(before) != held.end) {
                break;
            }
            give("latency", before.end);
            held = before;
        }
        if (waits_for_memory()) {
            give("HBM", std::min(at_, held.start + own_time(held, transfer)));
        }
        give(kLinkClasses[held.link.index() % workload_.machine.ports / 2], held.start);
        return held;
    }
    /// True if links may be held longer than their bytes take. Under LatencyRule::floor, time that
    /// a memory adds cannot be distinguished from latency.
    [[nodiscard]] bool waits_for_memory() const {
        return workload_.machine.memory_rate != 0 &&
               workload_.machine.rule == sim::LatencyRule::additive;
    }

    /// Follows a message to which the link has just been given.
    Next before_holding(sim::Holding held) {
        while (true) {
            if (const auto busy = record_.held_until(held.link.index(), at_)) {
                held = back_over_link(*busy);
                continue;
            }
            const sim::Transfer& transfer = schedule(held.operation).transfers[held.transfer];
            if (held.hop == 0) {
                return before_firing(held);
            }
            const sim::Holding before = find(message_of(held), transfer, held.hop - 1);
            give("latency", before.start);
            held = before;
        }
    }

    /// Follows a message that has just become ready to be sent.
    Next before_firing(const sim::Holding& held) {
        const std::size_t place = held.source.index();
        for (const Arrival& arrival : record_.arrivals(place, held.operation, at_)) {
            if (leads_to(schedule(held.operation), arrival.transfer, held.transfer)) {
                return before_arrival(arrival);
            }
        }
        return before_start(
            {place, task_of_[workload_.graph_of_place[place]][held.operation.index()]});
    }

    /// True if one transfer precedes the other, directly or through joins.
    static bool leads_to(const sim::Schedule& schedule, std::uint32_t from, std::uint32_t to) {
        const sim::Transfer& transfer = schedule.transfers[from];
        for (std::uint32_t i = 0; i < transfer.successor_count; ++i) {
            const std::uint32_t next = schedule.successors[transfer.first_successor + i];
            if (next == to ||
                (schedule.transfers[next].hop_count == 0 && leads_to(schedule, next, to))) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] sim::Holding find(const Arrival& message, const sim::Transfer& transfer,
                                    std::uint32_t hop) const {
        const sim::Machine& machine = workload_.machine;
        const sim::Hop& link = schedule(message.operation).hops[transfer.first_hop + hop];
        const std::size_t place = machine.shifted(link.shift, message.source.index());
        const auto found = record_.holding(machine.link(place, link.port), message, hop, at_);
        if (!found.has_value()) {
            throw std::logic_error("a message crossed no link");
        }
        return *found;
    }

    [[nodiscard]] Arrival message_of(const sim::Holding& held) const {
        return {held.operation, held.source, held.transfer, at_};
    }

    [[nodiscard]] sim::Time own_time(const sim::Holding& held,
                                     const sim::Transfer& transfer) const {
        return sim::round_up(transfer.bytes / workload_.machine.links[held.link.index()].rate);
    }
    [[nodiscard]] sim::Time tail_latency(const sim::Holding& held) const {
        return workload_.machine.rule == sim::LatencyRule::additive
                   ? workload_.machine.links[held.link.index()].latency
                   : sim::Time{};
    }

    std::vector<Share> finish() {
        if (at_.ps != 0) {
            throw std::logic_error("the critical path has no beginning");
        }
        std::ranges::stable_sort(shares_, std::greater<>{}, &Share::time);
        return std::move(shares_);
    }

    const sim::Workload& workload_;
    const std::vector<std::vector<std::string>>& resources_;
    const RunRecord& record_;
    std::vector<std::vector<std::uint32_t>> task_of_;  ///< [graph][operation]
    /// The task before this one on the same resource, by [graph][task].
    std::vector<std::vector<std::uint32_t>> work_before_;
    sim::Time at_;
    std::vector<Share> shares_;
};

}  // namespace

std::string resource_of(const workloads::Compute& work, const workloads::MachineRates& rates) {
    const workloads::ComputeTime time = workloads::compute_time(work, rates);
    if (time.host > std::max({time.mxu_reached, time.hbm, time.vpu})) {
        return "host";
    }
    if (std::max(time.vpu, time.beside) > std::max(time.mxu_reached, time.hbm)) {
        return "VPU";
    }
    return time.mxu_reached < time.hbm ? "HBM" : "MXU";
}

std::vector<Share> trace_critical_path(const sim::Workload& workload,
                                       const std::vector<std::vector<std::string>>& resources,
                                       const RunRecord& record, sim::Time end) {
    return Path(workload, resources, record).trace(end);
}

std::vector<Share> critical_path(const workloads::StepPrograms& programs, const LoweredStep& step,
                                 const workloads::MachineRates& rates, const RunRecord& record,
                                 sim::Time end, const topology::AxisExchange& written) {
    std::vector<std::vector<std::string>> resources;
    for (const workloads::StepProgram& program : programs.programs) {
        std::vector<std::string>& of_program = resources.emplace_back();
        of_program.reserve(program.ops.size());
        for (const workloads::Op& op : program.ops) {
            const auto* work = std::get_if<workloads::Compute>(&op.work);
            of_program.push_back(work == nullptr ? "" : resource_of(*work, rates));
        }
    }
    std::vector<Share> path = trace_critical_path(step.workload, resources, record, end);
    for (Share& share : path) {
        const auto found = std::ranges::find(kIciClasses, share.name);
        if (found != kIciClasses.end()) {
            share.name =
                kIciClasses[written.to[static_cast<std::size_t>(found - kIciClasses.begin())]];
        }
    }
    return path;
}

}  // namespace podsim::scenarios
