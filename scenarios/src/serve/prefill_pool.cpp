#include "scenarios/src/serve/prefill_pool.h"

#include <utility>

namespace podsim::scenarios {

void PrefillPool::start(std::size_t server, Sequence& sequence, sim::Time takes) {
    Server& at = servers_[server];
    at.serving = &sequence;
    at.use.busy += takes;
    ++at.use.steps;
    at.use.tokens += sequence.todo();
}

Sequence& PrefillPool::end(std::size_t server, sim::Time now) {
    servers_[server].use.ended = now;
    return *std::exchange(servers_[server].serving, nullptr);
}

bool PrefillPool::send(std::size_t server, Sequence& sequence) {
    std::deque<Sequence*>& leaving = servers_[server].leaving;
    leaving.push_back(&sequence);
    return leaving.size() == 1;
}

Sequence& PrefillPool::sent(std::size_t server) {
    std::deque<Sequence*>& leaving = servers_[server].leaving;
    Sequence& sequence = *leaving.front();
    leaving.pop_front();
    return sequence;
}

Sequence* PrefillPool::next(std::size_t server) const {
    const std::deque<Sequence*>& leaving = servers_[server].leaving;
    return leaving.empty() ? nullptr : leaving.front();
}

}  // namespace podsim::scenarios
