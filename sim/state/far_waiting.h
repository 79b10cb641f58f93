// The messages that wait at one link beyond the first few: a sorted list for each priority.
//
// Within a priority the order is first come, first served, so a new message goes to the end of its
// list. Only a message of the same instant, or from a row of roots (transfer_table.h), may go
// before others, and then mostly before all: an operation that begins fires its early transfers in
// reverse order. Adding at either end and taking cost the same however many messages wait. Each
// operation in flight has priorities of its own. The lists of the first to go are in a row, which
// is searched one by one; all others are in a tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/state/waiting.h"

namespace podsim::sim {

/// Neighbours in a list. An entry takes 12 bytes, in one cache line.
struct alignas(64) WaitingChunk {
    static constexpr std::uint32_t kInLine = 5;
    static constexpr std::uint32_t kMost = 2 * kInLine;
    static constexpr std::uint32_t kNone = 0xffffffff;

    struct Line {
        std::array<std::uint64_t, kInLine> instant_and_source;
        std::array<std::uint32_t, kInLine> what;
        std::uint32_t neighbour = kNone;  ///< index in WaitingChunks
    };
    Line lines[2];

    [[nodiscard]] std::uint32_t& before() { return lines[0].neighbour; }
    [[nodiscard]] std::uint32_t& next() { return lines[1].neighbour; }
    [[nodiscard]] std::uint32_t before() const { return lines[0].neighbour; }
    [[nodiscard]] std::uint32_t next() const { return lines[1].neighbour; }

    /// Precondition: the source is below 2^kSourceBits.
    void set(std::uint32_t index, Waiting waiting) {
        const std::uint32_t second = index >= kInLine ? 1 : 0;
        Line& line = lines[second];
        index -= second * kInLine;
        line.instant_and_source[index] = waiting.order << Waiting::kSourceBits | waiting.source;
        line.what[index] = waiting.what;
    }
    [[nodiscard]] Waiting get(std::uint32_t index, std::uint32_t priority) const {
        constexpr std::uint64_t kSource = (std::uint64_t{1} << Waiting::kSourceBits) - 1;
        const std::uint32_t second = index >= kInLine ? 1 : 0;
        const Line& line = lines[second];
        index -= second * kInLine;
        const std::uint64_t both = line.instant_and_source[index];
        return {.order =
                    std::uint64_t{priority} << Waiting::kInstantBits | both >> Waiting::kSourceBits,
                .what = line.what[index],
                .source = static_cast<std::uint32_t>(both & kSource)};
    }
    [[nodiscard]] const Line* line_of(std::uint32_t index) const {
        return &lines[index >= kInLine ? 1 : 0];
    }
};
static_assert(sizeof(WaitingChunk) == 128 && Waiting::kInstantBits + Waiting::kSourceBits == 64);

/// The chunks of all links, by number: a number takes half the space of a pointer.
class WaitingChunks {
public:
    struct Known {
        WaitingChunk* chunk = nullptr;
        std::uint32_t number = WaitingChunk::kNone;
    };

    [[nodiscard]] WaitingChunk* find(std::uint32_t number) const {
        return &blocks_[number / kBlock][number % kBlock];
    }
    [[nodiscard]] Known next(Known of) const {
        const std::uint32_t number = of.chunk->next();
        return {find(number), number};
    }

    Known take() {
        if (unused_ == WaitingChunk::kNone) {
            const auto first = static_cast<std::uint32_t>(blocks_.size() * kBlock);
            blocks_.push_back(std::make_unique<WaitingChunk[]>(kBlock));
            for (std::uint32_t i = kBlock; i-- > 0;) {
                give_back({find(first + i), first + i});
            }
        }
        const Known taken{find(unused_), unused_};
        unused_ = std::exchange(taken.chunk->next(), WaitingChunk::kNone);
        taken.chunk->before() = WaitingChunk::kNone;
        return taken;
    }
    void give_back(Known known) { known.chunk->next() = std::exchange(unused_, known.number); }

private:
    static constexpr std::uint32_t kBlock = 64;

    std::vector<std::unique_ptr<WaitingChunk[]>> blocks_;  ///< [number / kBlock][number % kBlock]
    std::uint32_t unused_ = WaitingChunk::kNone;
};

class FarWaiting {
public:
    [[nodiscard]] bool empty() const { return lists_.empty(); }

    template <class GoesBefore>
    void add(Waiting waiting, WaitingChunks& chunks, const GoesBefore& goes_before) {
        const std::uint32_t priority = waiting.priority();
        if (later_ != nullptr && priority > lists_.front().priority) {
            later(priority, chunks).add(waiting, chunks, goes_before);
            return;
        }
        auto list = lists_.end();
        while (list != lists_.begin() && (list - 1)->priority < priority) {
            --list;
        }
        if (list == lists_.begin() || (list - 1)->priority != priority) {
            list = lists_.insert(list, new_list(priority, chunks)) + 1;
        }
        (list - 1)->add(waiting, chunks, goes_before);
        if (lists_.size() > kMostInRow) {
            put_off();
        }
    }

    /// Precondition: not empty.
    Waiting take_first(WaitingChunks& chunks) {
        List& list = lists_.back();
        const Waiting first = list.take_first(chunks);
        if (list.empty()) {
            chunks.give_back(list.first);
            lists_.pop_back();
            if (lists_.empty() && later_ != nullptr) {
                fetch();
            }
        }
        return first;
    }

    /// Calls use(Waiting&) for each; `use` may renumber them, but must keep their order.
    template <class Use>
    void for_each(const WaitingChunks& chunks, const Use& use) {
        for (List& list : lists_) {
            list.for_each(chunks, use);
        }
        if (later_ != nullptr) {
            Later moved;
            for (auto& [priority, list] : *later_) {
                list.for_each(chunks, use);
                moved.emplace_hint(moved.end(), list.priority, list);
            }
            *later_ = std::move(moved);
        }
    }

    void append_to(std::vector<Waiting>& all, const WaitingChunks& chunks) const {
        for (const List& list : lists_) {
            list.append_to(all, chunks);
        }
        if (later_ != nullptr) {
            for (const auto& [priority, list] : *later_) {
                list.append_to(all, chunks);
            }
        }
    }

    /// Prefetches the memory that add() will touch: first the lists, later the end of one list.
    void prefetch_lists() const {
        __builtin_prefetch(lists_.data(), 1);
        __builtin_prefetch(lists_.data() + lists_.size() / 2, 1);
    }
    void prefetch_end(std::uint32_t priority) const {
        for (const List& list : lists_) {
            if (list.priority == priority) {
                __builtin_prefetch(list.last.chunk->line_of(list.end_in_last), 1);
            }
        }
    }

    /// Prefetches the chunk at index `turn` of the list that goes first, for take_first(). The
    /// chunks before it must have been prefetched.
    void prefetch_first(std::size_t turn, const WaitingChunks& chunks) const {
        const WaitingChunk* chunk = lists_.back().first.chunk;
        for (; turn > 0; --turn) {
            if (chunk->next() == WaitingChunk::kNone) {
                return;
            }
            chunk = chunks.find(chunk->next());
        }
        __builtin_prefetch(chunk->line_of(0));
        __builtin_prefetch(chunk->line_of(WaitingChunk::kInLine));
    }

private:
    struct Cursor {
        WaitingChunk* chunk = nullptr;
        std::uint32_t index = 0;

        friend bool operator==(const Cursor&, const Cursor&) = default;
    };
    static Cursor previous(Cursor at, const WaitingChunks& chunks) {
        return at.index > 0 ? Cursor{at.chunk, at.index - 1}
                            : Cursor{chunks.find(at.chunk->before()), WaitingChunk::kMost - 1};
    }
    static Cursor next(Cursor at, const WaitingChunks& chunks) {
        return at.index + 1 == WaitingChunk::kMost && at.chunk->next() != WaitingChunk::kNone
                   ? Cursor{chunks.find(at.chunk->next()), 0}
                   : Cursor{at.chunk, at.index + 1};
    }

    struct List {
        std::uint32_t priority = 0;
        std::uint16_t begin_in_first = 0;
        std::uint16_t end_in_last = 0;
        std::uint64_t last_order = 0;
        WaitingChunks::Known first{};
        WaitingChunks::Known last{};

        [[nodiscard]] Cursor begin() const { return {first.chunk, begin_in_first}; }
        [[nodiscard]] Cursor end() const { return {last.chunk, end_in_last}; }
        [[nodiscard]] bool empty() const { return begin() == end(); }
        [[nodiscard]] Waiting get(Cursor at) const { return at.chunk->get(at.index, priority); }

        template <class GoesBefore>
        void add(Waiting added, WaitingChunks& chunks, const GoesBefore& goes_before) {
            Cursor hole;
            // This comparison does not read the last entry itself.
            if (empty() || last_order < added.order) {
                last_order = added.order;
                hole = room_at_end(chunks);
            } else if (goes_before(added, get(begin()))) {
                hole = room_at_begin(chunks);
            } else {
                hole = room_at_end(chunks);
                while (hole != begin()) {
                    const Cursor other = previous(hole, chunks);
                    const Waiting moved = get(other);
                    if (!goes_before(added, moved)) {
                        break;
                    }
                    hole.chunk->set(hole.index, moved);
                    hole = other;
                }
            }
            hole.chunk->set(hole.index, added);
        }

        template <class Use>
        void for_each(const WaitingChunks& chunks, const Use& use) {
            Waiting moved;
            for (Cursor at = begin(); at != end(); at = FarWaiting::next(at, chunks)) {
                moved = get(at);
                use(moved);
                at.chunk->set(at.index, moved);
            }
            priority = moved.priority();
            last_order = moved.order;
        }

        void append_to(std::vector<Waiting>& all, const WaitingChunks& chunks) const {
            for (Cursor at = begin(); at != end(); at = FarWaiting::next(at, chunks)) {
                all.push_back(get(at));
            }
        }

        Cursor room_at_end(WaitingChunks& chunks) {
            if (end_in_last == WaitingChunk::kMost) {
                const WaitingChunks::Known added = chunks.take();
                added.chunk->before() = last.number;
                last.chunk->next() = added.number;
                last = added;
                end_in_last = 0;
            }
            return {last.chunk, end_in_last++};
        }

        Cursor room_at_begin(WaitingChunks& chunks) {
            if (begin_in_first == 0) {
                const WaitingChunks::Known added = chunks.take();
                added.chunk->next() = first.number;
                first.chunk->before() = added.number;
                first = added;
                begin_in_first = WaitingChunk::kMost;
            }
            return {first.chunk, --begin_in_first};
        }

        Waiting take_first(WaitingChunks& chunks) {
            const Waiting taken = get(begin());
            if (++begin_in_first == WaitingChunk::kMost && first.chunk != last.chunk) {
                chunks.give_back(std::exchange(first, chunks.next(first)));
                begin_in_first = 0;
            }
            return taken;
        }
    };

    using Later = std::map<std::uint32_t, List>;
    static constexpr std::size_t kMostInRow = 64;

    static List new_list(std::uint32_t priority, WaitingChunks& chunks) {
        const WaitingChunks::Known only = chunks.take();
        return {.priority = priority, .first = only, .last = only};
    }

    List& later(std::uint32_t priority, WaitingChunks& chunks) {
        const auto at = later_->lower_bound(priority);
        return at != later_->end() && at->first == priority
                   ? at->second
                   : later_->emplace_hint(at, priority, new_list(priority, chunks))->second;
    }

    /// Moves the half of the row that goes last into the tree.
    [[gnu::noinline]] void put_off() {
        if (later_ == nullptr) {
            later_ = std::make_unique<Later>();
        }
        const auto half = lists_.begin() + kMostInRow / 2;
        for (auto list = lists_.begin(); list != half; ++list) {
            later_->emplace_hint(later_->begin(), list->priority, *list);
        }
        lists_.erase(lists_.begin(), half);
    }

    /// Moves the first lists of the tree into the empty row.
    [[gnu::noinline]] void fetch() {
        while (!later_->empty() && lists_.size() < kMostInRow / 2) {
            lists_.push_back(later_->begin()->second);
            later_->erase(later_->begin());
        }
        std::ranges::reverse(lists_);
        if (later_->empty()) {
            later_.reset();
        }
    }

    /// The list that goes first is last.
    std::vector<List> lists_;
    /// Lists that go after all of these; nullptr if there are none.
    std::unique_ptr<Later> later_;
};

}  // namespace podsim::sim
