#include "scenarios/src/serve/audit.h"

#include <stdexcept>
#include <string>

namespace podsim::scenarios {
namespace {

void ensure(bool holds, const char* what) {
    if (!holds) {
        throw std::logic_error(std::string("serving: ") + what);
    }
}

}  // namespace

Audit::Audit(std::span<const Request> requests) {
    for (const Request& request : requests) {
        accounts_.push_back({State::outside, request.output});
    }
}

void Audit::arrived(std::size_t request) {
    ensure(accounts_[request].state == State::outside, "a request arrives twice");
    accounts_[request].state = State::waiting;
}

void Audit::admitted(const WaitingLine& line, const Sequence& sequence) {
    State& state = accounts_[sequence.request].state;
    ensure(state == State::waiting, "a request is served that does not wait");
    state = State::served;
    if (sequence.preempted) {
        return;
    }
    const auto [turn, first] = last_turn_.try_emplace({&line, sequence.priority}, sequence.ticket);
    ensure(first || turn->second < sequence.ticket, "a request overtakes one of its class");
    turn->second = sequence.ticket;
    ensure(line.empty() || !EarlierTurn{}(&line.front(), &sequence),
           "a request is served before one that goes first");
}

void Audit::preempted(std::size_t request) {
    ensure(accounts_[request].state == State::served, "a request is preempted that is not served");
    accounts_[request].state = State::waiting;
}

void Audit::moved(std::size_t request) {
    ensure(accounts_[request].state == State::served, "a request moves that is not served");
    accounts_[request].state = State::waiting;
}

void Audit::made(std::size_t request, std::int64_t tokens) {
    Account& account = accounts_[request];
    ensure(account.state == State::served, "a token is made for a request that is not served");
    account.owed -= tokens;
    ensure(tokens > 0 && account.owed >= 0, "a request has more tokens than it asked for");
}

void Audit::finished(std::size_t request) {
    Account& account = accounts_[request];
    ensure(account.state == State::served && account.owed == 0, "a request ends unanswered");
    account.state = State::done;
}

void Audit::pages(const Batch& batch) {
    const PageCache& cache = batch.cache();
    const CacheSpec& spec = batch.cache_spec();
    std::int64_t held = batch.common_pages();
    for (const auto* const sequences : {&batch.running(), &batch.held()}) {
        for (const Sequence* const sequence : *sequences) {
            held += sequence->pages;
            const auto cached = static_cast<double>(sequence->cached - sequence->shared);
            ensure(static_cast<double>(sequence->pages) >=
                       spec.kept.of(cached) / static_cast<double>(spec.page),
                   "a sequence has more tokens cached than its pages hold");
        }
    }
    ensure(held == cache.used(), "pages are lost or given twice");
    ensure(!cache.capacity().has_value() || held <= *cache.capacity(),
           "a cache exceeds its capacity");
}

void Audit::all_served() const {
    for (const Account& account : accounts_) {
        ensure(account.state == State::done, "a request is lost");
    }
}

}  // namespace podsim::scenarios
