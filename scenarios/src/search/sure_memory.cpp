#include "scenarios/src/search/sure_memory.h"

#include <algorithm>
#include <optional>

namespace podsim::scenarios {
namespace {

using workloads::Op;
using workloads::OpIndex;
using workloads::StepProgram;

constexpr OpIndex kNone = workloads::kWholeStep;

bool computes(const StepProgram& program, OpIndex op) {
    return std::holds_alternative<workloads::Compute>(program.ops[op].work);
}

/// The compute operations around each operation: the last that has ended when it begins, and the
/// first that begins when it has ended. Both are the operation itself if it computes.
struct Neighbours {
    std::vector<OpIndex> before;
    std::vector<OpIndex> behind;
};

Neighbours neighbours(const StepProgram& program) {
    const auto count = static_cast<OpIndex>(program.ops.size());
    Neighbours found{std::vector<OpIndex>(count, kNone), std::vector<OpIndex>(count, kNone)};
    const auto later = [](OpIndex a, OpIndex b) {
        return a == kNone ? b : b == kNone ? a : std::max(a, b);
    };
    for (OpIndex i = 0; i < count; ++i) {
        if (computes(program, i)) {
            found.before[i] = i;
            continue;
        }
        for (const OpIndex other : program.ops[i].after) {
            found.before[i] = later(found.before[i], found.before[other]);
        }
    }
    for (OpIndex i = count; i-- > 0;) {
        if (computes(program, i)) {
            found.behind[i] = i;
        }
        for (const OpIndex other : program.ops[i].after) {
            found.behind[other] = std::min(found.behind[other], found.behind[i]);
        }
    }
    return found;
}

/// Returns the first compute operation that does not begin before an operation has begun. A
/// collective begins as soon as all that it waits for have ended.
std::vector<OpIndex> behind_begins(const StepProgram& program, const Neighbours& near) {
    const auto count = static_cast<OpIndex>(program.ops.size());
    std::vector<OpIndex> next_compute(count, kNone);  ///< behind one that computes
    OpIndex next = kNone;
    for (OpIndex i = count; i-- > 0;) {
        next_compute[i] = next;
        next = computes(program, i) ? i : next;
    }
    const OpIndex first = next;
    std::vector<OpIndex> found = near.behind;
    for (OpIndex i = 0; i < count; ++i) {
        if (!std::holds_alternative<workloads::Collective>(program.ops[i].work)) {
            continue;
        }
        OpIndex from = first;
        for (const OpIndex other : program.ops[i].after) {
            from =
                std::max(from, computes(program, other) ? next_compute[other] : near.behind[other]);
        }
        found[i] = std::min(found[i], from);
    }
    return found;
}

HeldBytes held_bytes(const workloads::Buffer& buffer) {
    using workloads::MemoryClass;
    const double bytes = buffer.bytes.value();
    const MemoryClass what = buffer.memory_class;
    const bool kept = what == MemoryClass::parameters || what == MemoryClass::optimizer ||
                      what == MemoryClass::kv_cache || what == MemoryClass::activations;
    return {bytes, what == MemoryClass::gathered_weights ? 0 : bytes, kept ? bytes : 0};
}

/// Adds to all operations between two positions, by differences.
class Differences {
public:
    explicit Differences(std::size_t count) : changes_(count + 1) {}

    void add(OpIndex from, OpIndex to, const workloads::Buffer& buffer) {
        const HeldBytes bytes = held_bytes(buffer);
        changes_[from] += bytes;
        changes_[to + 1] += {-bytes.all, -bytes.without_gathered, -bytes.kept};
    }
    [[nodiscard]] std::vector<HeldBytes> sums() {
        for (std::size_t i = 1; i < changes_.size(); ++i) {
            changes_[i] += changes_[i - 1];
        }
        changes_.pop_back();
        return std::move(changes_);
    }

private:
    std::vector<HeldBytes> changes_;
};

/// The operations that have ended when `pivot` begins, or begin when it has ended, in any order
/// that keeps to what is needed.
struct Around {
    std::vector<bool> before;
    std::vector<bool> behind;
};

Around around(const StepProgram& program, OpIndex pivot) {
    const std::size_t count = program.ops.size();
    Around found{std::vector<bool>(count), std::vector<bool>(count)};
    found.before[pivot] = found.behind[pivot] = true;
    for (OpIndex i = pivot + 1; i-- > 0;) {
        if (found.before[i]) {
            for (const OpIndex other : program.ops[i].needs) {
                found.before[other] = true;
            }
        }
    }
    for (auto i = pivot + 1; i < count; ++i) {
        found.behind[i] = std::ranges::any_of(program.ops[i].needs,
                                              [&](OpIndex other) { return found.behind[other]; });
    }
    return found;
}

std::optional<OpIndex> last_before_backward(const StepProgram& program) {
    std::optional<OpIndex> last;
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
        if (program.ops[i].pass != workloads::Pass::forward) {
            break;
        }
        if (computes(program, i)) {
            last = i;
        }
    }
    return last;
}

std::vector<HeldBytes> held_at_pivot(const StepProgram& program) {
    std::vector<HeldBytes> held(program.ops.size());
    const std::optional<OpIndex> pivot = last_before_backward(program);
    if (!pivot) {
        return held;
    }
    const Around found = around(program, *pivot);
    for (const workloads::Buffer& buffer : program.buffers) {
        const bool begun =
            buffer.allocated_at == workloads::kWholeStep || found.before[buffer.allocated_at];
        const bool stays =
            buffer.freed_after.empty() ||
            std::ranges::any_of(buffer.freed_after, [&](OpIndex op) { return found.behind[op]; });
        if (begun && stays) {
            const HeldBytes bytes = held_bytes(buffer);
            held[*pivot] += bytes;
        }
    }
    return held;
}

}  // namespace

std::vector<HeldBytes> held_for_sure(const StepProgram& program, bool scheduled) {
    if (!scheduled) {
        return held_at_pivot(program);
    }
    const Neighbours near = neighbours(program);
    const std::vector<OpIndex> behind = behind_begins(program, near);
    Differences differences(program.ops.size());
    for (const workloads::Buffer& buffer : program.buffers) {
        const OpIndex from =
            buffer.allocated_at == workloads::kWholeStep ? 0 : behind[buffer.allocated_at];
        auto to = static_cast<OpIndex>(program.ops.size() - 1);
        if (!buffer.freed_after.empty()) {
            to = 0;
            for (const OpIndex op : buffer.freed_after) {
                to = std::max(to, near.before[op] == kNone ? 0 : near.before[op]);
            }
        }
        if (from != kNone && from <= to) {
            differences.add(from, to, buffer);
        }
    }
    std::vector<HeldBytes> held = differences.sums();
    const std::optional<OpIndex> pivot = last_before_backward(program);
    for (OpIndex i = 0; i < held.size(); ++i) {
        if (!computes(program, i)) {
            held[i] = {};
        } else if (i != pivot) {
            held[i].kept = 0;
        }
    }
    return held;
}

std::vector<double> held_in_order(const StepProgram& program) {
    Differences differences(program.ops.size());
    for (const workloads::Buffer& buffer : program.buffers) {
        const OpIndex from = buffer.allocated_at == workloads::kWholeStep ? 0 : buffer.allocated_at;
        const OpIndex to = buffer.freed_after.empty()
                               ? static_cast<OpIndex>(program.ops.size() - 1)
                               : *std::ranges::max_element(buffer.freed_after);
        differences.add(from, to, buffer);
    }
    std::vector<double> held;
    held.reserve(program.ops.size());
    for (const HeldBytes& bytes : differences.sums()) {
        held.push_back(bytes.all);
    }
    return held;
}

}  // namespace podsim::scenarios
