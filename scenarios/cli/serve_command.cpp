// `podsim serve`: requests on servers of simulated inference steps.
#include <algorithm>
#include <fmt/format.h>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "scenarios/load/load_served.h"
#include "scenarios/serve_report/serving_json.h"
#include "scenarios/serve_report/serving_run.h"
#include "scenarios/serve_report/serving_text.h"
#include "scenarios/served/server_memory.h"
#include "scenarios/served/simulated_step_times.h"
#include "scenarios/study/within_clock.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage(
        "serve FILE.yaml [--set key=value]... [--requests] [--json PATH|-]",
        "Serves the requests of a scenario on its simulated chips, and reports latencies, rates "
        "and "
        "queues.\n"
        "Every step of the servers is simulated, on a grid of batches and contexts or exactly.",
        "podsim serve scenarios/examples/serve-llama3-8b-v5e.yaml --set 'serving.rate=8 "
        "requests/s'",
        "The scenario has model, hardware and mesh as those of podsim run, inference for what "
        "weights "
        "and cache are\n"
        "kept in, and serving: podsim run --help lists their keys.\n");
    usage.values("set", "override one value of the scenario; may be repeated");
    usage.flag("requests", "with --json: the times of every request");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE.yaml", 1);
    return usage;
}

/// Pages of a server, where the file leaves them to its memory.
void fill_pages(Served& served) {
    ServingSpec& spec = served.serving;
    if (spec.cache.pages) {
        return;
    }
    std::int64_t longest = 1;
    for (const Request& request : draw_requests(spec.load)) {
        longest = std::max(longest, request.prompt);
    }
    const bool chunked = spec.batching.kind == BatchingKind::chunked;
    const std::int64_t tokens =
        cached_tokens_that_fit(served.server, chunked ? spec.batching.budget : longest,
                               chunked ? spec.batching.slots : 1, served.memory);
    spec.cache.pages = tokens / spec.cache.page;
    if (*spec.cache.pages == 0) {
        throw sim::InputError("the weights and a step leave no memory for a page of cache",
                              "use more chips, or narrower weights (inference.weights)")
            .at({served.server.file, 0, 0});
    }
}

}  // namespace

int command_serve(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file", "usage: podsim serve FILE.yaml");
    }
    const std::string json = output_path(options, "json");
    if (options.is_set("requests") && json.empty()) {
        throw sim::InputError("--requests adds to the JSON", "write --json with it");
    }
    Served served = load_served(files.front(), options.all("set"));
    fill_pages(served);
    SimulatedStepTimes steps(served.server);
    const std::int64_t servers = served.serving.disaggregation
                                     ? served.serving.disaggregation->prefill_servers +
                                           served.serving.disaggregation->generate_servers
                                     : 1;
    const ServingRun run = within_clock(served.server.file, [&] {
        return run_serving(served.server.name, servers * served.server.hardware.chips(),
                           served.serving, {.steps = &steps});
    });
    if (json != "-") {
        out << serving_text(run);
    }
    if (!json.empty()) {
        write_json(serving_json(run, options.is_set("requests")), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
