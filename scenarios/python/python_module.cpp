// The extension module `podsim._podsim`: commands by their options, results as the text of their JSON.
// podsim/__init__.py is what users see.
#include <filesystem>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <unordered_map>
#include <vector>

#include "scenarios/commands/answer_collective.h"
#include "scenarios/commands/answer_compare.h"
#include "scenarios/commands/answer_run.h"
#include "scenarios/commands/answer_serve.h"
#include "scenarios/commands/answer_sweep.h"
#include "scenarios/commands/report_option.h"
#include "scenarios/commands/run_report.h"
#include "scenarios/console/output.h"
#include "scenarios/page/collective_page.h"
#include "scenarios/page/compare_page.h"
#include "scenarios/python/background_watch.h"
#include "scenarios/python/python_arguments.h"
#include "scenarios/python/python_errors.h"
#include "scenarios/python/writing_functions.h"
#include "scenarios/report/collective_json.h"
#include "scenarios/simulate/within_clock.h"
#include "scenarios/study/compare_table.h"

namespace podsim::scenarios {
namespace {

namespace py = pybind11;

/// Texts of which few differ, each made once.
class Texts {
public:
    void add(const std::string& text) {
        const auto found = known_.find(text);
        all_.append(found != known_.end() ? found->second
                                          : known_.emplace(text, py::str(text)).first->second);
    }
    [[nodiscard]] const py::list& all() const { return all_; }

private:
    std::unordered_map<std::string, py::str> known_;
    py::list all_;
};

/// Names and tracks as lists, starts and ends as 64-bit numbers of picoseconds.
py::tuple arrays_of_spans(const RunAnswer& answer) {
    Texts names;
    Texts tracks;
    std::string starts;
    std::string ends;
    const auto add = [](std::string& bytes, sim::Time time) {
        bytes.append(reinterpret_cast<const char*>(&time.ps), sizeof time.ps);
    };
    if (const auto* const step = std::get_if<StepResult>(&answer.result)) {
        for (const Span& span : spans_of(step->reported_chip)) {
            names.add(span.name);
            tracks.add(span.track);
            add(starts, span.start);
            add(ends, span.end);
        }
    }
    return py::make_tuple(names.all(), tracks.all(), py::bytes(starts), py::bytes(ends));
}

py::tuple call_run(const Options& texts, const py::object& scenario, const py::object& progress) {
    const Usage options = parsed(run_usage(), texts);
    const ScenarioSource source = source_of(scenario);
    const std::string trace = trace_path(options);
    const std::string report = report_path(options);
    BackgroundWatch watch(progress);
    std::optional<RunAnswer> answer;
    std::string json;
    watch.run([&] {
        answer = answer_run(options, source, watch);
        json = json_line(answer_json(*answer));
        write_trace(*answer, trace, trace_detail(options));
        write_run_report(*answer, options, source, report);
    });
    return py::make_tuple(json, arrays_of_spans(*answer));
}

std::string call_serve(const Options& texts, const py::object& scenario,
                       const py::object& progress) {
    const Usage options = parsed(serve_usage(), texts);
    const ScenarioSource source = source_of(scenario);
    BackgroundWatch watch(progress);
    std::string json;
    watch.run(
        [&] { json = json_line(answer_json(options, answer_serve(options, source, &watch))); });
    return json;
}

std::string call_compare(const Options& texts, const py::list& scenarios,
                         const py::object& progress) {
    const Usage options = parsed(compare_usage(), texts);
    const std::vector<ScenarioSource> named = sources_of(scenarios);
    BackgroundWatch watch(progress);
    std::string json;
    const std::string report = report_path(options);
    watch.run([&] {
        const std::vector<Comparison> rows = answer_compare(options, named, &watch);
        const Json result = compare_json(rows);
        if (!report.empty()) {
            write_report(compare_page(rows, result), report);
        }
        json = json_line(result);
    });
    return json;
}

std::string call_collective(const Options& texts, const py::object& progress) {
    const Usage options = parsed(collective_usage(), texts);
    const std::string csv = csv_path(options);
    refuse_dash("--csv", csv);
    const std::string report = report_path(options);
    BackgroundWatch watch(progress);
    std::string json;
    watch.run([&] {
        const CollectiveAnswer answer =
            within_clock("--bytes " + printable(options.get("bytes")),
                         [&] { return answer_collective(options, watch); });
        if (!csv.empty()) {
            write_file("--csv", csv, size_sweep_csv(answer.runs));
        }
        const Json result = answer_json(answer);
        if (!report.empty()) {
            write_report(collective_page(answer.runs, result), report);
        }
        json = json_line(result);
    });
    return json;
}

/// `varied`: texts as --vary has them, or (key, texts of the values). The lines that this call adds, and the settings in
/// their order.
py::tuple call_sweep(const Options& texts, const py::object& scenario, const py::list& varied,
                     const py::object& progress) {
    const Usage options = parsed(sweep_usage(), texts);
    if (options.has("jsonl")) {
        refuse_dash("--jsonl", options.get("jsonl"));
    }
    const ScenarioSource source = source_of(scenario);
    std::vector<Varied> keys;
    for (const py::handle& key : varied) {
        keys.push_back(py::isinstance<py::tuple>(key)
                           ? varied_of(key.cast<py::tuple>()[0].cast<std::string>(),
                                       key.cast<py::tuple>()[1].cast<Options>())
                           : parse_varied(key.cast<std::string>()));
    }
    BackgroundWatch watch(progress);
    std::vector<std::string> lines;
    std::vector<std::size_t> order;
    std::vector<std::string> warnings;
    watch.run([&] {
        SweepCall call(options, source, std::move(keys), &watch);
        call.take_up_record();
        warnings = call.record_warnings();
        refuse_dash("--csv", call.csv());
        call.run([&](const SweepLine& line) { lines.push_back(line.text); }, [] { return false; });
        call.sort();
        if (!call.csv().empty()) {
            write_file("--csv", call.csv(), sweep_results_csv(call.rows(), call.sweep()));
        }
        call.write_page();
        for (const SweepRow& row : call.rows()) {
            order.push_back(row.index);
        }
    });
    for (const std::string& warning : warnings) {
        if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1) != 0) {
            throw py::error_already_set();
        }
    }
    return py::make_tuple(lines, order);
}

}  // namespace

// NOLINTNEXTLINE: what the macro writes
PYBIND11_MODULE(_podsim, module) {
    module.doc() = "podsim's commands, by the options of the command line. Import podsim instead.";
    module.attr("version") = PODSIM_VERSION;
    translate_errors();
    module.def("run", &call_run);
    module.def("serve", &call_serve);
    module.def("compare", &call_compare);
    module.def("collective", &call_collective);
    module.def("sweep", &call_sweep);
    define_writing(module);
}

}  // namespace podsim::scenarios
