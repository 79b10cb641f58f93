// Reads the keys of `training` about number formats.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/training_parts.h"
#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {
namespace {

using workloads::MatmulDtype;
using workloads::Matrix;
using workloads::MatrixSet;
using workloads::Scaling;

constexpr std::pair<std::string_view, double> kElements[] = {{"bf16", 2.0}, {"fp32", 4.0}};
constexpr std::pair<std::string_view, Scaling> kScalings[] = {
    {"dynamic", Scaling::dynamic}, {"delayed", Scaling::delayed}, {"fixed", Scaling::fixed}};
enum class Gather { by_scaling, quantised, bf16 };
constexpr std::pair<std::string_view, Gather> kGathers[] = {
    {"auto", Gather::by_scaling}, {"true", Gather::quantised}, {"false", Gather::bf16}};

/// Projections and MLPs by the names of their outputs.
constexpr std::pair<std::string_view, MatrixSet> kMatmulNames[] = {
    {"qkv_proj", MatrixSet({Matrix::latent, Matrix::qkv})},
    {"out_proj", MatrixSet({Matrix::out})},
    {"mlp",
     MatrixSet({Matrix::shared_gate_up, Matrix::shared_down, Matrix::gate_up, Matrix::down})}};

void refuse_without_quantised_matmuls(const Reader& training) {
    for (const std::string_view key : {"scaling", "quantized_gather", "bf16_backward"}) {
        if (const Reader setting = training[key]; setting.present()) {
            setting.refuse("matmuls are bf16, which has no scales",
                           "leave it out, or set training.precision to int8 or fp8");
        }
    }
}

MatrixSet read_matmuls(const Reader& list) {
    MatrixSet set;
    for (const Reader& item : list.items()) {
        set = set | item.choose<MatrixSet>(kMatmulNames, {});
    }
    return set;
}

/// Returns the bytes of both moments alike, or the mean of the first and the second, because no
/// work distinguishes them.
double read_moments(const Reader& moments) {
    const std::vector<Reader> items = moments.items();
    if (items.empty() && moments.present() && moments.sound()) {
        moments.refuse("the list is empty", "write moments: bf16, or [bf16, fp32]");
        return 4;
    }
    if (items.size() < 2) {
        return (items.empty() ? moments : items.front()).choose<double>(kElements, 4.0);
    }
    double bytes = 0;
    for (const Reader& item : items) {
        bytes += item.choose<double>(kElements, 4.0);
    }
    return bytes / static_cast<double>(items.size());
}

}  // namespace

workloads::MatmulDtype read_dtype(const Reader& dtype, const topology::ChipSpec& chip) {
    const auto read = dtype.choose<MatmulDtype>(workloads::kMatmulDtypes, MatmulDtype::bf16);
    const auto has = [&](MatmulDtype type) {
        return type == MatmulDtype::bf16 ||
               (type == MatmulDtype::int8 ? chip.int8_ops : chip.fp8_flops).value.value() > 0;
    };
    if (has(read)) {
        return read;
    }
    dtype.check({"hardware.chip.base", "hardware.chip.int8_ops", "hardware.chip.fp8_flops"}, [&] {
        std::vector<std::string_view> allowed;
        for (const auto& [name, type] : workloads::kMatmulDtypes) {
            if (has(type)) {
                allowed.push_back(name);
            }
        }
        throw dtype.error(fmt::format("{} has no {} matmuls", chip.name, to_string(read)),
                          fmt::format("allowed: {}", fmt::join(allowed, ", ")));
    });
    return read;
}

workloads::Precision read_precision(const Reader& training, const topology::ChipSpec& chip,
                                    const workloads::ExpertPath& experts) {
    workloads::Precision precision;
    precision.matmul = read_dtype(training["precision"], chip);
    precision.parameters = training["parameters"].choose<double>(kElements, 2.0);
    precision.gradients = training["gradients"].choose<double>(kElements, 2.0);
    precision.optimizer_moment = read_moments(training["moments"]);
    precision.logits = training["logits"].choose<double>(kElements, 2.0);
    const auto scaling = training["scaling"].choose<Scaling>(kScalings, Scaling::dynamic);
    const auto gather = training["quantized_gather"].choose<Gather>(kGathers, Gather::by_scaling);
    const MatrixSet bf16_backward = read_matmuls(training["bf16_backward"]);
    if (precision.matmul == MatmulDtype::bf16) {
        if (training["precision"].sound()) {
            refuse_without_quantised_matmuls(training);
        }
        return precision;
    }
    precision.scaling = scaling;
    precision.quantised_gather = gather != Gather::bf16;
    precision.quantised_expert_gather =
        gather == Gather::quantised ||
        (gather == Gather::by_scaling && !(experts.sparse() && precision.finds_scales()));
    precision.bf16_backward = bf16_backward;
    return precision;
}

}  // namespace podsim::scenarios
