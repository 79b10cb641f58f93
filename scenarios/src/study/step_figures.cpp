#include "scenarios/src/study/step_figures.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/report/shares_table.h"
#include "scenarios/src/scenario/error_band.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/stream_account.h"
#include "sim/base/error.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

/// True if a key says nothing about a step.
bool is_aside(const std::string& key) {
    return key == "name" || key.starts_with("expect") || key.starts_with("search");
}

/// True if all accounts add up to the step.
bool adds_up(const StepFigures& figures) {
    return total_of(figures.stream) == figures.step &&
           (figures.path.empty() ||
            (total_of(figures.path) == figures.step && total_of(figures.gap) == figures.step));
}

constexpr std::int64_t kMostCounted = std::int64_t{1} << 62U;  // parameters, tokens, chips

/// The values of a document; a missing one, or one of another type, is an error at its file.
class Document {
public:
    Document(const Json& json, const std::string& file) : json_(json), file_(file) {}

    template <class Type>
    [[nodiscard]] Type get(const std::string& pointer) const {
        try {
            return json_.at(Json::json_pointer(pointer)).get<Type>();
        } catch (const Json::exception&) {
            throw refused(fmt::format("no {} in this result", pointer.substr(1)));
        }
    }
    /// Returns a count. A number that is written as 4e119, or with this many digits, is none.
    [[nodiscard]] std::int64_t count(const std::string& pointer) const {
        const Json value = get<Json>(pointer);
        if (!value.is_number_integer() || value < 0 || value > kMostCounted) {
            throw refused(fmt::format("{} is no count", pointer.substr(1)));
        }
        return value.get<std::int64_t>();
    }
    [[nodiscard]] bool has(const std::string& key) const { return json_.contains(key); }
    [[nodiscard]] sim::InputError refused(const std::string& problem) const {
        return sim::InputError(problem, "podsim diff reads what podsim run --json writes of a step",
                               {file_, 0, 0});
    }
    [[nodiscard]] sim::Time time(const std::string& pointer) const {
        return exact(get<double>(pointer));
    }
    [[nodiscard]] Json object(const std::string& pointer) const {
        auto map = get<Json>(pointer);
        if (!map.is_object()) {
            throw refused(fmt::format("{} is no map", pointer.substr(1)));
        }
        return map;
    }
    /// Returns the numbers of a map, in its order.
    [[nodiscard]] std::vector<std::pair<std::string, double>> numbers(
        const std::string& pointer) const {
        std::vector<std::pair<std::string, double>> all;
        const Json map = object(pointer);
        for (const auto& [name, value] : map.items()) {
            all.emplace_back(name, number(value, pointer));
        }
        return all;
    }
    [[nodiscard]] std::vector<Share> shares(const std::string& pointer) const {
        std::vector<Share> all;
        for (const auto& [name, seconds] : numbers(pointer)) {
            all.push_back({name, exact(seconds)});
        }
        return all;
    }

private:
    [[nodiscard]] double number(const Json& value, const std::string& pointer) const {
        if (!value.is_number()) {
            throw refused(fmt::format("what is in {} is not a number", pointer.substr(1)));
        }
        return value.get<double>();
    }
    [[nodiscard]] sim::Time exact(double seconds) const {
        constexpr double kMost = 8192;
        if (!(std::abs(seconds) < kMost)) {
            throw refused(fmt::format("{:g} s have no exact picoseconds in JSON", seconds));
        }
        return {std::llround(seconds * 1e12)};
    }

    const Json& json_;
    const std::string& file_;
};

/// Adds everything that a result says about its scenario.
void add_all_settings(const Document& document, StepFigures& figures) {
    for (const bool said : {true, false}) {
        const std::string part = said ? "/settings_in_force/said" : "/settings_in_force/defaults";
        const Json map = document.object(part);
        for (const auto& [key, value] : map.items()) {
            if (!value.is_string()) {
                throw document.refused(fmt::format("what is in {} is not a text", part.substr(1)));
            }
            if (!is_aside(key)) {
                figures.settings.push_back({key, value.get<std::string>(), said});
            }
        }
    }
    figures.all_settings = true;
}

/// Adds the settings of a result. Without `settings_in_force` these are the settings that its other
/// keys state.
void add_settings(const Document& document, StepFigures& figures) {
    if (document.has("settings_in_force")) {
        add_all_settings(document, figures);
        return;
    }
    const auto add = [&](const std::string& key, const std::string& value) {
        figures.settings.push_back({key, value, true});
    };
    add("hardware.chip", figures.chip);
    add("hardware.slice", document.get<std::string>("/slice"));
    // For a chip that is changed, the result also says whose factors it has: `measured on v5p;
    // changed: ...`.
    const auto profile = document.get<std::string>("/profile");
    add("hardware.profile",
        document.has("profile_version") ? profile.substr(0, profile.find(" on ")) : profile);
    add("hardware.core_clock", document.has("core_clock")
                                   ? fmt::format("{:g}", document.get<double>("/core_clock"))
                                   : "1");
    add("model", figures.model);
    add("batch.tokens", std::to_string(figures.tokens));
    add("batch.sequence", std::to_string(document.count("/sequence")));
    const Json mesh = document.object("/mesh");
    for (const auto& [axis, factors] : mesh.items()) {
        add("mesh." + axis, factors.is_string() ? factors.get<std::string>() : factors.dump());
    }
}

void add_accounts(const Document& document, StepFigures& figures) {
    figures.stream = document.shares("/breakdown_s/compute");
    for (Share& wait : document.shares("/breakdown_s/exposed_communication")) {
        wait.cause = cause_of_wait(wait.name);
        figures.stream.push_back(std::move(wait));
    }
    if (document.has("critical_path_s")) {
        figures.path = document.shares("/critical_path_s");
        figures.gap = document.shares("/gap_s");
        figures.gap.insert(figures.gap.begin(),
                           {kLowerBound, figures.step - total_of(figures.gap)});
    }
}

}  // namespace

StepFigures figures_of(const ShownScenario& shown, const StepResult& result) {
    const Scenario& scenario = shown.scenario;
    StepFigures figures{
        .name = scenario.name,
        .file = scenario.file,
        .chip = scenario.hardware.chip.name,
        .model = scenario.step().model.name,
        .parameters =
            static_cast<std::int64_t>(workloads::count_parameters(scenario.step().model).total),
        .chips = scenario.hardware.chips(),
        .tokens = scenario.step().plan.batch.tokens,
        .quantised = kind_of(scenario).quantised,
        .all_settings = true,
        .step = result.step_time,
        .mfu = result.mfu,
        .tokens_per_s = result.tokens_per_s,
        .stream = result.breakdown,
        .path = result.critical_path,
        .peak = result.memory.peak.value(),
        .capacity = result.memory.capacity.value(),
        .fits = result.memory.fits,
        .tight = result.memory.tight,
    };
    figures.warnings = warnings(scenario, result);
    const std::optional<StepBand> band = band_of(scenario);
    figures.like_published = band.has_value() && band->like;
    for (const ShownKey& key : shown.keys) {
        if (!is_aside(key.place)) {
            figures.settings.push_back(
                {key.place, key.comes_to.empty() ? key.value : key.comes_to,
                 key.origin == Origin::file || key.origin == Origin::option});
        }
    }
    figures.stream.insert(figures.stream.end(), result.exposed.begin(), result.exposed.end());
    if (result.explained) {
        figures.gap = {{kLowerBound, result.step_time - total_of(result.gap)}};
        figures.gap.insert(figures.gap.end(), result.gap.begin(), result.gap.end());
    }
    for (const auto& [name, bytes] : result.memory.at_peak) {
        figures.at_peak.emplace_back(name, bytes.value());
    }
    for (const LinkUse& link : result.links) {
        figures.link_bytes.emplace_back(link.name, link.bytes.value());
    }
    if (!adds_up(figures)) {
        throw std::logic_error("the accounts of a step do not add up to it");
    }
    return figures;
}

StepFigures figures_of(const Json& json, const std::string& file) {
    const Document document(json, file);
    if (json.at("schema") != kSchemaName) {
        throw document.refused("a result of another version of podsim's JSON");
    }
    if (json.contains("kind")) {
        throw document.refused(fmt::format("a result of kind {}", json["kind"].dump()));
    }
    if (!json.contains("step_time_s") || !json.contains("breakdown_s")) {
        throw document.refused("not the result of a step");
    }
    StepFigures figures{
        .name = document.get<std::string>("/scenario"),
        .file = file,
        .chip = document.get<std::string>("/chip"),
        .model = document.get<std::string>("/model"),
        .parameters = document.count("/parameters"),
        .chips = document.count("/chips"),
        .tokens = document.count("/batch_tokens"),
        .like_published =
            document.has("error_band") && document.get<bool>("/error_band/like_published"),
        .step = document.time("/step_time_s"),
        .tokens_per_s = document.get<double>("/tokens_per_s"),
        .peak = document.get<double>("/memory/peak_bytes"),
        .capacity = document.get<double>("/memory/capacity_bytes"),
        .fits = document.get<bool>("/memory/fits"),
        .tight = document.get<bool>("/memory/tight"),
        .at_peak = document.numbers("/memory/at_peak_bytes"),
    };
    if (document.has("mfu")) {
        figures.mfu = document.get<double>("/mfu");
    }
    if (json.contains("warnings") && json["warnings"].is_array()) {
        for (const Json& warning : json["warnings"]) {
            figures.warnings.push_back(
                one_line(warning.is_string() ? warning.get<std::string>() : warning.dump()));
        }
    }
    add_settings(document, figures);
    add_accounts(document, figures);
    const Json links = document.object("/links");
    for (const auto& [name, link] : links.items()) {
        figures.link_bytes.emplace_back(name, document.get<double>("/links/" + name + "/bytes"));
    }
    if (!(figures.step.ps > 0) || figures.tokens < 1 || figures.chips < 1) {
        throw document.refused("a step without time, tokens or chips");
    }
    if (!adds_up(figures)) {
        throw document.refused("its terms do not add up to its step");
    }
    return figures;
}

std::optional<Json> document_in(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || text[first] != '{') {
        return std::nullopt;
    }
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object() || !json.contains("schema")) {
        return std::nullopt;
    }
    return json;
}

}  // namespace podsim::scenarios
