// The cache of a server in pages: how many are used, never more than there are.
#pragma once

#include <cstdint>
#include <optional>

namespace podsim::scenarios {

class PageCache {
public:
    /// Without `pages` there are as many as are needed.
    PageCache(std::optional<std::int64_t> pages, std::int64_t page) : pages_(pages), page_(page) {}

    [[nodiscard]] std::int64_t pages_for(std::int64_t tokens) const {
        return (tokens + page_ - 1) / page_;
    }
    /// Takes pages; false, and nothing changes, where there are not as many.
    [[nodiscard]] bool take(std::int64_t pages);
    void give_back(std::int64_t pages) { used_ -= pages; }

    [[nodiscard]] std::int64_t used() const { return used_; }
    [[nodiscard]] std::int64_t peak() const { return peak_; }
    [[nodiscard]] std::int64_t page() const { return page_; }
    [[nodiscard]] std::optional<std::int64_t> capacity() const { return pages_; }

private:
    std::optional<std::int64_t> pages_;
    std::int64_t page_;
    std::int64_t used_ = 0;
    std::int64_t peak_ = 0;
};

}  // namespace podsim::scenarios
