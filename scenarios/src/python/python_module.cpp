// The extension module `podsim._podsim`: commands by their options, results as JSON text. Users
// import podsim/__init__.py instead.
#include <filesystem>
#include <functional>
#include <new>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/cli/answer_search.h"
#include "scenarios/src/cli/answer_sweep.h"
#include "scenarios/src/cli/check.h"
#include "scenarios/src/cli/collective_command.h"
#include "scenarios/src/cli/compare_command.h"
#include "scenarios/src/cli/estimate.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/report_option.h"
#include "scenarios/src/cli/run_command.h"
#include "scenarios/src/cli/serve_command.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_report.h"
#include "scenarios/src/python/background_watch.h"
#include "scenarios/src/report/collective_json.h"
#include "scenarios/src/report/collective_page.h"
#include "scenarios/src/scenario/hf_report.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/scenario/shown_scenario.h"
#include "scenarios/src/simulate/within_clock.h"
#include "scenarios/src/study/compare_page.h"
#include "scenarios/src/study/compare_table.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using Options = std::vector<std::string>;

namespace py = pybind11;

/// Returns a command's parsed options. Throws sim::InputError.
Usage parsed(Usage usage, const Options& options) {
    usage.parse(options);
    return usage;
}

/// Converts a path, or (folder, name, text, has_lines).
ScenarioSource source_of(const py::handle& given) {
    if (!py::isinstance<py::tuple>(given)) {
        return {given.cast<std::string>()};
    }
    const auto text = given.cast<py::tuple>();
    return handed_over(text[0].cast<std::string>(), text[1].cast<std::string>(),
                       text[2].cast<std::string>(), text[3].cast<bool>());
}

/// Converts each of a list.
std::vector<ScenarioSource> sources_of(const py::list& given) {
    std::vector<ScenarioSource> sources;
    for (const py::handle& each : given) {
        sources.push_back(source_of(each));
    }
    return sources;
}

namespace py = pybind11;

/// Returns the JSON text of make(), which runs while other Python threads go on.
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

/// Returns the text, and true if the step fits.
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

/// Adds the functions to the module.
void define_writing(py::module_& module) {
    module.def("show", &call_show);
    module.def("check", &call_check);
    module.def("estimate", &call_estimate);
    module.def("init", &call_init);
    module.def("search", &call_search);
    module.def("import_maxtext", &call_import_maxtext);
    module.def("import_hf", &call_import_hf);
}

namespace py = pybind11;

/// Raises an exception of podsim/_errors.py.
template <class Argument>
void raise(const char* name, const Argument& argument) {
    const py::object type = py::module_::import("podsim._errors").attr(name);
    const py::object error = type(argument);
    PyErr_SetObject(type.ptr(), error.ptr());
}

/// Returns a text as Python's str; the bytes of a file name need not be UTF-8.
py::object text(const std::string& bytes) {
    return py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<py::ssize_t>(bytes.size()), "backslashreplace"));
}

py::object number(int value) {
    return value > 0 ? py::object(py::int_(value)) : py::object(py::none());
}

void raise_faults(const sim::InputError& error) {
    py::list faults;
    for (const sim::InputError& each : sim::errors_in(error)) {
        const sim::SourceMark& mark = each.mark();
        const std::string message =
            each.problem() + (each.remedy().empty() ? "" : "; " + each.remedy());
        faults.append(py::make_tuple(text(one_line(mark.file)), number(mark.line),
                                     number(mark.column), text(one_line(message))));
    }
    raise("ScenarioError", faults);
}

void translate(std::exception_ptr failure) {
    try {
        std::rethrow_exception(std::move(failure));
    } catch (const py::builtin_exception&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const sim::InputError& error) {
        raise_faults(error);
    } catch (const sim::TimeOverflow& error) {
        raise_faults(clock_error("", error));
    } catch (const std::system_error& error) {
        // A file has disappeared, or a thread cannot be started.
        PyErr_SetObject(PyExc_OSError,
                        py::make_tuple(error.code().value(), text(error.what())).ptr());
    } catch (const std::exception& error) {
        raise("InternalError", text(error.what()));
    }
}

/// Translates exceptions that functions of this module throw from now on:
///   sim::InputError                   podsim.ScenarioError, with each fault
///   sim::TimeOverflow                 the same
///   std::filesystem::filesystem_error OSError
///   std::bad_alloc                    MemoryError
///   any other std::exception          podsim.InternalError
void translate_errors() {
    py::register_local_exception_translator(&translate);
}

namespace py = pybind11;

/// A list of texts with few different ones; each of these becomes one str.
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

/// Returns names and tracks as lists, starts and ends as 64-bit numbers of picoseconds.
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

/// `varied` has texts as --vary takes them, or (key, texts of the values). Returns the lines that
/// this call adds, and the settings in their order.
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

// NOLINTNEXTLINE: code of the macro
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
