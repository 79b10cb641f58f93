#include "scenarios/python/writing_functions.h"

#include <functional>

#include "scenarios/commands/answer_search.h"
#include "scenarios/describe/hf_report.h"
#include "scenarios/describe/maxtext_report.h"
#include "scenarios/describe/shown_scenario.h"
#include "scenarios/guide/guide.h"
#include "scenarios/import/maxtext_import.h"
#include "scenarios/judge/check.h"
#include "scenarios/judge/draft.h"
#include "scenarios/judge/estimate.h"
#include "scenarios/python/background_watch.h"
#include "scenarios/python/python_arguments.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

namespace py = pybind11;

/// The text of what make() gives, made while other threads of Python run.
std::string json_apart(const std::function<Json()>& make) {
    BackgroundWatch watch(py::none{});
    std::string json;
    watch.run([&] { json = json_line(make()); });
    return json;
}

std::string call_show(const Options& texts, const py::object& scenario) {
    const Usage options = parsed(show_usage(), texts);
    const ScenarioSource source = source_of(scenario);
    return json_apart([&] { return shown_json(show_scenario(source, options.all("set"))); });
}

std::string call_check(const Options& texts, const py::list& scenarios) {
    const Usage options = parsed(check_usage(), texts);
    const std::vector<ScenarioSource> named = sources_of(scenarios);
    BackgroundWatch watch(py::none{});
    std::string json;
    watch.run([&] {
        std::vector<Checked> checked;
        for (const ScenarioSource& source : files_to_check(named)) {
            tell(&watch, Phase::building);
            checked.push_back(check(source, options.all("set"), &watch));
        }
        json = json_line(check_json(checked));
    });
    return json;
}

std::string call_estimate(const Options& texts, const py::object& scenario) {
    const Usage options = parsed(estimate_usage(), texts);
    const ScenarioSource source = source_of(scenario);
    return json_apart([&] {
        const Scenario step = estimated_scenario(options, source);
        return estimate_json(step, estimate_step(step));
    });
}

/// The text, and whether it fits.
py::tuple call_init(const Options& texts) {
    const Usage options = parsed(init_usage(), texts);
    BackgroundWatch watch(py::none{});
    Draft draft;
    watch.run([&] { draft = answer_init(options); });
    return py::make_tuple(draft.text, draft.fits);
}

std::string call_search(const Options& texts, const py::object& scenario,
                        const py::object& progress) {
    const Usage options = parsed(search_usage(), texts);
    const ScenarioSource source = source_of(scenario);
    const SearchPaths paths = search_paths(options);
    BackgroundWatch watch(progress);
    std::string json;
    watch.run([&] {
        const SearchSpace space = search_space(options, source);
        const SearchAnswer answer = answer_search(
            options, space, &watch, [&] { return watch.stop_token().stop_requested(); });
        json = json_line(search_json(space, answer));
        write_plans(paths.write, space, answer);
    });
    return json;
}

std::string call_import_maxtext(const std::string& path, const Options& overrides) {
    return json_apart([&] {
        MaxTextSettings settings(maxtext_tree(read_text_file(path), path), overrides);
        return maxtext_json(settings, import_maxtext(settings, "imported"));
    });
}

std::string call_import_hf(const std::string& path) {
    return json_apart([&] { return hf_json(workloads::read_hf_config_fully(path)); });
}

}  // namespace

void define_writing(py::module_& module) {
    module.def("show", &call_show);
    module.def("check", &call_check);
    module.def("estimate", &call_estimate);
    module.def("init", &call_init);
    module.def("search", &call_search);
    module.def("import_maxtext", &call_import_maxtext);
    module.def("import_hf", &call_import_hf);
}

}  // namespace podsim::scenarios
