#include "scenarios/src/serve/serving_quantities.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace podsim::scenarios {
namespace {

struct Source {
    std::string_view name;
    double (*of)(const ServingSummary& summary);
};

using Summary = ServingSummary;

constexpr std::array kSources{
    Source{"mean_ttft", [](const Summary& of) { return of.first_token.mean; }},
    Source{"median_ttft", [](const Summary& of) { return of.first_token.median; }},
    Source{"p99_ttft", [](const Summary& of) { return of.first_token.p99; }},
    Source{"mean_tpot", [](const Summary& of) { return of.a_token.mean; }},
    Source{"median_tpot", [](const Summary& of) { return of.a_token.median; }},
    Source{"p99_tpot", [](const Summary& of) { return of.a_token.p99; }},
    Source{"mean_itl", [](const Summary& of) { return of.gap.mean; }},
    Source{"median_itl", [](const Summary& of) { return of.gap.median; }},
    Source{"p99_itl", [](const Summary& of) { return of.gap.p99; }},
    Source{"output_tokens_per_s", [](const Summary& of) { return of.output_per_s; }},
    Source{"requests_per_s", [](const Summary& of) { return of.requests_per_s; }},
    Source{"goodput_requests_per_s", [](const Summary& of) { return of.goodput_per_s; }},
};

}  // namespace

double value_of(std::string_view quantity, const ServingSummary& summary) {
    const auto* const source = std::ranges::find(kSources, quantity, &Source::name);
    if (source == kSources.end()) {
        throw std::out_of_range("serving runs have no " + std::string(quantity));
    }
    return source->of(summary);
}

std::vector<Verdict> judge(const Scenario& scenario, const ServingSummary& summary) {
    return judge(scenario.expectations,
                 [&](std::string_view quantity) { return value_of(quantity, summary); });
}

}  // namespace podsim::scenarios
