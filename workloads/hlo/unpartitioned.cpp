#include "workloads/hlo/unpartitioned.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/doing.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::array<std::string_view, 6> kPartitionerCalls{
    "Sharding",         "SPMDFullToShardShape", "SPMDShardToFullShape", "CustomSPMDPartitioning",
    "ShardBarrierFrom", "ShardBarrierTo"};
constexpr std::array<std::string_view, 2> kCallFamilies{"xla.sdy.", "_SPMDInternalOp_"};
constexpr std::array<std::string_view, 2> kAttributes{"xla.sdy.", "mhlo.sharding"};

/// Calls between whole arrays and a device's shards.
constexpr std::array<std::string_view, 4> kShapeCalls{
    "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::ranges::find(names, name) != names.end();
}

bool is_in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

/// The largest number of devices that shardings, meshes or counts name.
class Spread {
public:
    void read(std::string_view text) {
        each(text, "devices=[", [&](std::string_view rest) { add(product(rest, false)); });
        each(text, "mesh[", [&](std::string_view rest) { add(product(rest, true)); });
        each(text, "mesh<[", [&](std::string_view rest) { add(product(rest, true)); });
        for (const std::string_view one : {"maximal device=", "maximal_mesh[device_id="}) {
            each(text, one, [&](std::string_view rest) { add(number(rest) + 1); });
        }
        said_ = said_ || text.find("replicated") != std::string_view::npos;
    }
    void add(double devices) {
        most_ = std::max(most_, devices);
        said_ = true;
    }
    [[nodiscard]] double most() const { return most_; }
    /// True if anything states a number of devices.
    [[nodiscard]] bool said() const { return said_; }

private:
    template <class Use>
    static void each(std::string_view text, std::string_view key, const Use& use) {
        for (std::size_t at = text.find(key); at != std::string_view::npos;
             at = text.find(key, at + key.size())) {
            if (key != "mesh[" || !text.substr(0, at).ends_with("maximal_")) {
                use(text.substr(at + key.size()));
            }
        }
    }

    static double number(std::string_view text) {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    /// Returns the product of `4,1,2]` or, with `axes`, of `'x'=2,'y'=4]`. The list ends at the
    /// next bracket.
    static double product(std::string_view text, bool axes) {
        std::string_view list = text.substr(0, text.find_first_of("[]"));
        double all = 1;
        while (!list.empty()) {
            const std::string_view entry = list.substr(0, list.find(','));
            const std::size_t from = axes ? entry.rfind('=') : entry.find_first_not_of(' ');
            all *= from == std::string_view::npos
                       ? 1
                       : std::max(number(entry.substr(from + (axes ? 1 : 0))), 1.0);
            list.remove_prefix(std::min(entry.size() + 1, list.size()));
        }
        return all;
    }

    double most_ = 1;
    bool said_ = false;
};

/// Returns the name of an attribute that is for the partitioner, `xla.sdy.sharding`; empty if there
/// is none.
std::string_view attribute_in(std::string_view attributes) {
    for (const std::string_view key : kAttributes) {
        const std::size_t at = attributes.find(key);
        if (at != std::string_view::npos) {
            const std::string_view rest = attributes.substr(at);
            return rest.substr(0, static_cast<std::size_t>(
                                      std::ranges::find_if_not(rest, is_in_name) - rest.begin()));
        }
    }
    return {};
}

bool is_for_partitioner(std::string_view target) {
    return is_one_of(target, kPartitionerCalls) ||
           std::ranges::any_of(kCallFamilies,
                               [&](std::string_view each) { return target.starts_with(each); });
}

class Search {
public:
    explicit Search(const Module& module) : module_(module) {
        const DeviceCounts counts = device_counts(module);
        if (counts.stated || counts.devices() > 1) {
            devices_.add(static_cast<double>(counts.devices()));
        }
        read_attributes(module.find("frontend_attributes").value_or(""), nullptr);
        for (const Computation& computation : module.computations) {
            partitioned_ = partitioned_ || computation.name.ends_with("_spmd");
            for (const Instruction& each : computation.instructions) {
                read(computation, each);
            }
        }
        partitioned_ = partitioned_ || module.is_scheduled();
    }

    void refuse() const {
        if (!mark_.empty() && (devices_.most() > 1 || !devices_.said())) {
            const std::string devices =
                devices_.most() > 1 ? fmt::format("there are {:.0f} devices", devices_.most())
                                    : "nothing says that there is one device";
            throw error(first_, fmt::format("{} is for XLA's partitioner, and {}", mark_, devices));
        }
        if (sharded_ != nullptr && !partitioned_) {
            throw error(sharded_,
                        fmt::format("it has shardings over {:.0f} devices, and no collective, "
                                    "partition-id or schedule",
                                    over_));
        }
    }

private:
    void read(const Computation& computation, const Instruction& at) {
        partitioned_ = partitioned_ || is_collective_opcode(base_opcode(at)) ||
                       at.opcode == "partition-id" || at.opcode == "replica-id";
        read_attributes(at.find("frontend_attributes").value_or(""), &at);
        for (const char* const key : {"sharding", "domain"}) {
            if (const auto sharding = at.find(key)) {
                read_sharding(*sharding, at);
            }
        }
        partitioned_ =
            partitioned_ || std::ranges::any_of(arrays_of(at.shape), [](const Shape* array) {
                return !array->layout.tiles.empty();
            });
        const std::string_view target = at.text("custom_call_target");
        if (at.opcode != "custom-call" || !is_for_partitioner(target)) {
            return;
        }
        mark(fmt::format("the custom call '{}'", target), &at);
        if (is_one_of(target, kShapeCalls)) {
            double operands = 0;
            for (const std::uint32_t operand : at.operands) {
                operands += computation.instructions[operand].shape.sums.elements;
            }
            const double result = at.shape.sums.elements;
            const double least = std::min(operands, result);
            if (operands != result && least > 0) {
                devices_.add(std::max(operands, result) / least);
            }
        }
    }

    void read_sharding(std::string_view text, const Instruction& at) {
        Spread one;
        one.read(text);
        devices_.read(text);
        const bool names_no_axis = text.find("mesh") != std::string_view::npos &&
                                   text.find("{'") == std::string_view::npos;
        if (one.most() > 1 && !names_no_axis) {
            sharded_ = sharded_ == nullptr ? &at : sharded_;
            over_ = std::max(over_, one.most());
        }
    }

    void read_attributes(std::string_view attributes, const Instruction* at) {
        const std::string_view name = attribute_in(attributes);
        if (!name.empty()) {
            devices_.read(attributes);
            mark(fmt::format("the attribute {}", name), at);
        }
    }

    void mark(std::string what, const Instruction* at) {
        if (mark_.empty()) {
            mark_ = std::move(what);
            first_ = at;
        }
    }

    [[nodiscard]] sim::InputError error(const Instruction* at, const std::string& why) const {
        const std::string problem = "the module is not partitioned yet: " + why;
        constexpr const char* kRemedy =
            "dump *after_optimizations.txt, or what XLA's SPMD partitioner leaves "
            "(--xla_dump_hlo_pass_re=spmd)";
        return at != nullptr ? module_.error(*at, problem, kRemedy)
                             : sim::InputError(problem, kRemedy, {module_.file, module_.line, 1});
    }

    const Module& module_;
    Spread devices_{};
    std::string mark_{};                    ///< the first mark; empty if there is none
    const Instruction* first_ = nullptr;    ///< null if the mark is the module's
    const Instruction* sharded_ = nullptr;  ///< the first instruction sharded over several devices
    double over_ = 1;                       ///< the most devices of a sharding
    bool partitioned_ = false;
};

}  // namespace

void refuse_unpartitioned(const Module& module) {
    Search(module).refuse();
}

}  // namespace podsim::workloads::hlo
