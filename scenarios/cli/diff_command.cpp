// `podsim diff`: two steps side by side.
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_diff.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/difference/difference_report.h"

namespace podsim::scenarios {

int command_diff(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = diff_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string json = output_path(options, "json");
    const StepDifference difference = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_diff(options, watch);
    }();
    if (json != "-") {
        out << shown(difference_text(difference, options.is_set("verbose")), look_of(out));
    }
    if (!json.empty()) {
        write_json(difference_json(difference), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
