#include "scenarios/src/scenario/load.h"

#include <filesystem>

#include "scenarios/src/scenario/load_inference.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/load_serving.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

std::string as_written(const std::string& text) {
    return text;
}

void forget_lines(YamlNode& node) {
    node.mark = {node.mark.file, 0, 0};
    for (YamlNode& item : node.items) {
        forget_lines(item);
    }
    for (YamlNode::Entry& entry : node.entries) {
        entry.mark = {entry.mark.file, 0, 0};
        forget_lines(entry.value);
    }
}

/// Inference has no backward pass, and states itself which sequences go through the model.
void refuse_training_keys(const Reader& root) {
    for (const std::string_view key : {"batch", "training", "evaluation"}) {
        if (root[key].present()) {
            root[key].refuse("inference beside a training step",
                             "leave it out, or leave out inference");
        }
    }
}

bool is_inference(const Reader& root) {
    return root["inference"].said() || root["serving"].said();
}

/// A program has no training step.
void refuse_step_keys(const Reader& root) {
    for (const std::string_view key :
         {"model", "batch", "mesh", "training", "inference", "overlap", "evaluation", "report"}) {
        if (root[key].present()) {
            root[key].refuse("a program has no training step",
                             "leave it out, or leave out program");
        }
    }
}

void read_program_of(const Reader& root, Scenario& scenario) {
    refuse_step_keys(root);
    refuse_step_quantities(root["expect"]);
    scenario.work = read_program(root["program"], scenario.hardware);
    root["expect"]["book"].check({"program"}, [&] {
        if (root["expect"]["book"].present() && !is_one_collective(scenario.program())) {
            throw root["expect"]["book"].error("the reference text has no time of this program",
                                               "expect it of one collective, in one piece");
        }
    });
    scenario.expectations = read_expectations(root["expect"]);
    check_formulas(root["expect"], scenario);
}

/// Notes the factors of the axes in the log.
void tell_mesh(const Reader& mesh, const TrainingStep& step) {
    for (std::size_t i = 0; i < step.mesh_axes.size(); ++i) {
        const Reader axis = mesh[step.mesh.axes()[i].name];
        if (mesh.present()) {
            axis.comes_to(step.mesh_axes[i]);
        } else {
            axis.works_out_as(step.mesh_axes[i], "without a mesh every axis of the slice");
        }
    }
}

void read_step_of(const Reader& root, const std::filesystem::path& folder, Scenario& scenario) {
    TrainingStep& step = scenario.step();
    root["model"].check({}, [&] { step.model = read_model(root["model"].require(), folder); });
    const bool serves = is_inference(root);
    if (serves) {
        refuse_training_keys(root);
    }
    root["mesh"].derive({"hardware.slice", "hardware.slices", "mesh", "mesh_mapping"}, [&] {
        step.mesh = read_mesh(root["mesh"], root["mesh_mapping"], scenario.hardware,
                              serves ? workloads::axis::tensor : workloads::axis::fsdp);
    });
    step.mesh_axes = mesh_axes(step.mesh, scenario.hardware);
    tell_mesh(root["mesh"], step);
    step.mesh = step.mesh.first_of_kind(axis_exchanges(scenario.hardware));
    const auto& read = serves ? read_inference : read_plan;
    step.plan = read(root, step.mesh, scenario.hardware, step.model);
    if (!serves) {
        step.evaluation = read_evaluation(root["evaluation"], scenario);
    }
    step.report = read_report(root["report"], serves);
    if (!root["serving"].said()) {
        refuse_served_quantities(root["expect"]);
    }
    scenario.expectations = read_expectations(root["expect"]);
    check_formulas(root["expect"], scenario);
    if (!root["serving"].said()) {
        check_token_quantities(root["expect"], step);
    }
    const Reader block_time = root["expect"]["block_time"];
    block_time.check({"evaluation"}, [&] {
        if (block_time.present() && !step.evaluation.has_value()) {
            throw block_time.error("there are no blocks without evaluation steps",
                                   "write evaluation: {tokens: 1Mi, steps: 48}");
        }
    });
}

/// Reads `serving:` of a step that has been read, if `requests` allows it.
void read_serving_of(const Reader& root, const std::filesystem::path& folder, Requests requests,
                     Scenario& scenario) {
    const Reader serving = root["serving"];
    if (requests == Requests::none && serving.present()) {
        serving.refuse("requests are served by podsim serve, not simulated as one step",
                       "use podsim serve, or write inference.step and leave serving out");
        return;
    }
    if (requests == Requests::some || serving.present()) {
        refuse_all_but_served_quantities(root["expect"]);
        scenario.serving = load_serving(serving, folder, scenario);
        if (scenario.serving != nullptr) {
            refuse_times_between_tokens(root["expect"], *scenario.serving);
        }
    }
}

Scenario load(const YamlNode& tree, const std::string& path, Requests requests,
              ReadingLog* log = nullptr) {
    sim::InputFaults faults([&](std::string_view place) { return place_of(tree, place); });
    const YamlNode sound = sound_part(tree, faults);
    const Reader root(sound, faults, log);

    const std::filesystem::path file(path);
    Scenario scenario;
    scenario.file = path;
    scenario.name = root["name"].get<std::string>(as_written, file.stem().string());
    scenario.hardware =
        read_hardware(root["hardware"].require(), file.parent_path(), is_inference(root));
    scenario.hardware.perturbations = read_perturbations(root["perturb"], scenario.hardware);
    static_cast<void>(read_search(root["search"]));
    if (root["program"].present()) {
        read_program_of(root, scenario);
    } else {
        read_step_of(root, file.parent_path(), scenario);
    }
    read_serving_of(root, file.parent_path(), requests, scenario);
    faults.throw_all();
    return scenario;
}

/// Refuses files of other programs, each of whose keys would be unknown.
void refuse_files_of_others(const YamlNode& tree, const std::string& path) {
    const auto has = [&](std::string_view key) { return tree.find(key) != nullptr; };
    if (tree.kind != YamlNode::Kind::map || has("hardware")) {
        return;
    }
    if (has("base_emb_dim") || has("per_device_batch_size")) {
        throw sim::InputError("a file of MaxText, not a scenario",
                              "podsim import maxtext writes one of it", {path, 0, 0});
    }
    if (has("model_type") && (has("hidden_size") || has("text_config"))) {
        throw sim::InputError("a Hugging Face config, not a scenario",
                              "name it as model: {hf_config: FILE}; podsim import hf reads it",
                              {path, 0, 0});
    }
}

}  // namespace

Scenario load_scenario(const ScenarioSource& source, std::span<const std::string> settings,
                       Requests requests) {
    YamlNode tree = read_scenario(source);
    for (const std::string& setting : settings) {
        apply_setting(tree, setting);
    }
    return load_scenario(tree, source.file, requests);
}

YamlNode read_scenario(const ScenarioSource& source) {
    if (source.has_lines) {
        return parse_yaml(text_of(source), source.file);
    }
    try {
        YamlNode tree = parse_yaml(text_of(source), source.file);
        forget_lines(tree);
        return tree;
    } catch (const sim::InputError& error) {
        throw sim::InputError(error.problem(), error.remedy(), {source.file, 0, 0});
    }
}

Scenario load_scenario(const YamlNode& tree, const std::string& path, Requests requests) {
    refuse_files_of_others(tree, path);
    return load(tree, path, requests);
}

IdealHardware load_hardware(const YamlNode& tree, const std::string& path) {
    sim::InputFaults faults;
    const Reader root(tree, faults);
    IdealHardware hardware = read_hardware(
        root["hardware"].require(), std::filesystem::path(path).parent_path(), is_inference(root));
    hardware.perturbations = read_perturbations(root["perturb"], hardware);
    return hardware;
}

workloads::ModelSpec load_model(const YamlNode& tree, const std::string& path) {
    sim::InputFaults faults;
    const Reader root(tree, faults);
    return read_model(root["model"].require(), std::filesystem::path(path).parent_path());
}

Scenario load_scenario(const YamlNode& tree, const std::string& path, Requests requests,
                       ReadingLog& log) {
    Scenario scenario = load(tree, path, requests, &log);
    log.settle();
    return scenario;
}

std::vector<Scenario> load_scenarios(std::span<const ScenarioSource> sources) {
    std::vector<Scenario> scenarios;
    std::vector<sim::InputError> wrong;
    for (const ScenarioSource& source : sources) {
        try {
            scenarios.push_back(load_scenario(source, {}, Requests::any));
        } catch (const sim::InputError& error) {
            for (sim::InputError& each : sim::errors_in(error)) {
                wrong.push_back(std::move(each));
            }
        }
    }
    if (wrong.size() == 1) {
        throw wrong.front();
    }
    if (!wrong.empty()) {
        throw sim::InputErrors(std::move(wrong));
    }
    return scenarios;
}

std::string scenario_title(const std::string& path) {
    const YamlNode tree = read_scenario(path);
    const YamlNode* const name = tree.find("name");
    return name != nullptr && name->kind == YamlNode::Kind::scalar
               ? name->text
               : std::filesystem::path(path).stem().string();
}

}  // namespace podsim::scenarios
