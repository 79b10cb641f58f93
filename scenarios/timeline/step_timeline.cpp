#include "scenarios/timeline/step_timeline.h"

#include <map>
#include <utility>
#include <vector>

#include "scenarios/timeline/chip_view.h"
#include "scenarios/timeline/exchange_tracks.h"
#include "scenarios/timeline/link_tracks.h"
#include "scenarios/timeline/memory_counter.h"
#include "scenarios/timeline/stream_tracks.h"

namespace podsim::scenarios {
namespace {

/// The two ends of each message between stages, as their chips are told of, which exchange it.
class Messages {
public:
    void add(const ChipView& view, const TrackLog& log) {
        for (std::size_t i = 0; i < view.program.ops.size(); ++i) {
            const auto* const handover =
                std::get_if<workloads::Handover>(&view.program.ops[i].work);
            const Flow::End& end = log.of(static_cast<workloads::OpIndex>(i));
            if (handover == nullptr || end.start == end.end) {
                continue;
            }
            Flow& flow = flows_[{handover->message, view.number % view.trail.programs.members()}];
            (handover->sends ? flow.from : flow.to) = end;
        }
    }

    void tell(TimelineSink& sink) const {
        for (const auto& [message, flow] : flows_) {
            if (flow.from.start < flow.from.end && flow.to.start < flow.to.end) {
                sink.flow(flow);
            }
        }
    }

private:
    std::map<std::pair<std::uint32_t, std::size_t>, Flow> flows_;
};

}  // namespace

void tell_step(const Scenario& scenario, const StepTrail& trail, Detail detail,
               TimelineSink& sink) {
    std::size_t operations = 0;
    for (const workloads::StepProgram& program : trail.programs.programs) {
        operations += program.ops.size();
    }
    const bool all = detail == Detail::all;
    OpArguments arguments(scenario, trail);
    std::vector<Flow> flows;
    Messages messages;
    for (std::size_t program = 0; program < trail.programs.programs.size(); ++program) {
        const ChipView view(scenario, trail, program, all || operations <= kOpsInFull, arguments);
        sink.process(view.process());
        TrackLog log(sink, program, view.program.ops.size());
        tell_stream(view, log);
        tell_exchanges(view, log);
        tell_links(view, all, log);
        tell_memory(view, sink);
        tell_link_use(view, sink);
        const std::vector<Flow> waits = waits_of(view, log);
        flows.insert(flows.end(), waits.begin(), waits.end());
        if (!trail.run.partners.empty()) {
            messages.add(view, log);
        }
    }
    for (const Flow& flow : flows) {
        sink.flow(flow);
    }
    messages.tell(sink);
}

}  // namespace podsim::scenarios
