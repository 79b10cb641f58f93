#include "scenarios/src/study/calibration_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/error_summary.h"

namespace podsim::scenarios {
namespace {

/// A method of predicting steps.
struct Method {
    std::string_view name;
    std::string_view key;
    Predictions CalibratedPoint::*predictions;
    PairOrder Calibration::*pairs;
};
constexpr Method kMethods[] = {
    {"podsim", "podsim", &CalibratedPoint::podsim, &Calibration::pairs},
    {"6ND at X % per chip", "per_chip", &CalibratedPoint::per_chip, &Calibration::pairs_per_chip},
    {"6ND at X % per chip and precision", "per_chip_and_precision",
     &CalibratedPoint::per_chip_and_precision, &Calibration::pairs_per_chip_and_precision}};

std::string signed_percent(double fraction) {
    return fmt::format("{:+.1f} %", 100 * fraction);
}

std::string error_text(std::optional<double> time, double measured) {
    return time.has_value() ? signed_percent(*time / measured - 1) : "none";
}

struct Errors {
    std::vector<double> fitted;
    std::vector<double> without_chip;
    std::vector<double> without_family;
};

/// Returns the errors of the steps.
Errors errors_of(const Calibration& calibration, const Method& method) {
    Errors errors;
    for (const CalibratedPoint& point : calibration.points) {
        if (point.what != Measured::step) {
            continue;
        }
        const Predictions& predicted = point.*method.predictions;
        const auto add = [&](std::vector<double>& to, std::optional<double> time) {
            if (time.has_value()) {
                to.push_back(*time / point.measured_s - 1);
            }
        };
        add(errors.fitted, predicted.fitted_s);
        add(errors.without_chip, predicted.without_chip_s);
        add(errors.without_family, predicted.without_family_s);
    }
    return errors;
}

/// Returns a remark that a reader of the value must know.
std::string remark(const FittedFactor& fitted) {
    if (!fitted.determined) {
        return "the steps do not determine it";
    }
    return fitted.at_limit ? "at its limit; the steps would have it beyond" : "";
}

std::string factors_text(const Calibration& calibration) {
    Table table({1, 5, 6});
    table.row({"Factor", "chip", "value", "+-", "prior", "by", ""});
    for (const FittedFactor& fitted : calibration.factors) {
        table.row({"  " + fitted.factor, fitted.chip.empty() ? "all" : fitted.chip,
                   fmt::format("{:.4g}", fitted.value),
                   fitted.error > 0 ? fmt::format("{:.2g}", fitted.error) : "",
                   fmt::format("{:.4g}", fitted.prior), fitted.by, remark(fitted)});
    }
    return table.text(0);
}

/// Returns the largest difference between the values of a factor from the two starts.
double start_difference(const Calibration& calibration) {
    double largest = 0;
    for (const FittedFactor& fitted : calibration.factors) {
        if (fitted.other_start.has_value() && fitted.value != *fitted.other_start) {
            largest = std::max(largest, std::abs(*fitted.other_start / fitted.value - 1));
        }
    }
    return largest;
}

std::string steps_text(const Calibration& calibration) {
    Table table({1, 2});
    table.row({"Step", "family", "measured", "fitted", "error", "without chip", "without family",
               "6ND without family"});
    for (const CalibratedPoint& point : calibration.points) {
        if (point.what == Measured::step) {
            const double measured = point.measured_s;
            table.row({"  " + point.name, point.family, format_time(measured),
                       format_time(point.podsim.fitted_s),
                       signed_percent(point.podsim.fitted_s / measured - 1),
                       error_text(point.podsim.without_chip_s, measured),
                       error_text(point.podsim.without_family_s, measured),
                       error_text(point.per_chip_and_precision.without_family_s, measured)});
        }
    }
    return table.text(0);
}

/// Reports the measurements that the fit did not use, with its predictions of them.
std::string others_text(const Calibration& calibration, Measured what) {
    const bool rates = what == Measured::throughput;
    Table table({1, 5});
    table.row({rates ? "Throughput" : "Microbenchmark", "chip", "measured", "simulated", "error",
               rates ? "family" : "defines"});
    bool any = false;
    for (const CalibratedPoint& point : calibration.points) {
        if (point.what == what) {
            const double simulated = point.podsim.fitted_s;
            const auto text = [&](double time) {
                return rates ? format_count(1 / time) + " tokens/s" : format_time(time);
            };
            const double error =
                rates ? point.measured_s / simulated - 1 : simulated / point.measured_s - 1;
            table.row({"  " + point.name, point.chip, text(point.measured_s), text(simulated),
                       signed_percent(error), rates ? point.family : point.defines});
            any = true;
        }
    }
    return any ? '\n' + table.text(0) : "";
}

std::string errors_text(const Calibration& calibration) {
    Table table({1});
    table.row({"Errors of steps", "mean absolute", "bias", "worst"});
    for (const Method& method : kMethods) {
        const Errors errors = errors_of(calibration, method);
        const auto row = [&](std::string_view how, const std::vector<double>& values) {
            const ErrorSummary summary = summarise(values);
            const std::string name = fmt::format("  {}, {}", method.name, how);
            if (values.empty()) {
                table.row({name, "none", "", ""});
            } else {
                table.row({name, fmt::format("{:.1f} %", 100 * summary.mean_absolute),
                           signed_percent(summary.bias), signed_percent(summary.worst)});
            }
        };
        row("fitted", errors.fitted);
        row("held out by chip", errors.without_chip);
        row("held out by family", errors.without_family);
    }
    return table.text(0);
}

std::string summary_text(const Calibration& calibration) {
    const double difference = start_difference(calibration);
    std::string text = fmt::format(
        "From the scenarios' own profile the determined factors come out the same within {:.1f} "
        "%{}.\n",
        100 * difference, calibration.converged ? "" : "; the search had not come to rest");
    if (calibration.pairs.pairs > 0) {
        text += fmt::format(
            "Pairs of steps on one chip in one precision ordered rightly by time over 6ND, held "
            "out "
            "by family: {:.0f} % of {}\n(per chip {:.0f} %, per chip and precision {:.0f} %).\n",
            100 * calibration.pairs.share(), calibration.pairs.pairs,
            100 * calibration.pairs_per_chip.share(),
            100 * calibration.pairs_per_chip_and_precision.share());
    }
    if (calibration.ratios.pairs > 0) {
        text += fmt::format(
            "Ratios of two steps of one model on one chip in one precision, held out by family: 80 "
            "% "
            "of {} within {:.1f} %, the worst {:.1f} %.\n",
            calibration.ratios.pairs, 100 * calibration.ratios.four_of_five,
            100 * calibration.ratios.worst);
    }
    const ErrorBand& band = calibration.profile.band;
    if (band.like > 0) {
        text += fmt::format(
            "80 % band: {:.1f} % for steps that a published one is like, {:.1f} % "
            "for others; {:.0f} % of the errors held out by family lie within.\n",
            100 * band.like, 100 * band.unlike, 100 * calibration.covered);
    }
    return text;
}

std::string left_out_text(const Calibration& calibration) {
    if (calibration.left_out == 0) {
        return {};
    }
    return fmt::format("Left out, of {}: {} scenario{}.\n",
                       calibration.inference ? "training, which calibrate without --inference fits"
                                             : "inference, which calibrate --inference fits",
                       calibration.left_out, calibration.left_out == 1 ? "" : "s");
}

Json optional_json(std::optional<double> value) {
    return value.has_value() ? Json(*value) : Json(nullptr);
}

Json predictions_json(const Predictions& predictions) {
    return {{"fitted_s", predictions.fitted_s},
            {"held_out_by_chip_s", optional_json(predictions.without_chip_s)},
            {"held_out_by_family_s", optional_json(predictions.without_family_s)}};
}

Json factor_json(const FittedFactor& fitted) {
    return {{"factor", fitted.factor},
            {"chip", fitted.chip.empty() ? "all" : fitted.chip},
            {"value", fitted.value},
            {"error", fitted.error},
            {"determined", fitted.determined},
            {"at_limit", fitted.at_limit},
            {"prior", fitted.prior},
            {"by", fitted.by},
            {"from_own_profile", optional_json(fitted.other_start)}};
}

Json point_json(const CalibratedPoint& point) {
    Json json = {{"name", point.name},
                 {"chip", point.chip},
                 {"measured_s", point.measured_s},
                 {"fitted_s", point.podsim.fitted_s},
                 {"held_out_s", optional_json(point.podsim.without_chip_s)},
                 {"held_out_by_family_s", optional_json(point.podsim.without_family_s)},
                 {"tier", point.tier}};
    if (point.what == Measured::throughput) {
        json["family"] = point.family;
        json["measured_tokens_per_s"] = 1 / point.measured_s;
    } else if (point.what == Measured::step) {
        json["family"] = point.family;
        json["kind"] = to_string(point.kind);
        for (const Method& method : kMethods) {
            if (method.key != "podsim") {
                json[std::string(method.key)] = predictions_json(point.*method.predictions);
            }
        }
    } else {
        json["defines"] = point.defines.empty() ? Json(nullptr) : Json(point.defines);
    }
    return json;
}

Json mean_json(const std::vector<double>& errors) {
    return errors.empty() ? Json(nullptr) : Json(summarise(errors).mean_absolute);
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
    return factors_text(calibration) + '\n' + steps_text(calibration) +
           others_text(calibration, Measured::throughput) +
           others_text(calibration, Measured::microbenchmark) + '\n' + errors_text(calibration) +
           '\n' + summary_text(calibration) + left_out_text(calibration);
}

Json calibration_json(const Calibration& calibration) {
    Json json = {{"schema", kSchemaName},
                 {"kind", "calibration"},
                 {"factors", Json::array()},
                 {"points", Json::array()}};
    for (const FittedFactor& fitted : calibration.factors) {
        json["factors"].push_back(factor_json(fitted));
    }
    for (const CalibratedPoint& point : calibration.points) {
        json["points"].push_back(point_json(point));
    }
    const Errors errors = errors_of(calibration, kMethods[0]);
    json["mean_absolute_error"] = mean_json(errors.fitted);
    json["held_out_mean_absolute_error"] = mean_json(errors.without_chip);
    json["held_out_by_family_mean_absolute_error"] = mean_json(errors.without_family);
    for (const Method& method : kMethods) {
        const Errors of = errors_of(calibration, method);
        const PairOrder& pairs = calibration.*method.pairs;
        json["methods"][std::string(method.key)] = {
            {"mean_absolute_error", mean_json(of.fitted)},
            {"held_out_mean_absolute_error", mean_json(of.without_chip)},
            {"held_out_by_family_mean_absolute_error", mean_json(of.without_family)},
            {"pairs", pairs.pairs},
            {"pairs_right", pairs.right}};
    }
    json["ratios"] = {{"pairs", calibration.ratios.pairs},
                      {"four_of_five", calibration.ratios.four_of_five},
                      {"worst", calibration.ratios.worst}};
    const ErrorBand& band = calibration.profile.band;
    json["error_band"] = {{"like", band.like},
                          {"unlike", band.unlike},
                          {"dense_from", band.dense_from},
                          {"experts_from", band.experts_from},
                          {"covered", calibration.covered}};
    for (const StepKind& kind : band.measured) {
        json["error_band"]["measured"].push_back(to_string(kind));
    }
    json["left_out"] = calibration.left_out;
    json["converged"] = calibration.converged;
    json["start_difference"] = start_difference(calibration);
    return json;
}

}  // namespace podsim::scenarios
