// Reads settings (--set), one a line, on a small scenario,
// and each as a varied setting of a sweep (--vary).
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/study/sweep.h"
#include "sim/base/error.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace podsim;

const std::string kFuzzed =
    "name: small\n"
    "hardware: {chip: v5p, slice: 2x2x2}\n"
    "model: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 32Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

void check(const sim::InputError& error) {
    for (const sim::InputError& each : sim::errors_in(error)) {
        fuzz::must(!each.problem().empty());
        fuzz::must(!each.mark().file.empty());
    }
}

void set(const std::vector<std::string>& settings) {
    try {
        const auto source = scenarios::handed_over("/nowhere", "fuzz.yaml", kFuzzed, true);
        static_cast<void>(scenarios::load_scenario(source, settings, scenarios::Requests::any));
    } catch (const sim::InputError& error) {
        check(error);
    }
}

void vary(const std::string& text) {
    try {
        const scenarios::Varied varied = scenarios::parse_varied(text);
        fuzz::must(!varied.values.empty() && varied.values.size() == varied.texts.size());
    } catch (const sim::InputError& error) {
        check(error);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text = fuzz::text_of(data, size);
    std::vector<std::string> settings;
    while (!text.empty() && settings.size() < 16) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        settings.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        vary(settings.back());
    }
    set(settings);
    return 0;
}
