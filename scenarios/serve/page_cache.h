// The cache of a server in pages: how many are used, never more than there are.
#pragma once

#include <cstdint>
#include <optional>

namespace podsim::scenarios {

class PageCache {
public:
    /// Without `pages` there are as many as are needed.
    explicit PageCache(std::optional<std::int64_t> pages) : pages_(pages) {}

    /// Takes pages; false, and nothing changes, where there are not as many.
    [[nodiscard]] bool take(std::int64_t pages);
    void give_back(std::int64_t pages) { used_ -= pages; }

    [[nodiscard]] std::int64_t used() const { return used_; }
    [[nodiscard]] std::int64_t peak() const { return peak_; }
    [[nodiscard]] std::optional<std::int64_t> capacity() const { return pages_; }

private:
    std::optional<std::int64_t> pages_;
    std::int64_t used_ = 0;
    std::int64_t peak_ = 0;
};

}  // namespace podsim::scenarios
