// `podsim hlo`: what an HLO module does, and its step on a slice.
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/hlo/answer_hlo.h"
#include "scenarios/hlo/hlo_report.h"

namespace podsim::scenarios {

int command_hlo(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = hlo_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string json = output_path(options, "json");
    const std::string trace = output_path(options, "trace");
    refuse_dash("--trace", trace);
    const HloAnswer answer = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_hlo(options, watch);
    }();
    if (json != "-") {
        const HloRequest& request = answer.request;
        out << shown(answer.result ? hlo_report(request, *answer.result, answer.wall_time_s)
                                   : totals_report(request.input, answer.totals),
                     look_of(out));
    }
    if (!trace.empty() && answer.result) {
        write_timeline(answer, trace);
    }
    if (!json.empty()) {
        write_json(answer_json(answer), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
