// Plays a workload: a run's state together with what is pending. Private to the kernel.
//
// player_tasks.h has the rounds, tasks and operations, player_messages.h what arrives and fires, player_links.h
// what waits and crosses, player_memories.h what memories put off. A template over what keeps the pending events
// (pending_events.h): no call is virtual.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/reuse/reuse.h"
#include "sim/state/pending_events.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

template <class Pending>
class Player {
public:
    Player(const Workload& workload, Observer* observer, bool reuse);
    /// To the end, once.
    ExecutionResult run();

private:
    using Members = typename Pending::Members;
    using Some = std::array<std::uint32_t, Pending::kMostMembers>;

    void start_first_tasks();
    /// Tells the observer, which there must be, how far the run is, and says when again.
    [[gnu::noinline]] void report_progress();
    [[nodiscard]] std::uint64_t played_events() const;
    void play_rounds();
    void play_round();
    /// Where a mark has been reached.
    [[gnu::noinline]] void skip_repeats();
    void play_instant();
    void deliver(const Batch<Members>& batch);
    [[gnu::noinline]] void start_task(std::uint32_t place, std::uint32_t task);
    [[gnu::noinline]] void end_task(std::uint32_t place, std::uint32_t task);
    void begin_work(std::uint32_t place, std::uint32_t task, const Task& spec, Time duration);
    [[gnu::noinline]] void wake_memory(std::uint32_t place);
    [[gnu::noinline]] void settle_memories();
    [[gnu::noinline]] void release_links();
    [[gnu::noinline]] void arrive_if_written(const Batch<Members>& batch);
    [[gnu::noinline]] void start_operation(std::uint32_t place, std::uint32_t number);
    template <class Comes>
    static void count_down(const LiveOperation& operation, Members places, std::uint8_t* row,
                           const Comes& comes);
    template <class Comes>
    static void count_down_wide(const LiveOperation& operation, Members places, std::uint8_t* row,
                                const Comes& comes);
    static void comes_early(LiveOperation& operation, std::uint32_t place,
                            const FirstHop& transfer);
    void met(LiveOperation& operation, std::uint32_t number, Members places, const Edge& edge);
    void successors_met(LiveOperation& operation, std::uint32_t number, Members places,
                        const TransferPath& path);
    [[gnu::noinline]] void join(LiveOperation& operation, std::uint32_t number, Members places,
                                const TransferPath& path) {
        successors_met(operation, number, places, path);
    }
    void fire(LiveOperation& operation, std::uint32_t number, Members places,
              const FirstHop& first);
    void fire_row(LiveOperation& operation, std::uint32_t number, std::uint32_t place,
                  const FirstHop& root);
    void heads_arrived(const Batch<Members>& batch);
    void arrived(const Batch<Members>& batch);
    void play_picks(std::vector<std::uint32_t>& servers);
    void serve(std::uint32_t number, LinkServers::At& server);

    /// What is the same for all places at which a transfer fires, or a message goes on, at one time.
    struct Departure {
        std::uint64_t order = 0;
        std::uint32_t what = 0;  ///< of Waiting
        std::uint32_t first_server = 0;
        const std::uint32_t* at = nullptr;  ///< [source]: the place of the link
    };
    Departure departure(const LiveOperation& operation, std::uint32_t number,
                        const FirstHop& first) const;
    void depart(const Departure& departure, Members sources);

    /// A hop on a link of one class.
    struct Crossing {
        std::uint32_t number = 0;  ///< of the operation
        std::uint32_t transfer = 0;
        std::uint32_t hop = 0;
        const TransferPath* path = nullptr;
        const LinkSpec* link = nullptr;
        std::uint32_t* wave = nullptr;  ///< the last to which this hop has added
    };
    /// When it holds the link until, and what then happens.
    struct Times {
        Time end;
        Time event;  ///< the head's at the next link, or the arrival at the destination
        Time tail;   ///< the tail's at the next link
    };
    static constexpr std::uint32_t kNobody = 0xffffffff;

    /// What is alike for all that waits so at links of a class, in this round.
    struct ServedHop {
        Crossing crossing;
        std::int64_t carried_units = 0;
        Times times;
        std::int64_t reads = 0;  ///< bytes a second, of the source's memory
        std::int64_t writes = 0;
        /// Of several members: where its sources are put, if memories take places together and it reads or writes any.
        std::vector<std::uint32_t>* sources = nullptr;
        typename Pending::Group next{};
        std::uint32_t goes_on_as = kNobody;  ///< a message to the next link
        std::uint32_t what_behind = 0;
        std::uint64_t order_behind = 0;
    };

    /// The last that was served in this round: most are like it.
    struct LastHop : ServedHop {
        std::uint64_t order = ~std::uint64_t{0};
        std::uint32_t what = 0;  ///< of Waiting
        std::uint32_t link_class = 0;
    };

    Crossing crossing(const Message& message, std::uint32_t link_class);
    [[nodiscard]] Times times_of(const Crossing& crossing, Time end) const;
    void look_up(Waiting waiting, std::uint32_t link_class, ServedHop& hop);
    /// Where few hops need it, so that the code of the others stays small.
    [[gnu::noinline]] void look_up_last(Waiting waiting, std::uint32_t link_class) {
        last_.order = waiting.order;
        last_.what = waiting.what;
        last_.link_class = link_class;
        look_up(waiting, link_class, last_);
    }
    /// Of a transfer and those that it stands for.
    void count_hop(const TransferPath& path) {
        state_.result.events += path.copies;
        copied_events_ += path.copies - 1U;
    }
    void begin_hop(std::uint32_t server_number, LinkServers::At& server, Waiting first,
                   const ServedHop& hop);
    void watch(std::uint32_t server, std::uint32_t source, const ServedHop& hop);
    [[gnu::noinline]] void watch_apart(std::uint32_t server, std::uint32_t source,
                                       const ServedHop& hop) {
        watch(server, source, hop);
    }
    void demands_of(ServedHop& hop, std::uint32_t link_class);
    static Memories::Hold hold_of(const ServedHop& hop, std::uint32_t source);
    [[gnu::noinline]] std::vector<std::uint32_t>& sources_of(Memories::Hold hold,
                                                             const TransferPath& path);
    void reads_and_writes(std::uint32_t server, std::uint32_t source, const ServedHop& hop);
    void report(std::uint32_t server, const Crossing& crossing, std::uint32_t source,
                Time end) const;

    struct GoesBefore {
        const RunState& state;
        bool operator()(Waiting a, Waiting b) const { return state.goes_before(a, b); }
    };

    // The calls below this one are small and many, and worth a fifth of the time when inlined; compiling that takes
    // long, so it is done only for queues that are timed against each other or used. Calls that are rarer than hops, and
    // recursion, are not: the code of a hop stays small.
    [[gnu::flatten]] void play_rounds_inlined() { play_rounds(); }

    static constexpr std::uint64_t kFirstReport = 1 << 12;     ///< after so many played events
    static constexpr std::uint64_t kShareBetweenReports = 16;  ///< then after a sixteenth more
    static constexpr std::uint64_t kMostBetweenReports = 1 << 18;
    static constexpr std::size_t kAhead = 16;  ///< cache lines are asked for this much earlier

    RunState state_;
    const bool counts_links_ = state_.observer != nullptr && state_.observer->counts_links();
    const bool watched_ = state_.hop_observer != nullptr || state_.memories.active();  ///< hops
    const bool lists_sources_ = state_.hop_observer == nullptr &&
                                state_.memories.together();  ///< that is all there is to watch
    std::optional<Reuse> reuse_;  ///< nothing: nothing can repeat, or should be skipped
    Pending pending_;
    std::uint64_t next_report_ =
        ~std::uint64_t{0};          ///< after so many events; never without an observer
    std::uint64_t all_events_ = 0;  ///< with an observer
    std::uint64_t copied_events_ =
        0;  ///< hops of those that transfers stand for, of what was not skipped
    const GoesBefore goes_before_{state_};
    LastHop last_;  ///< kept where hops are many that are alike: of several members
    std::vector<std::uint32_t> listed_;  ///< servers to which something came in this round
    std::vector<std::uint32_t> freed_;   ///< servers whose link frees in this round
};

}  // namespace podsim::sim
