// A handful of values, kept where it stands: neither memory of its own nor a way to it.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

namespace podsim::sim {

/// At most kMost, in the order in which they came.
template <class T, std::size_t kMost>
class Few {
public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] const T* begin() const { return values_.data(); }
    [[nodiscard]] const T* end() const { return values_.data() + count_; }
    [[nodiscard]] bool contains(const T& value) const {
        return std::find(begin(), end(), value) != end();
    }

    void push_back(const T& value) {
        assert(count_ < kMost);
        values_[count_++] = value;
    }
    /// Takes the value out. Whether it was there.
    bool erase(const T& value) {
        T* const last = values_.data() + count_;
        T* const left = std::remove(values_.data(), last, value);
        count_ = static_cast<std::size_t>(left - values_.data());
        return left != last;
    }

private:
    std::array<T, kMost> values_{};
    std::size_t count_ = 0;
};

}  // namespace podsim::sim
