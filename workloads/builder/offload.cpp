// Tensors that stay with the host between the forward and the backward pass (step_builder.h).
#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {

BufferId StepBuilder::offload(std::string_view tensor, double bytes, OpIndex from,
                              OpIndex last_use) {
    const std::size_t use = use_ - 1;
    if (offloaded_.empty() || offloaded_.back().use != use) {
        const auto needs_them = [&](const WeightUse& later) {
            return later.pass == Pass::backward && later.layer == uses_[use].layer &&
                   later.microbatch == uses_[use].microbatch;
        };
        const auto back = std::ranges::find_if(uses_, needs_them);
        offloaded_.push_back({.use = use, .back = static_cast<std::size_t>(back - uses_.begin())});
    }
    const BufferId leaves = hold(MemoryClass::activations, bytes, from);
    release(leaves, last_use);
    const BufferId returns = hold(MemoryClass::activations, bytes, from);
    offloaded_.back().tensors.push_back(
        {.name = std::string(tensor), .written_by = from, .leaves = leaves, .returns = returns});
    return returns;
}

OpIndex StepBuilder::add_transfer(std::size_t use, std::string_view what, bool to_host,
                                  BufferId buffer, std::vector<OpIndex> after) {
    const WeightUse& of = uses_[use];
    const OpIndex op = add(
        fmt::format("{}{} {} {}", of_microbatch(of.microbatch), of.part, to_string(of.pass), what),
        HostTransfer{to_host, program_.buffers[buffer].bytes}, std::move(after));
    program_.ops[op].pass = of.pass;
    program_.ops[op].layer = of.layer;
    return op;
}

void StepBuilder::store(Offloaded& layer) {
    for (Offloaded::Tensor& tensor : layer.tensors) {
        if (tensor.stored != kWholeStep) {
            continue;
        }
        std::vector<OpIndex> after;
        if (tensor.written_by != kWholeStep) {
            after.push_back(tensor.written_by);
        }
        tensor.stored = add_transfer(layer.use, fmt::format("offload {}", tensor.name), true,
                                     tensor.leaves, std::move(after));
        release(tensor.leaves, tensor.stored);
    }
}

void StepBuilder::fetch(Offloaded& layer) {
    const std::size_t start = may_start(static_cast<double>(layer.back));
    // A stretch that is over by then has waited for the stores: layers that repeat look alike without them.
    const bool stored = start > awaits(layer);
    for (const Offloaded::Tensor& tensor : layer.tensors) {
        std::vector<OpIndex> after;
        if (!stored) {
            after.push_back(tensor.stored);
        }
        if (start > 0) {
            after.push_back(stretch_ends_[start - 1]);
        }
        std::ranges::sort(after);
        layer.fetched.push_back(add_transfer(layer.back, fmt::format("fetch {}", tensor.name),
                                             false, tensor.returns, std::move(after)));
        program_.buffers[tensor.returns].allocated_at = layer.fetched.back();
    }
}

std::size_t StepBuilder::awaits(const Offloaded& layer) const {
    return stretches_.first_at(static_cast<double>(layer.use) + 1 + plan_.overlap.prefetch_layers);
}

void StepBuilder::begin_transfers(std::size_t stretch) {
    const std::size_t use = stretches_[stretch].use;
    for (Offloaded& layer : offloaded_) {
        if (layer.use == use) {
            continue;  // it still grows
        }
        if (stretch >= awaits(layer) && !layer.awaited) {
            store(layer);
            for (const Offloaded::Tensor& tensor : layer.tensors) {
                waits_.push_back(tensor.stored);
            }
            layer.awaited = true;
        }
        if (stretch >= may_start(static_cast<double>(layer.back)) && layer.fetched.empty()) {
            store(layer);
            fetch(layer);
        }
        if (use == layer.back) {
            waits_.insert(waits_.end(), layer.fetched.begin(), layer.fetched.end());
        }
    }
    std::erase_if(offloaded_, [&](const Offloaded& layer) { return layer.back == use; });
}

}  // namespace podsim::workloads
