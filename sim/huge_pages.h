// Memory for large arrays that are read all over: in huge pages where the system grants them, so that address
// translation does not miss on every access.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace podsim::sim {

template <class T>
struct HugePageAllocator {
    using value_type = T;

    HugePageAllocator() = default;
    template <class U>
    explicit HugePageAllocator(const HugePageAllocator<U>& /*other*/) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        void* const memory = ::operator new(bytes, alignment(bytes));
        if (bytes >= kHugePage) {
            // Only a hint: without huge pages the run is slower and the same.
            static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
        }
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        ::operator delete(memory, alignment(count * sizeof(T)));
    }
    friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) = default;

private:
    static constexpr std::size_t kHugePage = std::size_t{1} << 21U;

    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{bytes >= kHugePage ? kHugePage : alignof(T)};
    }
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace podsim::sim
