// `podsim calibrate`: fit the factors of the profile `measured` to measured times.
#include <fmt/format.h>
#include <ostream>

#include <boost/algorithm/string.hpp>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/terminal_watch.h"
#include "scenarios/load/load.h"
#include "scenarios/load/scenario_files.h"
#include "scenarios/study/calibrate.h"
#include "scenarios/text/format.h"
#include "scenarios/text/table.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage(
        "calibrate FILE|DIR ... [--per-chip FACTORS] [--pooled FACTORS] [--jobs N] [--json PATH|-]",
        "Fits factors of the profile `measured` to scenarios that expect a measured time, and says "
        "how\n"
        "well they predict the measurements of a chip that they were not fitted to.",
        "podsim calibrate scenarios/published --per-chip mxu --pooled straggler",
        "Factors: mxu, mxu_ramp, attention, vpu, hbm, fusion, ici, dcn, launch_s, straggler\n"
        "(topology/chips/efficiency.h). Those not named stay as the scenarios have them.\n");
    usage.value("per-chip", "factors to fit for each chip, joined by commas; - for none", "mxu");
    usage.value("pooled", "factors to fit for all chips together; - for none", "straggler");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

std::vector<std::string> factors(const std::string& text) {
    std::vector<std::string> names;
    if (text != "-") {
        boost::split(names, text, boost::is_any_of(","));
    }
    return names;
}

std::string percent(double fraction) {
    return fmt::format("{:+.1f} %", 100 * fraction);
}

struct Errors {
    std::vector<double> fitted;
    std::vector<double> held_out;
};

Errors errors_of(const Calibration& calibration, const std::string& chip) {
    Errors errors;
    for (const CalibratedPoint& point : calibration.points) {
        if (chip.empty() || point.chip == chip) {
            errors.fitted.push_back(point.fitted_s / point.measured_s - 1);
            if (point.held_out_s.has_value()) {
                errors.held_out.push_back(*point.held_out_s / point.measured_s - 1);
            }
        }
    }
    return errors;
}

std::string text_of(const Calibration& calibration) {
    Table factors({1, 4});
    factors.row({"Factor", "chip", "value", "+-", ""});
    for (const FittedFactor& fitted : calibration.factors) {
        factors.row({"  " + fitted.factor, fitted.chip.empty() ? "all" : fitted.chip,
                     fmt::format("{:.4g}", fitted.value), fmt::format("{:.2g}", fitted.error),
                     fitted.determined ? "" : "these measurements do not determine it"});
    }
    Table points({1});
    points.row({"Measurement", "chip", "measured", "fitted", "error", "held out", "error"});
    for (const CalibratedPoint& point : calibration.points) {
        points.row({"  " + point.name, point.chip, format_time(point.measured_s),
                    format_time(point.fitted_s), percent(point.fitted_s / point.measured_s - 1),
                    point.held_out_s ? format_time(*point.held_out_s) : "none",
                    point.held_out_s ? percent(*point.held_out_s / point.measured_s - 1) : ""});
    }
    const Errors errors = errors_of(calibration, "");
    const ErrorSummary fitted = summarise(errors.fitted);
    const ErrorSummary held_out = summarise(errors.held_out);
    const auto line = [](const char* name, const ErrorSummary& summary) {
        return fmt::format("{}: mean absolute error {:.1f} %, bias {}, worst {}\n", name,
                           100 * summary.mean_absolute, percent(summary.bias),
                           percent(summary.worst));
    };
    return factors.text(0) + '\n' + points.text(0) + '\n' + line("fitted", fitted) +
           (errors.held_out.empty() ? "held out: nothing, since all measurements are of one chip\n"
                                    : line("held out", held_out));
}

Json json_of(const Calibration& calibration) {
    Json json = {{"schema", kSchemaName}, {"factors", Json::array()}, {"points", Json::array()}};
    for (const FittedFactor& fitted : calibration.factors) {
        json["factors"].push_back({{"factor", fitted.factor},
                                   {"chip", fitted.chip.empty() ? "all" : fitted.chip},
                                   {"value", fitted.value},
                                   {"error", fitted.error},
                                   {"determined", fitted.determined}});
    }
    for (const CalibratedPoint& point : calibration.points) {
        json["points"].push_back({{"name", point.name},
                                  {"chip", point.chip},
                                  {"measured_s", point.measured_s},
                                  {"fitted_s", point.fitted_s},
                                  {"held_out_s", nullptr}});
        if (point.held_out_s.has_value()) {
            json["points"].back()["held_out_s"] = *point.held_out_s;
        }
    }
    const Errors errors = errors_of(calibration, "");
    json["mean_absolute_error"] = summarise(errors.fitted).mean_absolute;
    json["held_out_mean_absolute_error"] = nullptr;
    if (!errors.held_out.empty()) {
        json["held_out_mean_absolute_error"] = summarise(errors.held_out).mean_absolute;
    }
    return json;
}

}  // namespace

int command_calibrate(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    std::vector<Scenario> measurements;
    for (const std::string& file : files_of(options.all("FILE|DIR"))) {
        measurements.push_back(load_scenario(file));
    }
    if (measurements.empty()) {
        throw sim::InputError("no measurement", "usage: podsim calibrate FILE|DIR ...");
    }
    const std::string json = output_path(options, "json");
    const CalibrationOptions how{.per_chip = factors(options.get("per-chip")),
                                 .pooled = factors(options.get("pooled")),
                                 .jobs = parse_jobs(options)};
    const Calibration calibration = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return calibrate(measurements, how, &watch);
    }();
    if (json != "-") {
        out << text_of(calibration);
    }
    if (!json.empty()) {
        write_json(json_of(calibration), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
