// `expect`: reference values of results.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/formulas.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/profile.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/scenario/token_time.h"
#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {
namespace {

double parse_reference(const std::string& quantity, const std::string& text) {
    switch (find_quantity(quantity).unit) {
        case ValueUnit::time:
            return parse_time(text).value();
        case ValueUnit::share:
            return parse_percent(text);
        case ValueUnit::bytes:
            return parse_bytes(text).value();
        case ValueUnit::token_rate:
            return parse_token_rate(text);
        case ValueUnit::count:
        case ValueUnit::money:
        case ValueUnit::text:
        case ValueUnit::truth:
            break;
    }
    return parse_number(text);
}

constexpr std::pair<std::string_view, std::string_view> kTiers[] = {{"A", "A"}, {"B", "B"}};

std::string parse_factor(const std::string& text) {
    return std::string(find_factor(printable(text)).name);
}

}  // namespace

std::vector<Expectation> read_expectations(const Reader& expect) {
    std::vector<Expectation> expectations;
    if (!expect.present()) {
        return expectations;
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        const Reader place = expect[entry.key];
        Expectation expectation;
        expectation.quantity = entry.key;
        expectation.of = place["of"].read(
            [&](const std::string& text) { return parse_reference(entry.key, text); });
        if (expectation.of <= 0) {
            place["of"].refuse("a reference of zero has no relative error",
                               "write a value above zero");
        }
        expectation.within = place["within"].read(parse_percent);
        expectation.source =
            place["source"].get<std::string>([](const std::string& text) { return text; }, "");
        expectation.tier = place["tier"].choose<std::string_view>(kTiers, "");
        expectation.defines = place["defines"].get<std::string>(parse_factor, "");
        expectations.push_back(std::move(expectation));
    }
    return expectations;
}

namespace {

/// Refuses expected quantities of another kind, and lists the allowed ones.
template <class Allowed>
void allow_only(const Reader& expect, const char* problem, Allowed allowed) {
    if (!expect.present()) {
        return;
    }
    std::vector<std::string_view> names;
    for (const QuantityName& quantity : expected_quantities()) {
        if (allowed(quantity)) {
            names.push_back(quantity.name);
        }
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        if (!allowed(find_quantity(entry.key))) {
            expect[entry.key].refuse(problem, fmt::format("allowed: {}", fmt::join(names, ", ")));
        }
    }
}

}  // namespace

void refuse_step_quantities(const Reader& expect) {
    allow_only(expect, "a program has no such quantity",
               [](const QuantityName& one) { return one.of_programs; });
}

void refuse_all_but_served_quantities(const Reader& expect) {
    allow_only(expect, "a serving run has no such quantity",
               [](const QuantityName& one) { return one.of_serving; });
}

void refuse_served_quantities(const Reader& expect) {
    if (!expect.present()) {
        return;
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        if (find_quantity(entry.key).of_serving) {
            expect[entry.key].refuse("a step serves no requests",
                                     "expect it of a scenario with serving, of podsim serve");
        }
    }
}

void check_token_quantities(const Reader& expect, const TrainingStep& step) {
    const auto& inference = step.plan.inference;
    const Reader rate = expect["tokens_per_s_per_chip"];
    rate.check({"inference"}, [&] {
        if (rate.present() && !inference) {
            throw rate.error("the scenario is no step of inference",
                             "write inference: {step: decode, ...}");
        }
    });
    const Reader time = expect["time_per_token"];
    time.check({"inference"}, [&] {
        if (time.present() && !has_token_time(inference)) {
            throw time.error("no token of a sequence follows another in this step",
                             "expect it of decode, or of generating several tokens");
        }
    });
}

void refuse_times_between_tokens(const Reader& expect, const ServingSpec& serving) {
    if (!expect.present()) {
        return;
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        if (!entry.key.ends_with("_tpot") && !entry.key.ends_with("_itl")) {
            continue;
        }
        const Reader place = expect[entry.key];
        place.check({"serving"}, [&] {
            const std::vector<Request> requests = draw_requests(serving.load);
            if (std::ranges::none_of(requests, [](const Request& one) { return one.output > 1; })) {
                throw place.error("no answer has a second token",
                                  "serve longer answers, or leave it out");
            }
        });
    }
}

/// Refuses a formula if the scenario lacks what it needs.
void check_formulas(const Reader& expect, const Scenario& scenario) {
    for (const Expectation& expectation : scenario.expectations) {
        if (const Formula* const formula = find_formula(expectation.quantity)) {
            const Reader place = expect[expectation.quantity];
            place.check({"hardware", "model", "batch", "mesh", "training", "report", "program"},
                        [&] {
                            try {
                                check_formula(*formula, scenario);
                            } catch (const sim::InputError& error) {
                                throw place.located(error);
                            }
                        });
        }
    }
}

}  // namespace podsim::scenarios
