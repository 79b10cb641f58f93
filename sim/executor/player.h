// Plays a workload: a run's state together with its pending events. Private to the kernel.
//
// player_tasks.h has the rounds, tasks and operations, player_messages.h arrivals and firing,
// player_links.h waiting and crossing, player_memories.h delays by memories. The class is a
// template over the pending events (pending_events.h): no call is virtual.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/folding/reuse.h"
#include "sim/state/pending_events.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

template <class Pending>
class Player {
public:
    Player(const Workload& workload, Observer* observer, bool reuse);
    /// Runs to the end. Called once.
    ExecutionResult run();

private:
    using Members = typename Pending::Members;
    using Some = std::array<std::uint32_t, Pending::kMostMembers>;

    void start_first_tasks();
    /// Reports the progress to the observer and sets the next report. Precondition: there is an
    /// observer.
    [[gnu::noinline]] void report_progress();
    [[nodiscard]] std::uint64_t played_events() const;
    void play_rounds();
    void play_round();
    /// Called when a mark has been reached.
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

    /// Data common to all places at which a transfer fires, or a message continues, at one time.
    struct Departure {
        std::uint64_t order = 0;
        std::uint32_t what = 0;  ///< as in Waiting
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
    /// The times of a hop: the end of the hold, and the events after it.
    struct Times {
        Time end;
        /// The head's arrival at the next link, or the arrival at the destination.
        Time event;
        Time tail;  ///< the tail's arrival at the next link
    };
    static constexpr std::uint32_t kNobody = 0xffffffff;

    /// Data common to all equal messages that wait at links of a class, in this round.
    struct ServedHop {
        Crossing crossing;
        std::int64_t carried_units = 0;
        Times times;
        std::int64_t reads = 0;  ///< bytes per second, of the source's memory
        std::int64_t writes = 0;
        /// List of its sources, if a batch has several members, memories group places, and the hop
        /// reads or writes any memory.
        std::vector<std::uint32_t>* sources = nullptr;
        typename Pending::Group next{};
        std::uint32_t goes_on_as = kNobody;  ///< message number at the next link
        std::uint32_t what_behind = 0;
        std::uint64_t order_behind = 0;
    };

    /// The hop that was served last in this round: most are like it.
    struct LastHop : ServedHop {
        std::uint64_t order = ~std::uint64_t{0};
        std::uint32_t what = 0;  ///< as in Waiting
        std::uint32_t link_class = 0;
    };

    Crossing crossing(const Message& message, std::uint32_t link_class);
    [[nodiscard]] Times times_of(const Crossing& crossing, Time end) const;
    void look_up(Waiting waiting, std::uint32_t link_class, ServedHop& hop);
    /// Out of line, since few hops need it: the code of the others stays small.
    [[gnu::noinline]] void look_up_last(Waiting waiting, std::uint32_t link_class) {
        last_.order = waiting.order;
        last_.what = waiting.what;
        last_.link_class = link_class;
        look_up(waiting, link_class, last_);
    }
    /// Counts a hop of a transfer and of its copies.
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

    // The calls below this one are small and many; inlining them saves a fifth of the time. Inlined
    // code compiles slowly, so only queues that are used, or timed against each other, are inlined.
    // Calls that are rarer than hops, and recursion, are not inlined: the code of a hop stays
    // small.
    [[gnu::flatten]] void play_rounds_inlined() { play_rounds(); }

    static constexpr std::uint64_t kFirstReport = 1 << 12;     ///< played events
    static constexpr std::uint64_t kShareBetweenReports = 16;  ///< then after a sixteenth more
    static constexpr std::uint64_t kMostBetweenReports = 1 << 18;
    static constexpr std::size_t kAhead = 16;  ///< distance of prefetches

    RunState state_;
    const bool counts_links_ = state_.observer != nullptr && state_.observer->counts_links();
    const bool watched_ = state_.hop_observer != nullptr || state_.memories.active();  ///< hops
    /// True if hops are watched only to list their sources.
    const bool lists_sources_ = state_.hop_observer == nullptr && state_.memories.together();
    /// Empty if nothing can repeat, or if repeats should be played.
    std::optional<Reuse> reuse_;
    Pending pending_;
    /// Number of events at the next report; never without an observer.
    std::uint64_t next_report_ = ~std::uint64_t{0};
    std::uint64_t all_events_ = 0;  ///< with an observer
    /// Hops of copies of transfers, among those that were not skipped.
    std::uint64_t copied_events_ = 0;
    const GoesBefore goes_before_{state_};
    /// Used if batches have several members, since many hops are then alike.
    LastHop last_;
    std::vector<std::uint32_t> listed_;  ///< servers with new messages in this round
    std::vector<std::uint32_t> freed_;   ///< servers whose link frees in this round
};

}  // namespace podsim::sim
