#include "scenarios/src/report/quantities.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

#include "scenarios/src/base/format.h"
#include "scenarios/src/scenario/formulas.h"
#include "scenarios/src/scenario/mfu_peak.h"
#include "scenarios/src/scenario/token_time.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/pipeline_order.h"

namespace podsim::scenarios {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kSecondsPerDay = 86400;

Value whole(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}

/// Returns a whole number if it is one; look-aheads over layers gathered in several segments are
/// not.
Value whole_or_part(double number) {
    return std::floor(number) == number ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

double chip_hours(const Scenario& scenario, const StepResult& result) {
    return training_run_seconds(scenario, result) / kSecondsPerHour * scenario.hardware.chips();
}

Value book_of_program(const Scenario& /*scenario*/, const ProgramResult& result) {
    return result.book ? Value(result.book->value()) : Value();
}

using S = Scenario;
using R = StepResult;
using P = ProgramResult;

template <class Member>
Value if_uneven(const StepResult& result, Member member) {
    return result.imbalance ? Value(member(*result.imbalance)) : Value();
}

constexpr QuantitySource kSources[] = {
    {"step_time", [](const S&, const R& r) { return Value(decimal_seconds(r.step_time)); },
     [](const S&, const P& r) { return Value(decimal_seconds(r.time)); }},
    {"evaluation_step_time",
     [](const S& s, const R& r) {
         return s.step().evaluation ? Value(decimal_seconds(r.evaluation)) : Value();
     }},
    {"block_time",
     [](const S& s, const R& r) {
         return s.step().evaluation ? Value(decimal_seconds(r.block)) : Value();
     }},
    {"compute", [](const S&, const R& r) { return Value(decimal_seconds(r.compute)); }},
    {"exposed_communication",
     [](const S&, const R& r) { return Value(decimal_seconds(r.exposed_total)); }},
    {"mfu", [](const S&, const R& r) { return Value(r.mfu); }},
    {"hfu", [](const S&, const R& r) { return Value(r.hfu); }},
    {"model_tflops_per_s_per_device",
     [](const S& s, const R& r) {
         return Value(device_flops(s.hardware.chip, s.step().plan.precision.matmul, r.mfu).value() /
                      1e12);
     }},
    {"flop_rule",
     [](const S& s, const R&) {
         return Value(std::string(workloads::to_string(s.step().report.flop_rule)));
     }},
    {"tokens_per_s", [](const S&, const R& r) { return Value(r.tokens_per_s); }},
    {"bound", [](const S&, const R& r) { return Value(r.lower.bound); },
     [](const S&, const P& r) { return Value(r.stages[r.limiting].name); }},
    {"book", [](const S&, const R& r) { return Value(r.book.value()); }, book_of_program},
    {"roofline_lower", [](const S&, const R& r) { return Value(r.lower.time.value()); },
     [](const S&, const P& r) { return Value(r.lower.value()); }},
    {"roofline_serial", [](const S&, const R& r) { return Value(r.serial.value()); },
     [](const S&, const P& r) { return Value(r.serial.value()); }},
    {"peak_memory", [](const S&, const R& r) { return Value(r.memory.peak.value()); }},
    {"memory_capacity", [](const S&, const R& r) { return Value(r.memory.capacity.value()); }},
    {"fits", [](const S&, const R& r) { return Value(r.memory.fits); }},
    {"tight", [](const S&, const R& r) { return Value(r.memory.tight); }},
    {"peak_memory_time",
     [](const S&, const R& r) { return Value(decimal_seconds(r.memory.peak_at)); }},
    {"prefetch_layers", [](const S&, const R& r) { return whole_or_part(r.prefetch_layers); }},
    {"asked_prefetch_layers", [](const S&, const R& r) { return whole_or_part(r.asked_prefetch); }},
    {"fetch_layers",
     [](const S&, const R& r) {
         return r.asked_fetch > 0 ? whole_or_part(r.fetch_layers) : Value();
     }},
    {"asked_fetch_layers",
     [](const S&, const R& r) {
         return r.asked_fetch > 0 ? whole_or_part(r.asked_fetch) : Value();
     }},
    {"asked_prefetch_step_time",
     [](const S&, const R& r) {
         return r.with_asked_prefetch ? Value(decimal_seconds(*r.with_asked_prefetch)) : Value();
     }},
    {"pipeline_stages",
     [](const S& s, const R&) { return Value(std::int64_t{s.step().plan.ways.pipeline}); }},
    {"pipeline_schedule",
     [](const S& s, const R&) {
         return Value(std::string(workloads::to_string(s.step().plan.pipeline.schedule)));
     }},
    {"microbatches",
     [](const S& s, const R&) { return Value(std::int64_t{s.step().plan.batch.microbatches}); }},
    {"bubble", [](const S&, const R& r) { return Value(r.bubble); }},
    {"formula_bubble",
     [](const S& s, const R& r) {
         return Value(workloads::bubble_fraction(s.step().plan, r.passes));
     }},
    {"forward_time", [](const S&, const R& r) { return Value(r.passes.forward.value()); }},
    {"input_gradients_time",
     [](const S&, const R& r) { return Value(r.passes.input_gradients.value()); }},
    {"weight_gradients_time",
     [](const S&, const R& r) { return Value(r.passes.weight_gradients.value()); }},
    {"reported_stage", [](const S&, const R& r) { return Value(std::int64_t{r.reported.stage}); }},
    {"memory_stage", [](const S&, const R& r) { return Value(std::int64_t{r.memory.stage}); }},
    {"attention_over_mean",
     [](const S&, const R& r) {
         return if_uneven(r, [](const Imbalance& one) { return one.attention; });
     }},
    {"expert_tokens_over_mean",
     [](const S&, const R& r) {
         return if_uneven(r, [](const Imbalance& one) { return one.experts; });
     }},
    {"compute_over_mean",
     [](const S&, const R& r) {
         return if_uneven(r, [](const Imbalance& one) { return one.compute; });
     }},
    {"reported_member",
     [](const S&, const R& r) {
         return if_uneven(r, [&](const Imbalance&) { return r.reported_member; });
     }},
    {"memory_member",
     [](const S&, const R& r) {
         return if_uneven(r, [&](const Imbalance&) { return r.memory.member; });
     }},
    {"even_step_time",
     [](const S&, const R& r) {
         return r.imbalance && r.imbalance->even_step
                    ? Value(decimal_seconds(*r.imbalance->even_step))
                    : Value();
     }},
    {"training_tokens",
     [](const S& s, const R&) {
         return s.step().report.tokens ? Value(*s.step().report.tokens) : Value();
     }},
    {"training_run_days",
     [](const S& s, const R& r) {
         return s.step().report.tokens ? Value(training_run_seconds(s, r) / kSecondsPerDay)
                                       : Value();
     }},
    {"training_run_chip_hours",
     [](const S& s, const R& r) {
         return s.step().report.tokens ? Value(chip_hours(s, r)) : Value();
     }},
    {"training_run_cost",
     [](const S& s, const R& r) {
         return s.step().report.tokens && s.step().report.usd_per_chip_hour
                    ? Value(chip_hours(s, r) * *s.step().report.usd_per_chip_hour)
                    : Value();
     }},
    {"time_per_token",
     [](const S& s, const R& r) {
         const auto& inference = s.step().plan.inference;
         if (!has_token_time(inference)) {
             return Value();
         }
         return inference->generate > 1 ? Value((r.step_time - r.prefill).seconds() /
                                                static_cast<double>(inference->generate - 1))
                                        : Value(r.step_time.seconds());
     }},
    {"tokens_per_s_per_chip",
     [](const S& s, const R& r) {
         return s.step().plan.inference ? Value(r.tokens_per_s / r.chips) : Value();
     }},
    {"cost_per_million_tokens",
     [](const S& s, const R& r) {
         const auto& price = s.step().report.usd_per_chip_hour;
         return s.step().plan.inference && price
                    ? Value(*price / kSecondsPerHour * r.chips / r.tokens_per_s * 1e6)
                    : Value();
     }},
    {"chips", [](const S&, const R& r) { return Value(std::int64_t{r.chips}); },
     [](const S& s, const P&) { return Value(std::int64_t{s.hardware.chips()}); }},
    {"simulated_chips", [](const S&, const R& r) { return Value(std::int64_t{r.simulated_chips}); },
     [](const S&, const P& r) { return Value(std::int64_t{r.simulated_chips}); }},
    {"events", [](const S&, const R& r) { return whole(r.events); },
     [](const S&, const P& r) { return whole(r.events); }},
    {"played_events", [](const S&, const R& r) { return whole(r.played_events); }},
};

const QuantitySource& source_of(const QuantityName& quantity) {
    return *std::ranges::find(kSources, quantity.name, &QuantitySource::name);
}

void put(Json& json, std::string_view key, Json value) {
    const std::size_t dot = key.find('.');
    if (dot == std::string_view::npos) {
        json[std::string(key)] = std::move(value);
    } else {
        json[std::string(key.substr(0, dot))][std::string(key.substr(dot + 1))] = std::move(value);
    }
}

constexpr double kLargestPrefixed = 1e18;

std::string count_text(double value) {
    return value < kLargestPrefixed ? format_count(value) : fmt::format("{:.3e}", value);
}

}  // namespace

std::span<const QuantitySource> quantity_sources() {
    return kSources;
}

Value value_of(std::string_view quantity, const Scenario& scenario, const StepResult& result) {
    const QuantityName& name = find_quantity(quantity);
    if (const Formula* const formula = find_formula(quantity)) {
        return formula->value(scenario);
    }
    return source_of(name).of_step(scenario, result);
}

Value value_of(std::string_view quantity, const Scenario& scenario, const ProgramResult& result) {
    const QuantityName& name = find_quantity(quantity);
    if (const Formula* const formula = find_formula(quantity)) {
        return name.of_programs ? Value(formula->value(scenario)) : Value();
    }
    return name.of_programs ? source_of(name).of_program(scenario, result) : Value();
}

double training_run_seconds(const Scenario& scenario, const StepResult& result) {
    const double alone = *scenario.step().report.tokens / result.tokens_per_s;
    const auto& evaluation = scenario.step().evaluation;
    return evaluation ? alone * result.block.seconds() /
                            (result.step_time.seconds() * evaluation->train_steps)
                      : alone;
}

double number_of(const Value& value) {
    return std::visit(
        [](const auto& held) -> double {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
                return static_cast<double>(held);
            } else {
                return 0;
            }
        },
        value);
}

std::string quantity_text(std::string_view quantity, double value) {
    switch (find_quantity(quantity).unit) {
        case ValueUnit::time:
            return format_time(value);
        case ValueUnit::share:
            return format_percent(value);
        case ValueUnit::bytes:
            return format_bytes(sim::Bytes(value));
        case ValueUnit::token_rate:
            return format_count(value) + " tokens/s";
        case ValueUnit::money:
            return format_count(value) + " USD";
        case ValueUnit::count:
        case ValueUnit::text:
        case ValueUnit::truth:
            break;
    }
    return count_text(value);
}

Json json_of(const Value& value) {
    return std::visit(
        [](const auto& held) -> Json {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
                return nullptr;
            } else {
                return held;
            }
        },
        value);
}

Value value_at(const Json& json, std::string_view key) {
    const std::string first(key.substr(0, key.find('.')));
    if (!json.is_object() || !json.contains(first)) {
        return {};
    }
    const Json& held = json[first];
    if (first.size() < key.size()) {
        return value_at(held, key.substr(first.size() + 1));
    }
    return held.is_boolean()          ? Value(held.get<bool>())
           : held.is_number_integer() ? Value(held.get<std::int64_t>())
           : held.is_number()         ? Value(held.get<double>())
           : held.is_string()         ? Value(held.get<std::string>())
                                      : Value();
}

void add_values(Json& json, JsonPart part, const Scenario& scenario, const StepResult& result) {
    for (const QuantityName& quantity : reported_quantities()) {
        if (quantity.part != part) {
            continue;
        }
        const Value value = source_of(quantity).of_step(scenario, result);
        if (!std::holds_alternative<std::monostate>(value)) {
            put(json, quantity.key, json_of(value));
        }
    }
}

void add_values(Json& json, JsonPart part, const Scenario& scenario, const ProgramResult& result) {
    for (const QuantityName& quantity : reported_quantities()) {
        if (quantity.part == part && quantity.of_programs) {
            put(json, quantity.key, json_of(source_of(quantity).of_program(scenario, result)));
        }
    }
}

}  // namespace podsim::scenarios
