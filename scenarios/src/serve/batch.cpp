#include "scenarios/src/serve/batch.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace podsim::scenarios {

bool PageCache::take(std::int64_t pages) {
    if (pages_.has_value() && used_ + pages > *pages_) {
        return false;
    }
    used_ += pages;
    peak_ = std::max(peak_, used_);
    return true;
}

Batch::Batch(const ServingSpec& spec, WaitingLine& line, WaitingLine& back)
    : line_(line),
      back_(back),
      cache_spec_(spec.cache),
      cache_(spec.cache.pages),
      slots_(spec.batching.slots),
      drafted_(spec.speculation.tokens),
      reserve_(spec.cache.reserve || spec.batching.kind == BatchingKind::fixed),
      common_pages_(
          spec.cache.pages_for(spec.load.common_prefix / spec.cache.page * spec.cache.page) *
          spec.cache.parts) {
    if (!cache_.take(common_pages_)) {
        throw std::logic_error("serving: the common prefix is larger than the cache");
    }
}

std::int64_t Batch::own_pages(const Sequence& sequence, std::int64_t tokens) const {
    return cache_spec_.pages_for(tokens - sequence.shared);
}

Sequence* Batch::admit_front(std::int64_t cached_then) {
    if (line_.empty() || static_cast<std::int64_t>(running_.size() + held_.size()) == slots_) {
        return nullptr;
    }
    Sequence& sequence = line_.front();
    const std::int64_t tokens =
        reserve_ ? most_cached(sequence.prompt, sequence.output, drafted_) : cached_then;
    const std::int64_t pages = own_pages(sequence, tokens);
    if (!cache_.take(pages)) {
        return nullptr;
    }
    sequence.pages = pages;
    sequence.running = true;
    line_.pop();
    running_.push_back(&sequence);
    admitted_.push_back(&sequence);
    return &sequence;
}

bool Batch::grow(Sequence& sequence, std::int64_t cached_then) {
    const std::int64_t more = own_pages(sequence, cached_then) - sequence.pages;
    if (more <= 0) {
        return true;
    }
    if (!cache_.take(more)) {
        return false;
    }
    sequence.pages += more;
    return true;
}

Sequence& Batch::victim() const {
    return **std::ranges::max_element(running_, EarlierTurn{});
}

void Batch::give_up(Sequence& sequence) {
    cache_.give_back(sequence.pages);
    sequence.pages = 0;
    sequence.running = false;
}

void Batch::preempt(Sequence& sequence) {
    leave(sequence);
    sequence.cached = sequence.prefix;
    sequence.ticket = sequence.request;
    sequence.preempted = true;
    preempted_.push_back(&sequence);
    back_.push(sequence);
}

void Batch::leave(Sequence& sequence) {
    give_up(sequence);
    std::erase(running_, &sequence);
}

void Batch::hold(Sequence& sequence) {
    std::erase(running_, &sequence);
    held_.push_back(&sequence);
}

void Batch::release_held() {
    for (Sequence* sequence : held_) {
        give_up(*sequence);
    }
    held_.clear();
}

}  // namespace podsim::scenarios
