// Running a lowered step, and what its chips did when.
#include <algorithm>
#include <map>
#include <utility>

#include "scenarios/step_lowering.h"

namespace podsim::scenarios {
namespace {

/// Keeps the spans of the representatives, and passes everything on to another observer, if there is one.
class SpanRecorder : public sim::Observer {
public:
    SpanRecorder(const LoweredStep& step, sim::Observer* also)
        : step_(step), also_(also), chip_(step.workload.machine.places, kNotKept) {
        chips_.resize(static_cast<std::size_t>(step.layout.folded.size()));
        for (int chip = 0; chip < step.layout.folded.size(); ++chip) {
            const std::size_t place = step.layout.place_of(chip);
            chip_[place] = static_cast<std::uint32_t>(chip);
            const std::size_t tasks =
                step.workload.graphs[step.workload.graph_of_place[place]].tasks.size();
            ChipRun& run = chips_[static_cast<std::size_t>(chip)];
            run.representative = chip;
            run.began.resize(tasks);
            run.ended.resize(tasks);
            run.sent.resize(tasks);
        }
    }

    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override {
        if (also_ != nullptr) {
            also_->task_ended(place, task, began, now);
        }
        const std::uint32_t chip = chip_[place.index()];
        if (chip == kNotKept) {
            return;
        }
        chips_[chip].began[task.index()] = began;
        sim::Time& ended = chips_[chip].ended[task.index()];
        ended = std::max(ended, now);
    }

    void transfer_arrived(sim::OperationId operation, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override {
        if (also_ != nullptr) {
            also_->transfer_arrived(operation, source, destination, transfer, now);
        }
        if (!is_handover(operation)) {
            return;
        }
        const LoweredStep::HandoverEnds& ends = step_.handovers[operation.index()];
        if (const std::uint32_t chip = chip_[source.index()]; chip != kNotKept) {
            chips_[chip].ended[ends.sends] = now;
        }
        if (const std::uint32_t chip = chip_[destination.index()]; chip != kNotKept) {
            chips_[chip].sent[ends.receives] = let_go_.at({operation, source});
        }
    }

    void transfer_fired(sim::OperationId operation, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override {
        if (also_ != nullptr) {
            also_->transfer_fired(operation, source, transfer, now);
        }
        if (is_handover(operation)) {
            let_go_.try_emplace({operation, source}, now);
        }
    }

    void link_held(const sim::Holding& holding) override {
        if (also_ != nullptr) {
            also_->link_held(holding);
        }
    }

    void repeated(sim::Time from, sim::Time period, std::uint32_t operations,
                  std::uint32_t repeats) override {
        if (also_ != nullptr) {
            also_->repeated(from, period, operations, repeats);
        }
    }

    [[nodiscard]] ChipRun take(int chip) {
        return std::move(chips_[static_cast<std::size_t>(chip)]);
    }

private:
    static constexpr std::uint32_t kNotKept = 0xffffffff;

    [[nodiscard]] bool is_handover(sim::OperationId operation) const {
        return step_.handovers[operation.index()].sends != workloads::kWholeStep;
    }

    const LoweredStep& step_;
    sim::Observer* also_;
    std::vector<std::uint32_t> chip_;  ///< [place]
    std::vector<ChipRun> chips_;
    /// When a handover's first message was ready to leave its sender.
    std::map<std::pair<sim::OperationId, sim::PlaceId>, sim::Time> let_go_;
};

}  // namespace

StepRun run_step(const LoweredStep& step, bool reuse, sim::Observer* also) {
    SpanRecorder recorder(step, also);
    StepRun run;
    run.result = sim::execute(step.workload, &recorder, reuse);
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
    for (std::size_t program = 0; program < programs; ++program) {
        if (end_of(last[program]) > end_of(last[run.program])) {
            run.program = program;
        }
        run.chips.push_back(recorder.take(last[program]));
    }
    return run;
}

}  // namespace podsim::scenarios
