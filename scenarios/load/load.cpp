#include "scenarios/load/load.h"

#include <filesystem>

#include "scenarios/inference/load_inference.h"
#include "scenarios/load/load_parts.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/yaml/schema.h"
#include "workloads/program/axis_names.h"

namespace podsim::scenarios {
namespace {

std::string text_of(const std::string& text) {
    return text;
}

/// Inference has no backward pass, and says itself what goes through the model.
void refuse_training_keys(const Reader& root) {
    for (const std::string_view key : {"batch", "training", "evaluation"}) {
        if (root[key].present()) {
            throw root[key].error("inference beside a training step",
                                  "leave it out, or leave out inference");
        }
    }
}

/// A program has no training step.
void refuse_step_keys(const Reader& root) {
    for (const std::string_view key :
         {"model", "batch", "mesh", "training", "inference", "overlap", "evaluation", "report"}) {
        if (root[key].present()) {
            throw root[key].error("a program has no training step",
                                  "leave it out, or leave out program");
        }
    }
}

Scenario load(const YamlNode& tree, const std::string& path) {
    check_schema(tree);
    const Reader root(tree);

    const std::filesystem::path file(path);
    Scenario scenario;
    scenario.file = path;
    scenario.name = root["name"].get<std::string>(text_of, file.stem().string());
    scenario.hardware = read_hardware(root["hardware"].require(), file.parent_path());
    scenario.hardware.perturbations = read_perturbations(root["perturb"], scenario.hardware);
    if (root["program"].present()) {
        refuse_step_keys(root);
        refuse_step_quantities(root["expect"]);
        scenario.work = read_program(root["program"], scenario.hardware);
        if (root["expect"]["book"].present() && !is_one_collective(scenario.program())) {
            throw root["expect"]["book"].error("the reference text has no time of this program",
                                               "expect it of one collective, in one piece");
        }
        scenario.expectations = read_expectations(root["expect"]);
        return scenario;
    }
    scenario.step().model = read_model(root["model"].require(), file.parent_path());
    const bool serves = root["inference"].present() || root["serving"].present();
    if (serves) {
        refuse_training_keys(root);
    }
    scenario.step().mesh = read_mesh(root["mesh"], root["mesh_mapping"], scenario.hardware,
                                     serves ? workloads::axis::tensor : workloads::axis::fsdp);
    scenario.step().mesh_text = mesh_text(scenario.step().mesh, scenario.hardware);
    const auto& read = serves ? read_inference : read_plan;
    scenario.step().plan =
        read(root, scenario.step().mesh, scenario.hardware, scenario.step().model);
    scenario.step().evaluation = read_evaluation(root["evaluation"], scenario);
    scenario.step().report = read_report(root["report"], serves);
    scenario.expectations = read_expectations(root["expect"]);
    check_formulas(root["expect"], scenario);
    if (!scenario.step().evaluation.has_value() && root["expect"]["block_time"].present()) {
        throw root["expect"]["block_time"].error("there are no blocks without evaluation steps",
                                                 "write evaluation: {tokens: 1Mi, steps: 48}");
    }
    return scenario;
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
    if (const Reader serving = Reader(tree)["serving"]; serving.present()) {
        check_schema(tree);
        throw serving.error("requests are served by podsim serve, not simulated as one step",
                            "use podsim serve, or write inference.step and leave serving out");
    }
    return load(tree, path);
}

Scenario load_server(const YamlNode& tree, const std::string& path) {
    const Reader serving = Reader(tree)["serving"];
    if (!serving.present()) {
        check_schema(tree);
        throw serving.error("nothing says what is served",
                            "write serving: {rate: 4 requests/s, requests: 1000, ...}");
    }
    return load(tree, path);
}

std::string scenario_title(const std::string& path) {
    const YamlNode tree = read_scenario(path);
    const YamlNode* const name = tree.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path).stem().string();
}

}  // namespace podsim::scenarios
