// What waits at one link beyond the first few, by priority: a list for each, in the order in which they go.
//
// Within a priority those go first that came first, so what comes goes to the end of its list; only what comes at one
// instant, or from a row of roots (transfer_table.h), may go before others, mostly before all: an operation that begins fires what had come early in
// the reverse order. Adding at either end and taking cost the same however many wait.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/state/waiting.h"

namespace podsim::sim {

/// Neighbours in a list.
struct alignas(64) WaitingChunk {
    static constexpr std::uint32_t kMost = 7;

    std::array<Waiting, kMost> waiting;
    WaitingChunk* before = nullptr;
    WaitingChunk* next = nullptr;
};
static_assert(sizeof(WaitingChunk) == 128);

/// The chunks of all links.
class WaitingChunks {
public:
    WaitingChunk* take() {
        if (unused_ == nullptr) {
            constexpr std::size_t kTogether = 64;
            const auto& chunks = blocks_.emplace_back(std::make_unique<WaitingChunk[]>(kTogether));
            for (std::size_t i = 0; i < kTogether; ++i) {
                give_back(&chunks[i]);
            }
        }
        WaitingChunk* const taken = std::exchange(unused_, unused_->next);
        taken->before = taken->next = nullptr;
        return taken;
    }
    void give_back(WaitingChunk* chunk) { chunk->next = std::exchange(unused_, chunk); }

private:
    std::vector<std::unique_ptr<WaitingChunk[]>> blocks_;
    WaitingChunk* unused_ = nullptr;
};

class FarWaiting {
public:
    [[nodiscard]] bool empty() const { return lists_.empty(); }

    template <class GoesBefore>
    void add(Waiting waiting, WaitingChunks& chunks, const GoesBefore& goes_before) {
        const std::uint32_t priority = waiting.priority();
        auto list = lists_.end();
        while (list != lists_.begin() && (list - 1)->priority < priority) {
            --list;
        }
        if (list == lists_.begin() || (list - 1)->priority != priority) {
            list = lists_.insert(list, {.priority = priority}) + 1;
            (list - 1)->first = (list - 1)->last = chunks.take();
        }
        (list - 1)->add(waiting, chunks, goes_before);
    }

    /// Precondition: not empty.
    Waiting take_first(WaitingChunks& chunks) {
        List& list = lists_.back();
        const Waiting first = list.take_first(chunks);
        if (list.empty()) {
            chunks.give_back(list.first);
            lists_.pop_back();
        }
        return first;
    }

    /// Calls use(Waiting&) for each; it may renumber them, not change their order.
    template <class Use>
    void for_each(const Use& use) {
        for (List& list : lists_) {
            Cursor at = list.begin();
            for (; at != list.end(); at = next(at)) {
                use(*at);
            }
            list.priority = (*list.begin()).priority();
            list.last_order = (*previous(at)).order;
        }
    }

    void append_to(std::vector<Waiting>& all) const {
        for (const List& list : lists_) {
            for (Cursor at = list.begin(); at != list.end(); at = next(at)) {
                all.push_back(*at);
            }
        }
    }

    /// Ask for the memory that will be touched when something comes: of the lists, later of the end of one.
    void prefetch_lists() const {
        __builtin_prefetch(lists_.data(), 1);
        __builtin_prefetch(lists_.data() + lists_.size() / 2, 1);
    }
    void prefetch_end(std::uint32_t priority) const {
        for (const List& list : lists_) {
            if (list.priority == priority) {
                __builtin_prefetch(&list.last->waiting[list.end_in_last % WaitingChunk::kMost], 1);
            }
        }
    }

    /// The same of what goes first: of the chunk after that many. Those before must have been asked for.
    void prefetch_first(std::size_t turn) const {
        const WaitingChunk* chunk = lists_.back().first;
        for (; turn > 0 && chunk != nullptr; --turn) {
            chunk = chunk->next;
        }
        if (chunk != nullptr) {
            __builtin_prefetch(chunk);
            __builtin_prefetch(&chunk->before);
        }
    }

private:
    struct Cursor {
        WaitingChunk* chunk = nullptr;
        std::uint32_t index = 0;

        Waiting& operator*() const { return chunk->waiting[index]; }
        friend bool operator==(const Cursor&, const Cursor&) = default;
    };
    static Cursor previous(Cursor at) {
        return at.index > 0 ? Cursor{at.chunk, at.index - 1}
                            : Cursor{at.chunk->before, WaitingChunk::kMost - 1};
    }
    static Cursor next(Cursor at) {
        return at.index + 1 == WaitingChunk::kMost && at.chunk->next != nullptr
                   ? Cursor{at.chunk->next, 0}
                   : Cursor{at.chunk, at.index + 1};
    }

    struct List {
        std::uint32_t priority = 0;
        std::uint32_t begin_in_first = 0;
        std::uint32_t end_in_last = 0;
        std::uint64_t last_order = 0;
        WaitingChunk* first = nullptr;
        WaitingChunk* last = nullptr;

        [[nodiscard]] Cursor begin() const { return {first, begin_in_first}; }
        [[nodiscard]] Cursor end() const { return {last, end_in_last}; }
        [[nodiscard]] bool empty() const { return begin() == end(); }

        template <class GoesBefore>
        void add(Waiting added, WaitingChunks& chunks, const GoesBefore& goes_before) {
            if (empty() || last_order < added.order) {  // without a look at the last itself
                last_order = added.order;
                *room_at_end(chunks) = added;
            } else if (goes_before(added, *begin())) {
                *room_at_begin(chunks) = added;
            } else {
                Cursor hole = room_at_end(chunks);
                for (; hole != begin() && goes_before(added, *previous(hole));
                     hole = previous(hole)) {
                    *hole = *previous(hole);
                }
                *hole = added;
            }
        }

        Cursor room_at_end(WaitingChunks& chunks) {
            if (end_in_last == WaitingChunk::kMost) {
                WaitingChunk* const added = chunks.take();
                added->before = last;
                last = last->next = added;
                end_in_last = 0;
            }
            return {last, end_in_last++};
        }

        Cursor room_at_begin(WaitingChunks& chunks) {
            if (begin_in_first == 0) {
                WaitingChunk* const added = chunks.take();
                added->next = first;
                first = first->before = added;
                begin_in_first = WaitingChunk::kMost;
            }
            return {first, --begin_in_first};
        }

        Waiting take_first(WaitingChunks& chunks) {
            const Waiting taken = *begin();
            if (++begin_in_first == WaitingChunk::kMost && first != last) {
                chunks.give_back(std::exchange(first, first->next));
                begin_in_first = 0;
            }
            return taken;
        }
    };

    std::vector<List> lists_;  ///< the first to go last
};

}  // namespace podsim::sim
