#include "scenarios/python/python_arguments.h"

namespace podsim::scenarios {

namespace py = pybind11;

Usage parsed(Usage usage, const Options& options) {
    usage.parse(options);
    return usage;
}

ScenarioSource source_of(const py::handle& given) {
    if (!py::isinstance<py::tuple>(given)) {
        return {given.cast<std::string>()};
    }
    const auto text = given.cast<py::tuple>();
    return handed_over(text[0].cast<std::string>(), text[1].cast<std::string>(),
                       text[2].cast<std::string>(), text[3].cast<bool>());
}

std::vector<ScenarioSource> sources_of(const py::list& given) {
    std::vector<ScenarioSource> sources;
    for (const py::handle& each : given) {
        sources.push_back(source_of(each));
    }
    return sources;
}

}  // namespace podsim::scenarios
