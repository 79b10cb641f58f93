// `evaluation` and `report`: the evaluation steps between training steps, and the additions to a
// report.
#include <fmt/format.h>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

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

}  // namespace

std::optional<Evaluation> read_evaluation(const Reader& evaluation, const Scenario& scenario) {
    if (!evaluation.present()) {
        return std::nullopt;
    }
    if (scenario.step().plan.forward_only) {
        evaluation.refuse("the step itself is an evaluation step",
                          "leave out evaluation, or write training.step: train");
    }
    Evaluation read;
    read.tokens = evaluation["tokens"].read(parse_count);
    read.steps = static_cast<int>(evaluation["steps"].require().whole(1, 1 << 20, 1));
    read.train_steps = static_cast<int>(evaluation["train_steps"].whole(1, 1 << 20, 1));
    workloads::TrainingPlan plan = scenario.step().plan;
    plan.forward_only = true;
    plan.batch.tokens = read.tokens;
    const Reader tokens = evaluation["tokens"];
    tokens.check({"evaluation", "model", "batch", "mesh", "training", "overlap"}, [&] {
        try {
            workloads::validate(plan, scenario.step().model);
        } catch (const sim::InputError& error) {
            throw tokens.located(error);
        }
    });
    return read;
}

ReportOptions read_report(const Reader& report, bool serves) {
    using workloads::FlopRule;
    constexpr std::pair<std::string_view, FlopRule> kRules[] = {
        {"executed", FlopRule::executed},
        {"6ND", FlopRule::parameters},
        {"parameters", FlopRule::parameters},
        {"masked_attention", FlopRule::masked_attention},
        {"full_attention", FlopRule::full_attention},
        {"maxtext", FlopRule::maxtext},
        {"maxtext_unwindowed", FlopRule::maxtext_unwindowed},
        {"maxtext_2025", FlopRule::maxtext_2025},
        {"maxtext_2024", FlopRule::maxtext_2024},
        {"maxtext_2024_unwindowed", FlopRule::maxtext_2024_unwindowed}};
    ReportOptions options;
    options.flop_rule = report["flop_rule"].choose<FlopRule>(kRules, FlopRule::executed);
    if (serves && options.flop_rule >= FlopRule::maxtext) {
        report["flop_rule"].refuse("MaxText counts training steps", "leave it out");
    }
    if (report["tokens"].present()) {
        options.tokens = report["tokens"].read(positive_count);
        if (serves) {
            report["tokens"].refuse("inference trains on no tokens", "leave it out");
        }
    }
    if (report["price"].present()) {
        if (!options.tokens.has_value() && !serves) {
            report["price"].refuse("a price needs a token budget",
                                   "write tokens beside it, such as tokens: 15T");
        }
        options.usd_per_chip_hour = report["price"].read(parse_price);
    }
    if (report["mfu"].present()) {
        options.mfu = report["mfu"].read(parse_utilisation);
    }
    if (report["output_tokens"].present()) {
        options.output_tokens = report["output_tokens"].read(positive_count);
    }
    if (report["checkpoints"].present()) {
        options.checkpoints = report["checkpoints"].read(positive_count);
    }
    if (report["parameters"].present()) {
        options.parameters = report["parameters"].read(positive_count);
    }
    return options;
}

}  // namespace podsim::scenarios
