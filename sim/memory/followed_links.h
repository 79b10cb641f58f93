// Links that their messages hold for longer, because a memory gives less than they ask for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/few.h"
#include "sim/memory/held_message.h"
#include "sim/memory/shared_server.h"

namespace podsim::sim {

struct FollowedLink {
    /// A stream at a place's memory.
    struct Late {
        std::uint32_t place = 0;
        SharedServer::Key key;

        friend bool operator==(const Late&, const Late&) = default;
    };

    HeldMessage message;
    Time due;              ///< when it would have been free
    Few<Late, 2> streams;  ///< that are late
};

/// By server, each with room of its own: finding one is reading it.
class FollowedLinks {
public:
    [[nodiscard]] bool empty() const { return followed_.empty(); }
    [[nodiscard]] bool contains(std::uint32_t server) const {
        return server < by_server_.size() && by_server_[server].turn != kNotFollowed;
    }
    /// Must be among them.
    [[nodiscard]] FollowedLink& operator[](std::uint32_t server) { return by_server_[server].link; }
    [[nodiscard]] const FollowedLink& operator[](std::uint32_t server) const {
        return by_server_[server].link;
    }
    /// Ascending.
    [[nodiscard]] std::vector<std::uint32_t> servers() const {
        std::vector<std::uint32_t> sorted = followed_;
        std::ranges::sort(sorted);
        return sorted;
    }

    /// Must not be among them.
    void add(std::uint32_t server, const HeldMessage& message, Time due) {
        if (server >= by_server_.size()) {
            by_server_.resize(server + 1);
        }
        by_server_[server] = {{message, due, {}}, static_cast<std::uint32_t>(followed_.size())};
        followed_.push_back(server);
    }
    /// Must be among them. The last takes its turn.
    void erase(std::uint32_t server) {
        const std::uint32_t turn = std::exchange(by_server_[server].turn, kNotFollowed);
        followed_[turn] = followed_.back();
        if (followed_[turn] != server) {
            by_server_[followed_[turn]].turn = turn;
        }
        followed_.pop_back();
    }

private:
    static constexpr std::uint32_t kNotFollowed = 0xffffffff;

    struct Entry {
        FollowedLink link;
        std::uint32_t turn = kNotFollowed;  ///< in followed_
    };

    std::vector<Entry> by_server_;
    std::vector<std::uint32_t> followed_;
};

}  // namespace podsim::sim
