#include "workloads/builder/host_offload.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace podsim::workloads {

BufferId HostOffload::offload(std::string_view name, double bytes, OpIndex from,
                              const Sources& made_by, OpIndex last_use) {
    const std::size_t use = weights_.use();
    if (away_.empty() || away_.back().use != use) {
        const std::vector<WeightUse>& uses = weights_.uses();
        const auto needs_them = [&](const WeightUse& later) {
            return later.pass == Pass::backward && later.layer == uses[use].layer &&
                   later.microbatch == uses[use].microbatch;
        };
        const auto back = std::ranges::find_if(uses, needs_them);
        away_.push_back({.use = use, .back = static_cast<std::size_t>(back - uses.begin())});
    }
    const BufferId leaves = buffers_.hold(MemoryClass::activations, bytes, from);
    buffers_.release(leaves, last_use);
    const BufferId returns = buffers_.hold(MemoryClass::activations, bytes, from);
    comes_back_.resize(returns + 1);
    comes_back_[returns] = true;
    away_.back().tensors.push_back({.name = std::string(name),
                                    .from = from,
                                    .made_by = made_by,
                                    .leaves = leaves,
                                    .returns = returns});
    return returns;
}

void HostOffload::bring_back(Tensor& tensor) const {
    if (tensor.buffer < comes_back_.size() && comes_back_[tensor.buffer]) {
        tensor.made_by = {buffers_.filled_by(tensor.buffer)};
    }
}

OpIndex HostOffload::transfer(std::size_t use, std::string_view what,
                              collectives::HostDirection direction, BufferId buffer,
                              Chain::Waits waits) {
    const WeightUse& of = weights_.uses()[use];
    return chain_.beside(names_.label(of.part, of.pass, of.layer, of.microbatch, what),
                         HostTransfer{direction, buffers_.bytes(buffer)}, std::move(waits));
}

void HostOffload::store(Layer& layer) {
    for (Layer::Stored& tensor : layer.tensors) {
        if (tensor.stored != kWholeStep) {
            continue;
        }
        Sources after;
        if (tensor.from != kWholeStep) {
            after.push_back(tensor.from);
        }
        tensor.stored = transfer(layer.use, fmt::format("offload {}", tensor.name),
                                 collectives::HostDirection::to_host, tensor.leaves,
                                 {tensor.made_by, {}, std::move(after)});
        buffers_.release(tensor.leaves, tensor.stored);
    }
}

void HostOffload::fetch(Layer& layer) {
    const std::size_t start = may_fetch(layer);
    // A stretch that is over by then has waited for the stores: layers that repeat look alike without them.
    const bool stored = start > awaits(layer);
    for (const Layer::Stored& tensor : layer.tensors) {
        Chain::Waits waits;
        waits.needs = {tensor.stored};
        if (!stored) {
            waits.after.push_back(tensor.stored);
        }
        if (start > 0) {
            waits.limits.push_back(weights_.end_of(start - 1));
            waits.after.push_back(weights_.end_of(start - 1));
        }
        std::ranges::sort(waits.after);
        layer.fetched.push_back(transfer(layer.back, fmt::format("fetch {}", tensor.name),
                                         collectives::HostDirection::to_chip, tensor.returns,
                                         std::move(waits)));
        buffers_.fill(tensor.returns, layer.fetched.back());
    }
}

std::size_t HostOffload::awaits(const Layer& layer) const {
    return weights_.first_at(static_cast<double>(layer.use) + 1 + std::ceil(fetch_));
}

std::size_t HostOffload::may_fetch(const Layer& layer) const {
    return weights_.first_at(static_cast<double>(layer.back) - fetch_);
}

void HostOffload::begin_stretch() {
    const std::size_t stretch = weights_.stretch();
    const std::size_t use = weights_.use();
    for (Layer& layer : away_) {
        if (layer.use == use) {
            continue;  // it still grows
        }
        if (stretch >= awaits(layer) && !layer.awaited) {
            store(layer);
            for (const Layer::Stored& tensor : layer.tensors) {
                chain_.bound({tensor.stored});
            }
            layer.awaited = true;
        }
        if (stretch >= may_fetch(layer) && layer.fetched.empty()) {
            store(layer);
            fetch(layer);
        }
        if (use == layer.back) {
            chain_.await(layer.fetched);
        }
    }
    std::erase_if(away_, [&](const Layer& layer) { return layer.back == use; });
}

}  // namespace podsim::workloads
