#include "scenarios/load/load_served.h"

#include <filesystem>
#include <fmt/format.h>

#include "scenarios/load/load.h"
#include "scenarios/load/load_serving.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/quantity_text.h"
#include "workloads/analytic/kv_cache.h"

namespace podsim::scenarios {
namespace {

double parse_memory(const std::string& text) {
    const double share = parse_percent(text);
    if (share <= 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not above 0 % and at most 100 %", text),
                              "write a percentage such as 90 %");
    }
    return share;
}

}  // namespace

Served load_served(const std::string& path, std::span<const std::string> settings) {
    YamlNode tree = read_scenario(path);
    for (const std::string& setting : settings) {
        apply_setting(tree, setting);
    }
    Served served;
    bool own_host = false;
    served.server =
        load_server(tree, path, [&](const Reader& root, const std::filesystem::path& base) {
            const Reader serving = root["serving"];
            serving.check({}, [&] { served.serving = read_serving(serving, base); });
            served.memory = serving["cache"]["memory"].get<double>(parse_memory, 1);
            own_host = serving["host"].present();
        });
    const TrainingStep& step = served.server.step();
    if (!own_host) {
        served.serving.host = sim::round_up(sim::Seconds(served.server.hardware.efficiency.host_s));
    }
    if (served.serving.disaggregation && served.serving.disaggregation->a_token.value() == 0) {
        served.serving.disaggregation->a_token =
            workloads::cache_bytes(step.model, 1, step.plan.inference->cache_element);
    }
    return served;
}

}  // namespace podsim::scenarios
