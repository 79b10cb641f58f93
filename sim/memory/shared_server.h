// A server that many streams use at once, with max-min fair sharing; work is shared apart from
// messages.
//
// A stream asks for `demand` units per second. Its remaining work is in units per second times
// picoseconds: `demand x t` is its work in t picoseconds at full speed. Let R be the server's rate,
// d_i the demands and D_k the sum of those of kind k. Then
//   sum d_i <= R   every stream has its demand
//   else           work has        R_0 = min(D_0, max(R / 2, R - D_1 - D_2))
//                  urgent messages R_1 = min(D_1, R - R_0), the others R_2 = R - R_0 - R_1
//                  share_i = min(d_i, L_k), with the level L_k for which the shares of a kind
//                  add up to R_k
// (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2). So work has at least half of the
// server, however many messages there are: it is one of two requesters, not one of a dozen. Among
// messages, those go first that go first at links.
//
// Rates are whole numbers and L is rounded down: of k streams at the level, fewer than k units per
// second are left unused. A stream with remaining work w ends ceil(w / share) picoseconds later,
// the only rounding of a time. An unchanged share leaves the end unchanged, so a stream's remaining
// work is recomputed only when its share changes. Streams are sorted by demand and key, and sums of
// whole numbers do not depend on it: neither keys nor the order of arrival affect the result.
// Streams that have ended do not count, even if they have not been removed yet.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::sim {

/// Remaining work, in units per second times picoseconds.
// NOLINTNEXTLINE(modernize-use-using): only a typedef may be an extension
__extension__ typedef __int128 Work;

class SharedServer {
public:
    /// A stream's identity: the caller's kind and number, unique among the streams of a server.
    struct Key {
        std::uint32_t kind = 0;
        std::uint32_t number = 0;

        friend auto operator<=>(const Key&, const Key&) = default;
    };
    enum class Kind : std::uint8_t { work, urgent, other };
    struct Stream {
        /// Units per second, above zero; of each of the `alike` streams.
        std::int64_t demand = 0;
        Key key;
        std::int64_t share = 0;
        Time end;    ///< if the share does not change
        Time since;  ///< last change of the share
        /// Number of streams with the same demand and end; each has the share.
        std::uint32_t alike = 1;
        Kind kind{};
        Work left = 0;  ///< at `since`

        [[nodiscard]] Work left_at(Time now) const {
            return end > now ? left - Work{share} * (now.ps - since.ps) : 0;
        }
    };

    SharedServer() = default;
    explicit SharedServer(std::int64_t rate) : rate_(rate) {}

    [[nodiscard]] bool empty() const { return streams_.empty(); }
    /// Begins a stream that asks for `demand` and would take `alone` at that rate. A stream of the
    /// same key must have ended by now.
    void begin(Key key, std::int64_t demand, Time alone, Time now, Kind kind = Kind::other);
    /// Like begin(), for `alike` equal streams. Several may be added at one time; share_out() must
    /// follow the last.
    void add(Key key, std::int64_t demand, Time alone, Time now, Kind kind = Kind::other,
             std::uint32_t alike = 1);
    void share_out(Time now);
    /// Removes the streams that have ended by now and appends their keys to `ended`. The rate must
    /// be shared out anew.
    void take_ended(Time now, std::vector<Key>& ended);
    /// True if the stream is present and has work left.
    [[nodiscard]] bool unfinished(Key key, Time now) const;
    /// Returns the total demand of streams that have work left.
    [[nodiscard]] std::int64_t demand(Time now) const;
    /// Returns the total demand when it was last shared out. It is exact until the next stream
    /// ends, and an upper bound afterwards.
    [[nodiscard]] std::int64_t asked() const { return asked_; }
    /// Returns the end of the first stream to end if shares do not change. Precondition: there is a
    /// stream.
    [[nodiscard]] Time next_end() const { return next_end_; }
    /// Returns the streams, sorted by kind, then demand, then key.
    [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
    /// Moves all times after a skipped repeat. renumber(Key&) keeps the order of keys.
    template <class Renumber>
    void skip(Time later_by, const Renumber& renumber) {
        next_end_ = next_end_ < Time::max() ? next_end_ + later_by : next_end_;
        for (Stream& stream : streams_) {
            stream.end = stream.end < Time::max() ? stream.end + later_by : stream.end;
            stream.since += later_by;
            renumber(stream.key);
        }
    }

private:
    /// Returns the total rate of each kind.
    [[nodiscard]] std::array<std::int64_t, 3> rates_of_kinds(
        const std::array<std::int64_t, 3>& asked) const;
    [[nodiscard]] std::int64_t shared_out(Time now) const;

    std::int64_t rate_ = 0;
    std::int64_t asked_ = 0;
    Time next_end_ = Time::max();
    std::vector<Stream> streams_;
};

}  // namespace podsim::sim
