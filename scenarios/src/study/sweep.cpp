#include "scenarios/src/study/sweep.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

#include "scenarios/src/base/checked_line.h"
#include "scenarios/src/base/fingerprint.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/within_clock.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kForm = "write --vary key.path=value,value, as in --vary mesh.tensor=x%2,x%4";

std::string option_of(const std::string& key, const std::string& value) {
    return fmt::format("--vary {}", printable(key + '=' + value));
}

Json json_of_yaml(const YamlNode& node) {
    Json json;
    switch (node.kind) {
        case YamlNode::Kind::null:
            break;
        case YamlNode::Kind::scalar:
            json = node.text;
            break;
        case YamlNode::Kind::sequence:
            json = Json::array();
            for (const YamlNode& item : node.items) {
                json.push_back(json_of_yaml(item));
            }
            break;
        case YamlNode::Kind::map:
            json = Json::object();
            for (const YamlNode::Entry& entry : node.entries) {
                json[entry.key] = json_of_yaml(entry.value);
            }
            break;
    }
    return json;
}

/// Adds the values as texts; throws if two are alike.
void add_texts(Varied& varied, const sim::SourceMark& mark) {
    for (const YamlNode& value : varied.values) {
        varied.texts.push_back(
            value.kind == YamlNode::Kind::scalar ? value.text : json_line(json_of_yaml(value)));
        if (std::ranges::count(varied.texts, varied.texts.back()) > 1) {
            throw sim::InputError(
                fmt::format("the value {} is given twice", in_quotes(varied.texts.back())),
                "keep one of the two", mark);
        }
    }
}

/// Refuses what `check_schema` refuses, at the --vary option.
void check_values(const YamlNode& base, const Varied& varied) {
    for (std::size_t i = 0; i < varied.values.size(); ++i) {
        YamlNode tree = base;
        set_value(tree, varied.key, varied.values[i], varied.mark_of(i));
        check_schema(tree);
    }
}

}  // namespace

std::vector<QuantityName> sweep_columns() {
    std::vector<QuantityName> columns;
    std::ranges::copy_if(reported_quantities(), std::back_inserter(columns), &QuantityName::column);
    return columns;
}

const Value& SweepRow::value(std::string_view quantity) const {
    static const Value none;
    const std::vector<QuantityName> columns = sweep_columns();
    const auto found = std::ranges::find(columns, quantity, &QuantityName::name);
    const auto at = static_cast<std::size_t>(found - columns.begin());
    return at < values.size() ? values[at] : none;
}

sim::SourceMark Varied::mark_of(std::size_t value) const {
    return place.file.empty() ? sim::SourceMark{option_of(key, texts[value]), 0, 0} : place;
}

sim::SourceMark Varied::mark() const {
    return place.file.empty() ? sim::SourceMark{"--vary", 0, 0} : place;
}

Varied parse_varied(const std::string& text) {
    const std::string option = "--vary " + printable(text);
    const sim::SourceMark mark{option, 0, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw sim::InputError(fmt::format("{} has no '='", in_quotes(text)), kForm,
                              {"--vary", 0, 0});
    }
    Varied varied;
    varied.key = text.substr(0, equals);
    if (('.' + varied.key + '.').find("..") != std::string::npos) {
        throw sim::InputError("the key path is empty in a place", kForm, mark);
    }
    YamlNode list;
    try {
        list = parse_yaml('[' + text.substr(equals + 1) + ']', option);
    } catch (const sim::InputError& error) {
        throw sim::InputError(error.problem(), error.remedy(), mark);
    }
    if (list.kind == YamlNode::Kind::sequence && list.items.size() == 1 &&
        list.items.front().kind == YamlNode::Kind::sequence) {
        YamlNode inner = std::move(list.items.front());
        list = std::move(inner);
    }
    if (list.kind != YamlNode::Kind::sequence || list.items.empty()) {
        throw sim::InputError("no values", kForm, mark);
    }
    varied.values = std::move(list.items);
    add_texts(varied, mark);
    return varied;
}

Varied varied_of(const std::string& key, std::span<const std::string> values) {
    const sim::SourceMark mark{"--vary " + printable(key), 0, 0};
    if (values.empty()) {
        throw sim::InputError("no values", "give at least one", mark);
    }
    Varied varied{.key = key, .values = {}, .texts = {}};
    for (const std::string& value : values) {
        varied.values.push_back(parse_yaml(value, option_of(key, value)));
    }
    add_texts(varied, mark);
    return varied;
}

namespace {

/// True if one of two key paths names the other's value, or a nested part of it.
bool overlap(const std::string& one, const std::string& other) {
    return (one + '.').starts_with(other + '.') || (other + '.').starts_with(one + '.');
}

}  // namespace

void refuse_set_and_varied(std::span<const std::string> settings, std::span<const Varied> varied) {
    for (const Varied& one : varied) {
        for (const std::string& setting : settings) {
            if (overlap(setting.substr(0, setting.find('=')), one.key)) {
                throw sim::InputError(
                    fmt::format("{} is varied, so that its value is lost", in_quotes(setting)),
                    "leave out this --set, or do not vary " + one.key, {"--set", 0, 0});
            }
        }
    }
}

void check_varied(const YamlNode& base, std::span<const Varied> varied, const char* give_once) {
    for (auto each = varied.begin(); each != varied.end(); ++each) {
        const auto earlier = std::find_if(
            varied.begin(), each, [&](const Varied& other) { return other.key == each->key; });
        if (earlier != each) {
            throw sim::InputError(fmt::format("{} is varied twice", in_quotes(each->key)),
                                  give_once, each->mark());
        }
        const auto within = std::find_if(varied.begin(), each, [&](const Varied& other) {
            return overlap(other.key, each->key);
        });
        if (within != each) {
            throw sim::InputError(
                fmt::format("{} and {} are varied, one of which is a part of the other",
                            in_quotes(within->key), in_quotes(each->key)),
                "vary the parts, each in its --vary", each->mark());
        }
        check_values(base, *each);
    }
}

Sweep::Sweep(const ScenarioSource& source, std::span<const std::string> settings,
             std::vector<Varied> varied, SweepOptions options)
    : path_(source.file),
      base_(read_scenario(source)),
      varied_(std::move(varied)),
      options_(std::move(options)) {
    std::vector<std::string> decisive = {PODSIM_VERSION, path_, text_of(source)};
    for (const std::string& setting : settings) {
        apply_setting(base_, setting);
        decisive.push_back("--set " + setting);
    }
    if (std::ranges::count(varied_, "mesh", &Varied::key) > 0) {
        // The file's mesh, which may be left to a search, applies to no setting.
        std::erase_if(base_.entries, [](const YamlNode::Entry& entry) {
            return entry.key == "mesh" && entry.value.text == "auto";
        });
    }
    check_schema(base_);
    refuse_set_and_varied(settings, varied_);
    check_varied(base_, varied_, "give all its values in one --vary");
    for (const Varied& each : varied_) {
        size_ *= each.values.size();
        if (size_ > kMostSettings) {
            throw sim::InputError(fmt::format("more than {} settings", kMostSettings),
                                  "give fewer values", {"--vary", 0, 0});
        }
        decisive.push_back("--vary " + each.key);
        decisive.insert(decisive.end(), each.texts.begin(), each.texts.end());
    }
    decisive.push_back(fmt::format("fold {} reuse {} gap {}", options_.fold == Fold::automatic,
                                   options_.step.reuse, options_.step.explain));
    fingerprint_ = fingerprint_of(decisive);
}

std::string Sweep::title() const {
    const YamlNode* const name = base_.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path_).stem().string();
}

std::vector<std::size_t> Sweep::choice(std::size_t index) const {
    std::vector<std::size_t> choice(varied_.size());
    for (std::size_t key = varied_.size(); key-- > 0;) {
        choice[key] = index % varied_[key].values.size();
        index /= varied_[key].values.size();
    }
    return choice;
}

Json Sweep::head(std::size_t index) const {
    const std::vector<std::size_t> chosen = choice(index);
    Json settings = Json::object();
    for (std::size_t key = 0; key < varied_.size(); ++key) {
        settings[varied_[key].key] = json_of_yaml(varied_[key].values[chosen[key]]);
    }
    return {{"sweep", {{"fingerprint", fingerprint_}, {"index", index}, {"of", size_}}},
            {"settings", std::move(settings)}};
}

SweepLine Sweep::run(std::size_t index) const {
    SweepLine line;
    line.row.index = index;
    Json json = head(index);
    try {
        simulate(index, line.row, json);
    } catch (const sim::InputError& error) {
        for (const sim::InputError& each : sim::errors_in(error)) {
            line.row.error += (line.row.error.empty() ? "" : " | ") + one_line(each.what());
        }
        json["schema"] = kSchemaName;
        json["error"] = line.row.error;
        if (const auto* const beyond = dynamic_cast<const BeyondMemory*>(&error)) {
            json[kNeedsMemory] = beyond->bytes();
        }
    }
    line.text = with_check(json_line(json)) + '\n';
    return line;
}

Scenario Sweep::scenario(std::size_t index) const {
    const std::vector<std::size_t> chosen = choice(index);
    YamlNode tree = base_;
    for (std::size_t key = 0; key < varied_.size(); ++key) {
        const Varied& varied = varied_[key];
        set_value(tree, varied.key, varied.values[chosen[key]], varied.mark_of(chosen[key]));
    }
    Scenario scenario = load_scenario(tree, path_);
    if (scenario.is_program()) {
        throw sim::InputError("a sweep varies a training step; this is a program",
                              "run the program's settings one by one", {path_, 0, 0});
    }
    return scenario;
}

void Sweep::simulate(std::size_t index, SweepRow& row, Json& line) const {
    const Scenario setting = scenario(index);
    const double begun = options_.clock ? options_.clock() : 0;
    StepOptions how = options_.step;
    how.memory = memory_.get();
    const StepResult result =
        within_clock(setting, [&] { return simulate_step(setting, options_.fold, how); });
    for (const QuantityName& column : sweep_columns()) {
        row.values.push_back(value_of(column.name, setting, result));
    }
    std::optional<WallTime> wall;
    if (options_.clock) {
        wall = WallTime{.simulated_s = options_.clock() - begun};
    }
    line.update(step_json(setting, result, judge(setting, result), wall));
    row.warnings = line["warnings"].get<std::vector<std::string>>();
}

std::vector<std::string> warnings_of(std::span<const SweepRow> rows) {
    std::vector<std::string> all;
    for (const SweepRow& row : rows) {
        for (const std::string& warning : row.warnings) {
            if (std::ranges::find(all, warning) == all.end()) {
                all.push_back(warning);
            }
        }
    }
    return all;
}

}  // namespace podsim::scenarios
