// Memory for large arrays with random access, allocated in huge pages if the system has them.
//
// A page of 2 MiB needs one TLB entry; 512 pages of 4 KiB need one each. The waiting messages of a
// pod's links take 27 MB, more than the TLB covers with small pages.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace podsim::sim {

/// An allocator: huge pages for large arrays, std::allocator for the others.
template <class T>
struct HugePages {
    using value_type = T;

    HugePages() = default;
    template <class Other>
    explicit HugePages(const HugePages<Other>& /*same*/) {}

    T* allocate(std::size_t count) {
        if (!is_large(count)) {
            return std::allocator<T>().allocate(count);
        }
        const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
        void* const memory = std::aligned_alloc(kPage, bytes);
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
        // A hint only: if the system ignores it, the memory has ordinary pages.
        madvise(memory, bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (is_large(count)) {
            std::free(memory);
        } else {
            std::allocator<T>().deallocate(memory, count);
        }
    }

    friend bool operator==(const HugePages& /*a*/, const HugePages& /*b*/) { return true; }

private:
    static constexpr std::size_t kPage = std::size_t{2} << 20U;
    static bool is_large(std::size_t count) { return count >= 2 * kPage / sizeof(T); }
};

/// A vector that may be large.
template <class T>
using LargeArray = std::vector<T, HugePages<T>>;

}  // namespace podsim::sim
