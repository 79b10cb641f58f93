#include "scenarios/load/load.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/load/load_parts.h"
#include "scenarios/spec/formulas.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "scenarios/yaml/schema.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

std::string text_of(const std::string& text) {
    return text;
}

double positive_count(const std::string& text) {
    const auto count = static_cast<double>(parse_count(text));
    if (count == 0) {
        throw sim::InputError("the count is zero", "leave it out for no estimate");
    }
    return count;
}

double parse_utilisation(const std::string& text) {
    const double share = parse_percent(text);
    if (share <= 0 || share > 1) {
        throw sim::InputError(fmt::format("{} is not above 0 % and at most 100 %", in_quotes(text)),
                              "write a percentage such as 40 %");
    }
    return share;
}

/// A program has no training step.
void refuse_step_keys(const Reader& root) {
    for (const std::string_view key :
         {"model", "batch", "mesh", "training", "overlap", "evaluation", "report"}) {
        if (root[key].present()) {
            throw root[key].error("a program has no training step",
                                  "leave it out, or leave out program");
        }
    }
    const Reader expect = root["expect"];
    if (expect.present()) {
        std::vector<std::string_view> allowed;
        for (const QuantityName& quantity : expected_quantities()) {
            if (quantity.of_programs) {
                allowed.push_back(quantity.name);
            }
        }
        for (const YamlNode::Entry& entry : expect.node().entries) {
            if (!find_quantity(entry.key).of_programs) {
                throw expect[entry.key].error("a program has no such quantity",
                                              fmt::format("allowed: {}", fmt::join(allowed, ", ")));
            }
        }
    }
}

/// What a formula is about must be in the scenario.
void check_formulas(const Reader& expect, const Scenario& scenario) {
    for (const Expectation& expectation : scenario.expectations) {
        if (const Formula* const formula = find_formula(expectation.quantity)) {
            try {
                check_formula(*formula, scenario);
            } catch (const sim::InputError& error) {
                throw expect[expectation.quantity].located(error);
            }
        }
    }
}

std::optional<Evaluation> read_evaluation(const Reader& evaluation, const Scenario& scenario) {
    if (!evaluation.present()) {
        return std::nullopt;
    }
    if (scenario.plan.forward_only) {
        throw evaluation.error("the step itself is an evaluation step",
                               "leave out evaluation, or write training.step: train");
    }
    Evaluation read;
    read.tokens = evaluation["tokens"].read(parse_count);
    read.steps = static_cast<int>(evaluation["steps"].require().whole(1, 1 << 20, 1));
    read.train_steps = static_cast<int>(evaluation["train_steps"].whole(1, 1 << 20, 1));
    workloads::TrainingPlan plan = scenario.plan;
    plan.forward_only = true;
    plan.batch.tokens = read.tokens;
    try {
        workloads::validate(plan, scenario.model);
    } catch (const sim::InputError& error) {
        throw evaluation["tokens"].located(error);
    }
    return read;
}

ReportOptions read_report(const Reader& report) {
    using workloads::FlopRule;
    constexpr std::pair<std::string_view, FlopRule> kRules[] = {
        {"executed", FlopRule::executed},
        {"parameters", FlopRule::parameters},
        {"full_attention", FlopRule::full_attention}};
    ReportOptions options;
    options.flop_rule = report["flop_rule"].choose<FlopRule>(kRules, FlopRule::executed);
    if (report["tokens"].present()) {
        options.tokens = report["tokens"].read(positive_count);
    }
    if (report["price"].present()) {
        if (!options.tokens.has_value()) {
            throw report["price"].error("a price needs a token budget",
                                        "write tokens beside it, such as tokens: 15T");
        }
        options.usd_per_chip_hour = report["price"].read(parse_price);
    }
    if (report["mfu"].present()) {
        options.mfu = report["mfu"].read(parse_utilisation);
    }
    if (report["parameters"].present()) {
        options.parameters = report["parameters"].read(positive_count);
    }
    return options;
}

}  // namespace

Scenario load_scenario(const std::string& path, std::span<const std::string> settings) {
    YamlNode tree = read_scenario(path);
    for (const std::string& setting : settings) {
        apply_setting(tree, setting);
    }
    return load_scenario(tree, path);
}

YamlNode read_scenario(const std::string& path) {
    return parse_yaml(read_text_file(path), path);
}

Scenario load_scenario(const YamlNode& tree, const std::string& path) {
    check_schema(tree);
    const Reader root(tree);

    const std::filesystem::path file(path);
    Scenario scenario;
    scenario.file = path;
    scenario.name = root["name"].get<std::string>(text_of, file.stem().string());
    scenario.hardware = read_hardware(root["hardware"].require());
    scenario.hardware.perturbations = read_perturbations(root["perturb"], scenario.hardware);
    if (root["program"].present()) {
        refuse_step_keys(root);
        scenario.program =
            std::make_shared<const Program>(read_program(root["program"], scenario.hardware));
        if (root["expect"]["book"].present() && !is_one_collective(*scenario.program)) {
            throw root["expect"]["book"].error("the reference text has no time of this program",
                                               "expect it of one collective, in one piece");
        }
        scenario.expectations = read_expectations(root["expect"]);
        return scenario;
    }
    scenario.model = read_model(root["model"].require(), file.parent_path());
    scenario.mesh = read_mesh(root["mesh"], root["mesh_mapping"], scenario.hardware);
    scenario.mesh_text = mesh_text(scenario.mesh, scenario.hardware);
    scenario.plan = read_plan(root, scenario.mesh, scenario.hardware, scenario.model);
    scenario.evaluation = read_evaluation(root["evaluation"], scenario);
    scenario.report = read_report(root["report"]);
    scenario.expectations = read_expectations(root["expect"]);
    check_formulas(root["expect"], scenario);
    if (!scenario.evaluation.has_value() && root["expect"]["block_time"].present()) {
        throw root["expect"]["block_time"].error("there are no blocks without evaluation steps",
                                                 "write evaluation: {tokens: 1Mi, steps: 48}");
    }
    return scenario;
}

std::string scenario_title(const std::string& path) {
    const YamlNode tree = read_scenario(path);
    const YamlNode* const name = tree.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path).stem().string();
}

}  // namespace podsim::scenarios
