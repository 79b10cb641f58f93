#include "scenarios/src/simulate/run_step.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "scenarios/src/simulate/both_observers.h"
#include "scenarios/src/simulate/partners.h"
#include "sim/executor/executor.h"
#include "sim/workload/carried_in_all.h"

namespace podsim::scenarios {

sim::Time work_of(const sim::TaskGraph& graph) {
    sim::Time sum;
    for (const sim::Task& task : graph.tasks) {
        sum += task.operation == sim::kNoOperation ? task.duration : sim::Time{};
    }
    return sum;
}

namespace {

/// Records the spans of the representatives; among mirror images, those of the first.
class SpanRecorder : public sim::Observer {
public:
    SpanRecorder(const LoweredStep& step, const RunOptions& options)
        : step_(step), options_(options), chip_(step.workload.machine.places, kNotKept) {
        chips_.resize(static_cast<std::size_t>(step.layout.folded.size()));
        streams_.resize(chips_.size());
        for (int chip = 0; chip < step.layout.folded.size(); ++chip) {
            const std::size_t place = step.layout.place_of(chip);
            if (chip_[place] != kNotKept) {
                continue;  // a mirror image
            }
            chip_[place] = static_cast<std::uint32_t>(chip);
            const std::size_t tasks = graph_at(place).tasks.size();
            streams_[static_cast<std::size_t>(chip)].left = work_of(graph_at(place));
            ChipRun& run = chips_[static_cast<std::size_t>(chip)];
            run.representative = chip;
            run.began.resize(tasks);
            run.ended.resize(tasks);
            run.sent.resize(tasks);
            ++kept_;
        }
        starts_.assign(options.times_left.size(), {sim::Time::max(), kept_});
        note_groups();
        const sim::Machine& machine = step.workload.machine;
        if (options.longest < sim::Time::max() && machine.index_at_shared.empty() &&
            !machine.isolated_operations) {
            to_carry_ = sim::carried_in_all(step.workload);
            ends_with_links({}, {});
            end_early();
        }
    }

    [[nodiscard]] bool watches_hops() const override {
        for (std::size_t i = 0; i < step_.handovers.size(); ++i) {
            if (is_handover(sim::OperationId(i))) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool counts_links() const override { return !to_carry_.empty(); }

    /// Throws std::logic_error if the step ends before its lower bound, since that would put all
    /// runs that are ended early in doubt.
    void check_end(sim::Time end) const {
        if (at_least_ > end) {
            throw std::logic_error(fmt::format("the step ends at {} ps, and was sure to take {} ps",
                                               end.ps, at_least_.ps));
        }
    }

    void reached(const sim::Reached& reached) override {
        tell_reached(options_.watch, reached);
        for (const Stream& stream : streams_) {
            at_least_ = std::max(at_least_, stream.ended + stream.left);
        }
        if (!to_carry_.empty()) {
            ends_with_links(reached.now, reached.links);
        }
        end_early();
    }

    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override {
        if (!wanted_.empty()) {
            begun_by(place.index(), task.index(), began);
        }
        const sim::Task& done = graph_at(place.index()).tasks[task.index()];
        if (done.operation != sim::kNoOperation && is_ring_step(sim::OperationId(done.operation))) {
            sent_by(place.index(), done.operation, began);
        }
        const std::uint32_t chip = chip_[place.index()];
        if (chip == kNotKept) {
            return;
        }
        chips_[chip].began[task.index()] = began;
        sim::Time& ended = chips_[chip].ended[task.index()];
        ended = std::max(ended, now);
        if (done.operation == sim::kNoOperation) {
            Stream& stream = streams_[chip];
            stream.ended = std::max(stream.ended, now);
            stream.left = stream.left - done.duration;
        }
        if (!starts_.empty()) {
            // A chip that begins before others may end after them: the first start is known once
            // all have ended.
            Start& start = starts_[task.index()];
            start.first = std::min(start.first, began);
            if (--start.open == 0) {
                at_least_ = std::max(at_least_, start.first + options_.times_left[task.index()]);
            }
        }
    }

    void transfer_arrived(sim::OperationId operation, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t /*transfer*/, sim::Time now) override {
        if (!is_handover(operation)) {
            return;
        }
        const std::uint32_t to = chip_[destination.index()];
        const LoweredStep::HandoverEnds& ends = step_.handovers[operation.index()];
        if (const std::uint32_t chip = chip_[source.index()]; chip != kNotKept) {
            chips_[chip].ended[ends.sends] = now;
        }
        if (to != kNotKept) {
            chips_[to].sent[ends.receives] = let_go_.at({operation, source});
        }
    }

    void transfer_fired(sim::OperationId operation, sim::PlaceId source, std::uint32_t /*transfer*/,
                        sim::Time now) override {
        if (is_handover(operation)) {
            let_go_.try_emplace({operation, source}, now);
        }
    }

    /// The chip of a simulated place.
    [[nodiscard]] std::uint32_t chip_at(std::uint32_t place) const { return chip_[place]; }
    [[nodiscard]] ChipRun of(int chip) const { return chips_[static_cast<std::size_t>(chip)]; }
    [[nodiscard]] ChipRun take(int chip) {
        return std::move(chips_[static_cast<std::size_t>(chip)]);
    }

    /// Sets the times at which the last member of a chip's group began a collective of programs of
    /// unequal work.
    void wait_for_groups(const std::vector<int>& chips) {
        if (wanted_.empty()) {
            return;
        }
        for (const int one : chips) {
            const std::size_t place = step_.layout.place_of(one);
            ChipRun& chip = chips_[static_cast<std::size_t>(one)];
            for (std::size_t task = 0; task < graph_at(place).tasks.size(); ++task) {
                const std::uint32_t groups = groups_of(place, task);
                if (groups < step_.groups.size()) {
                    const std::uint32_t operation = graph_at(place).tasks[task].operation;
                    chip.sent[task] = last_began_.at(
                        {operation, step_.groups[groups][step_.layout.unmirrored(one)]});
                }
            }
        }
    }

    static constexpr std::uint32_t kNotKept = 0xffffffff;

private:
    [[nodiscard]] const sim::TaskGraph& graph_at(std::size_t place) const {
        return step_.workload.graphs[step_.workload.graph_of_place[place]];
    }
    void end_early() const {
        if (at_least_ > options_.longest) {
            throw TakesLonger(at_least_);
        }
    }
    /// Raises the lower bound of the end: no link carries its remaining bytes faster than its rate.
    /// `so_far` is [place][port]; empty at the beginning.
    void ends_with_links(sim::Time now, std::span<const sim::LinkTotals> so_far) {
        constexpr double kSure = 1 - 1e-9;  // allows for sums of rounded bytes
        const std::vector<sim::LinkSpec>& links = step_.workload.machine.links;
        double longest = 0;
        for (std::size_t link = 0; link < links.size(); ++link) {
            const std::int64_t units =
                to_carry_[link] - (so_far.empty() ? 0 : so_far[link].carried_units);
            longest = std::max(
                longest, static_cast<double>(units) / sim::kCarriedUnit / links[link].rate.value());
        }
        at_least_ = std::max(
            at_least_,
            now + sim::Time{static_cast<std::int64_t>(std::floor(longest * 1e12 * kSure))});
    }
    [[nodiscard]] bool is_handover(sim::OperationId operation) const {
        return step_.handovers[operation.index()].sends != workloads::kWholeStep;
    }

    /// Returns the index of the groups of a task's collective, or a value beyond all indices if it
    /// has none.
    [[nodiscard]] std::uint32_t groups_of(std::size_t place, std::size_t task) const {
        const std::uint32_t operation = graph_at(place).tasks[task].operation;
        return operation == sim::kNoOperation ? LoweredStep::kNoGroups
                                              : step_.groups_of_operation[operation];
    }

    /// For programs of unequal work, notes the groups of the kept chips and the places for which a
    /// simulated place stands.
    void note_groups() {
        if (step_.groups.empty()) {
            return;
        }
        const Layout& layout = step_.layout;
        images_.resize(step_.workload.machine.places);
        for (int place = 0; place < layout.places.size(); ++place) {
            const auto one = static_cast<std::size_t>(place);
            images_[layout.mirrored ? layout.mirrored->place[one] : one].push_back(
                static_cast<std::uint32_t>(place));
        }
        for (const std::vector<std::uint32_t>& groups : step_.groups) {
            std::set<std::uint32_t>& wanted = wanted_.emplace_back();
            for (const std::uint32_t chip : chip_) {
                if (chip != kNotKept) {
                    wanted.insert(groups[layout.unmirrored(static_cast<int>(chip))]);
                }
            }
        }
    }

    /// Notes the start of a collective at a member. Every member counts, kept or not: its mirror
    /// images have begun, too.
    void begun_by(std::size_t place, std::size_t task, sim::Time began) {
        const std::uint32_t groups = groups_of(place, task);
        if (groups >= step_.groups.size()) {
            return;
        }
        for (const std::uint32_t image : images_[place]) {
            const std::uint32_t group = step_.groups[groups][image];
            if (wanted_[groups].contains(group)) {
                sim::Time& last = last_began_[{graph_at(place).tasks[task].operation, group}];
                last = std::max(last, began);
            }
        }
    }

    [[nodiscard]] bool is_ring_step(sim::OperationId operation) const {
        return step_.groups_of_operation[operation.index()] == LoweredStep::kRingStep;
    }

    /// Notes that the messages of a ring step are ready: they leave when it begins at their sender.
    void sent_by(std::size_t place, std::uint32_t operation, sim::Time began) {
        for (const std::uint32_t to : receivers_of(operation)[place]) {
            if (chip_[to] != kNotKept) {
                chips_[chip_[to]].sent[task_of(to, sim::OperationId(operation))] = began;
            }
        }
    }

    /// Returns the receivers of each place in a ring step, by [place].
    const std::vector<std::vector<std::uint32_t>>& receivers_of(std::uint32_t operation) {
        const sim::Workload& workload = step_.workload;
        const sim::OperationSpec& spec = workload.operations[operation];
        const auto [entry, added] = receivers_.try_emplace({spec.schedule, spec.placement});
        if (added) {
            entry->second = scenarios::receivers_of(workload, spec);
        }
        return entry->second;
    }

    /// Returns the task of a ring step at a place.
    std::size_t task_of(std::size_t place, sim::OperationId operation) {
        const std::uint32_t graph = step_.workload.graph_of_place[place];
        std::vector<std::size_t>& tasks = task_of_[graph];
        if (tasks.empty()) {
            tasks.resize(step_.workload.operations.size());
            const std::vector<sim::Task>& all = step_.workload.graphs[graph].tasks;
            for (std::size_t task = 0; task < all.size(); ++task) {
                if (all[task].operation != sim::kNoOperation) {
                    tasks[all[task].operation] = task;
                }
            }
        }
        return tasks[operation.index()];
    }

    /// A chip's compute stream: the end of its last computation, and its remaining compute.
    struct Stream {
        sim::Time ended{};
        sim::Time left{};
    };

    /// Starts of an operation on the chips.
    struct Start {
        sim::Time first;
        int open = 0;  ///< chips that have not ended it
    };

    const LoweredStep& step_;
    const RunOptions options_;
    int kept_ = 0;               ///< number of kept chips
    std::vector<Start> starts_;  ///< by operation, if times left are given
    sim::Time at_least_{};       ///< lower bound of the step's end
    /// sim::carried_in_all, for a run that may be ended early.
    std::vector<std::int64_t> to_carry_;
    std::vector<Stream> streams_;      ///< by chip; empty for those that are not kept
    std::vector<std::uint32_t> chip_;  ///< [place]
    std::map<std::uint32_t, std::vector<std::size_t>> task_of_;  ///< [graph][operation]
    std::vector<ChipRun> chips_;
    std::vector<std::vector<std::uint32_t>> images_;  ///< [simulated place]: places of the layout
    std::vector<std::set<std::uint32_t>> wanted_;     ///< [groups]: groups of the kept chips
    /// By operation and group.
    std::map<std::pair<std::uint32_t, std::uint32_t>, sim::Time> last_began_;
    /// By schedule and placement of a ring step.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::vector<std::uint32_t>>>
        receivers_;
    /// The time at which the first message of a handover was ready to leave its sender.
    std::map<std::pair<sim::OperationId, sim::PlaceId>, sim::Time> let_go_;
};

/// Returns, by program, the chip that exchanges messages with that of the reported stage; empty if
/// one program has none.
std::vector<int> partner_chips(const LoweredStep& step, const SpanRecorder& recorder,
                               const std::vector<int>& last, std::size_t reported) {
    std::vector<std::uint32_t> places;
    for (const int chip : last) {
        places.push_back(static_cast<std::uint32_t>(step.layout.place_of(chip)));
    }
    std::vector<int> chips;
    for (const std::uint32_t place : partners_of(step, reported / step.members, places)) {
        const std::uint32_t chip =
            place == sim::kNoPlace ? SpanRecorder::kNotKept : recorder.chip_at(place);
        if (chip == SpanRecorder::kNotKept) {
            return {};
        }
        chips.push_back(static_cast<int>(chip));
    }
    return chips;
}

}  // namespace

StepRun run_step(const LoweredStep& step, const RunOptions& options) {
    SpanRecorder recorder(step, options);
    StepRun run;
    if (options.beside != nullptr) {
        BothObservers both(recorder, *options.beside);
        run.result = sim::execute(step.workload, &both, options.reuse);
    } else {
        run.result = sim::execute(step.workload, &recorder, options.reuse);
    }
    recorder.check_end(run.result.end);
    const std::size_t programs = step.workload.graphs.size();
    std::vector<int> last(programs, -1);
    const auto end_of = [&](int chip) {
        return run.result.end_of_place[step.layout.place_of(chip)];
    };
    for (int chip = 0; chip < step.layout.folded.size(); ++chip) {
        int& latest = last[step.workload.graph_of_place[step.layout.place_of(chip)]];
        if (latest < 0 || end_of(chip) > end_of(latest)) {
            latest = chip;
        }
    }
    recorder.wait_for_groups(last);
    for (std::size_t program = 0; program < programs; ++program) {
        if (end_of(last[program]) > end_of(last[run.program])) {
            run.program = program;
        }
    }
    if (options.partners && programs > step.members) {
        const std::vector<int> partners = partner_chips(step, recorder, last, run.program);
        recorder.wait_for_groups(partners);
        for (const int chip : partners) {
            run.partners.push_back(recorder.of(chip));
        }
    }
    for (const int chip : last) {
        run.chips.push_back(recorder.take(chip));
    }
    const std::size_t first = run.program / step.members * step.members;
    for (std::size_t program = first; program < first + step.members; ++program) {
        if (work_of(step.workload.graphs[program]) > work_of(step.workload.graphs[run.program])) {
            run.program = program;
        }
    }
    return run;
}

}  // namespace podsim::scenarios
