// Whole numbers that follow from a device's number: `partition-id`, tables of constants, sums.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// A list of steps that is run for each device.
class OnDevice {
public:
    /// All are kept by reference; steps are spent for the instruction `user`.
    OnDevice(const Computation& computation, const DeviceCounts& counts, const Instruction& user,
             Budget& budget)
        : computation_(computation), counts_(counts), user_(user), budget_(budget) {}

    /// Adds what an instruction takes. The number is that of its step; nothing where it is not known how.
    std::optional<std::size_t> add(std::uint32_t wanted);

    [[nodiscard]] std::size_t steps() const { return steps_.size(); }

    /// Results of all steps on one device; false where one has none.
    bool run(std::int64_t device, std::vector<std::int64_t>& values) const;

private:
    enum class Kind {
        number,
        device,
        partition,
        replica,
        same,
        table,
        add,
        subtract,
        multiply,
        divide,
        remainder
    };
    struct Step {
        Kind kind = Kind::number;
        std::vector<std::uint32_t> parts{};  ///< instructions; of steps_: numbers of steps
        std::vector<std::int64_t> table{};   ///< of a constant: it alone
    };

    [[nodiscard]] std::optional<Step> step_of(const Instruction& at) const;
    [[nodiscard]] std::optional<std::int64_t> result(const Step& step, std::int64_t device,
                                                     const std::vector<std::int64_t>& values) const;
    static std::optional<std::int64_t> sum(Kind kind, std::int64_t a, std::int64_t b);

    const Computation& computation_;
    const DeviceCounts& counts_;
    const Instruction& user_;
    Budget& budget_;
    std::vector<Step> steps_{};
    std::unordered_map<std::uint32_t, std::size_t> numbers_{};
};

}  // namespace podsim::workloads::hlo
