#include "workloads/program/chain.h"

#include <algorithm>
#include <iterator>

namespace podsim::workloads {
Chain::Chain(const Overlap& overlap, const OpNames& names)
    : names_(names), in_flight_(static_cast<std::size_t>(overlap.collectives_in_flight)) {
    program_.priority = overlap.priority;
}

template <class Some>
OpIndex Chain::add(OpLabel label, Some&& work, Waits waits) {
    sort_once(waits.needs);
    sort_once(waits.limits);
    std::erase_if(waits.limits,
                  [&](OpIndex op) { return std::ranges::binary_search(waits.needs, op); });
    Op& op = program_.ops.emplace_back();  // work is large: it is moved once
    op.name = std::move(label.name);
    op.pass = label.pass;
    op.layer = label.layer;
    op.work = std::forward<Some>(work);
    op.after = std::move(waits.after);
    op.needs = std::move(waits.needs);
    op.limits = std::move(waits.limits);
    met_.push_back(false);
    return next() - 1;
}

void Chain::begin_turn() {
    if (program_.turns.empty() || program_.turns.back() != next()) {
        program_.turns.push_back(next());
    }
}

Sources Chain::end() const {
    Sources after = joined_;
    for (const OpIndex op : {behind_, last_}) {
        if (op != kWholeStep) {
            after.push_back(op);
        }
    }
    return after;
}

Sources Chain::take_end() {
    Sources after = end();
    joined_.clear();
    behind_ = kWholeStep;
    for (const OpIndex op : after) {
        met_[op] = true;
    }
    return after;
}

OpIndex Chain::compute(std::string_view what, Compute work, Sources needs) {
    Sources after = take_end() + std::exchange(awaited_, {}) + bounds_;
    std::ranges::copy_if(needs, std::back_inserter(after), [&](OpIndex op) { return !met_[op]; });
    sort_once(after);
    for (const OpIndex op : after) {
        met_[op] = true;
    }
    last_ = last_compute_ = add(names_.label(what), std::move(work),
                                {std::move(needs), std::exchange(bounds_, {}), std::move(after)});
    met_[last_] = true;
    return last_;
}

OpIndex Chain::blocking(std::string_view what, Collective collective, Sources needs) {
    Sources after = take_end();
    last_ = this->collective(names_.label(what), std::move(collective),
                             {std::move(needs), {}, std::move(after)});
    met_[last_] = true;
    return last_;
}

OpIndex Chain::beside(OpLabel label, Work work, Waits waits) {
    return add(std::move(label), std::move(work), std::move(waits));
}

OpIndex Chain::collective(OpLabel label, Collective collective, Waits waits) {
    wait_for_turn(waits);
    collectives_.push_back(add(std::move(label), std::move(collective), std::move(waits)));
    return collectives_.back();
}

void Chain::wait_for_turn(Waits& waits) const {
    if (in_flight_ > 0 && collectives_.size() >= in_flight_) {
        const OpIndex turn = collectives_[collectives_.size() - in_flight_];
        waits.limits.push_back(turn);
        waits.after.push_back(turn);
        sort_once(waits.after);
    }
}

void Chain::await(const Sources& ops) {
    awaited_.insert(awaited_.end(), ops.begin(), ops.end());
}

void Chain::bound(const Sources& ops) {
    bounds_.insert(bounds_.end(), ops.begin(), ops.end());
}

}  // namespace podsim::workloads
