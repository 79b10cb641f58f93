#include "workloads/hlo/items.h"

#include <algorithm>
#include <map>
#include <set>

#include "workloads/hlo/attention_kernels.h"
#include "workloads/hlo/cost_estimate.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

double bytes_of_element(MatmulDtype dtype) {
    return dtype == MatmulDtype::bf16 ? 2 : 1;
}

/// Returns the bytes of the operands and results of a matmul.
double own_bytes(const MatmulShape& shape, MatmulDtype dtype) {
    const auto& [m, k, n, count] = shape;
    return bytes_of_element(dtype) * count * (m * k + k * n + m * n);
}

constexpr double kCausalShare = 0.5;
constexpr double kMatmulsOfDkv = 4;  ///< if another kernel computes the queries' gradient

Compute attention_work(const AttentionKernel& kernel, const CostRules& rules) {
    Compute work;
    const bool causal = kernel.causal.value_or(rules.causal && kernel.queries == kernel.keys);
    const double matmuls = kernel.dkv && rules.dq_apart ? kMatmulsOfDkv : kernel.matmuls;
    const double square = 2 * kernel.heads * kernel.queries * kernel.keys * kernel.head;
    work.flops = sim::Flops(matmuls * square * (causal ? kCausalShare : 1));
    work.matmuls.push_back({.m = kernel.queries,
                            .k = kernel.head,
                            .n = kernel.keys,
                            .count = kernel.heads * matmuls * (causal ? kCausalShare : 1)});
    work.attention = true;
    work.attention_gradient = kernel.backward;
    work.kernel = true;
    return work;
}

double given_flops(const Instruction& instruction, const CostRules& rules) {
    return instruction.opcode == "custom-call" && rules.flops ? rules.flops(instruction) : -1;
}

/// Adds a matmul; `passes` becomes the mean of all, weighted by FLOPs.
void add_to(Compute& work, const Matmul& matmul) {
    const double flops = work.flops.value();
    const double all = flops + matmul.flops();
    work.passes =
        all > 0 ? (work.passes * flops + matmul.passes * matmul.flops()) / all : work.passes;
    work.flops = sim::Flops(all);
    work.matmuls.push_back(matmul.shape);
    work.dtype = matmul.dtype;
}

/// Returns the estimate without the bytes of arrays in VMEM.
sim::Bytes estimated_bytes(const Computation& computation, const Instruction& instruction,
                           sim::Bytes estimate) {
    sim::Bytes near = instruction.shape.stored_bytes() - in_hbm(instruction.shape);
    for (const std::uint32_t operand : instruction.operands) {
        const Shape& shape = computation.instructions[operand].shape;
        near += shape.stored_bytes() - in_hbm(shape);
    }
    return std::max(estimate - near, sim::Bytes());
}

/// Sets the bytes; those beyond the matmuls' own belong to the instructions fused with them.
void set_bytes(Compute& work, sim::Bytes bytes) {
    work.hbm = bytes;
    double own = 0;
    for (const MatmulShape& shape : work.matmuls) {
        own += own_bytes(shape, work.dtype);
    }
    work.elementwise = work.kernel ? sim::Bytes() : sim::Bytes(std::max(0.0, bytes.value() - own));
}

}  // namespace

class Items {
public:
    Items(ModuleItems& shared, const Computation& computation)
        : module_(shared.module_),
          computation_(computation),
          rules_(shared.rules_),
          shared_(shared),
          users_(users_of(computation)),
          collectives_(module_, computation, users_, shared.budget_, shared.collectives_) {
        for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
            const Instruction& at = computation.instructions[i];
            behind_views_.push_back(renames(at) ? behind_views_[at.operands.front()] : i);
        }
    }

    std::vector<Item> list() {
        for (std::uint32_t i = 0; i < computation_.instructions.size(); ++i) {
            const Instruction& at = computation_.instructions[i];
            const Doing doing = doing_of(module_, computation_, at);
            if (doing == Doing::nothing) {
                continue;
            }
            if (shared_.fuses_ && doing == Doing::kernel && is_elementwise(at)) {
                open_.push_back(i);
                continue;
            }
            close();
            add(i, doing);
        }
        close();
        return std::move(items_);
    }

private:
    void add(std::uint32_t number, Doing doing) {
        const Instruction& at = computation_.instructions[number];
        Item item{.doing = doing, .members = {number}};
        if (doing == Doing::kernel || doing == Doing::collective) {
            item.collectives = collectives_.of(at);
            set_work(at, item);
            const bool alone = is_collective_opcode(base_opcode(at));
            const bool computes = doing == Doing::kernel || item.work.flops.value() > 0;
            if (!alone && computes) {
                set_bytes(item.work, bytes_of(at));
            } else if (alone) {
                item.work = Compute{};
            }
        } else if (doing == Doing::host_copy || doing == Doing::prefetch) {
            item.bytes = doing == Doing::prefetch ? prefetched_by(at) : moved_by(at);
        }
        items_.push_back(std::move(item));
    }

    [[nodiscard]] sim::Bytes bytes_of(const Instruction& at) {
        const auto estimate = cost_estimate_of(at);
        return estimate && estimate->bytes && !attention_of(computation_, at)
                   ? estimated_bytes(computation_, at, sim::Bytes(*estimate->bytes))
                   : shared_.traffic_.hbm_of(computation_, at);
    }

    [[nodiscard]] sim::Bytes moved_by(const Instruction& at) const {
        if (const Shape* const part = update_of(computation_, at)) {
            return part->stored_bytes();
        }
        return is_start(at) ? started(at).stored_bytes() : at.shape.stored_bytes();
    }

    /// Returns the HBM bytes of a copy within the chip: it counts once for each end in HBM.
    [[nodiscard]] sim::Bytes prefetched_by(const Instruction& at) const {
        const Shape& result = started(at);
        const auto in_space = [](const Shape& shape) {
            return shape.sums.first_space == kHbmSpace ? 1 : 0;
        };
        const int from =
            at.operands.empty() ? 0 : in_space(computation_.instructions[at.operands[0]].shape);
        return result.stored_bytes() * (in_space(result) + from);
    }

    /// Appends the matmuls of an instruction and of those that it carries out.
    void append_matmuls(const Computation& computation, const Instruction& instruction,
                        std::vector<Matmul>& all) {
        if (is_matmul(instruction)) {
            auto known = shared_.matmuls_.find(&instruction);
            if (known == shared_.matmuls_.end()) {
                known = shared_.matmuls_
                            .emplace(&instruction,
                                     matmul_of(module_, computation, instruction, shared_.budget_))
                            .first;
            }
            all.push_back(known->second);
        }
        if (const Computation* const inner = carried_out(module_, instruction)) {
            for (const Instruction& each : inner->instructions) {
                append_matmuls(*inner, each, all);
            }
        }
    }

    /// Sets the work of one instruction, without HBM bytes.
    void set_work(const Instruction& instruction, Item& item) {
        if (const auto kernel = attention_of(computation_, instruction)) {
            item.work = attention_work(*kernel, rules_);
            return;
        }
        Compute& work = item.work;
        append_matmuls(computation_, instruction, item.matmuls);
        for (const Matmul& matmul : item.matmuls) {
            if (matmul.depthwise) {
                work.vector += sim::Flops(matmul.flops());
            } else {
                add_to(work, matmul);
            }
        }
        std::erase_if(item.matmuls, [](const Matmul& matmul) { return matmul.depthwise; });
        work.vector += vector_of(module_, computation_, instruction);
        if (const double given = given_flops(instruction, rules_); given >= 0) {
            work.flops = sim::Flops(given);
            work.kernel = true;
        } else if (const auto estimate = cost_estimate_of(instruction)) {
            constexpr double kMost = 0x1p63;  // XLA keeps each in 64 bits
            if (std::max({estimate->flops, estimate->transcendentals, estimate->bytes.value_or(0),
                          estimate->remote_bytes}) >= kMost) {
                throw module_.error(instruction, "a cost_estimate of 2^63 or more");
            }
            work.flops = sim::Flops(estimate->flops);
            work.vector += sim::Flops(vector_unit::kTranscendental * estimate->transcendentals);
            work.kernel = true;
        }
    }

    /// Returns the slice that is written into a buffer; null if the whole result is new.
    [[nodiscard]] const Shape* update_of(const Computation& computation,
                                         const Instruction& at) const {
        if (base_opcode(at) == "dynamic-update-slice" && at.operands.size() > 1) {
            return &computation.instructions[at.operands[1]].shape;
        }
        const Computation* const inner = carried_out(module_, at);
        return inner != nullptr ? update_of(*inner, inner->root_instruction()) : nullptr;
    }

    /// Turns the elementwise instructions since the last other item into kernels.
    void close() {
        std::map<std::uint32_t, std::uint32_t> parent;
        for (const std::uint32_t each : open_) {
            parent[each] = each;
        }
        const auto root = [&](std::uint32_t each) {
            while (parent[each] != each) {
                each = parent[each] = parent[parent[each]];
            }
            return each;
        };
        for (const std::uint32_t each : open_) {
            for (const std::uint32_t operand : computation_.instructions[each].operands) {
                const std::uint32_t from = behind_views_[operand];
                if (parent.contains(from)) {
                    parent[root(from)] = root(each);
                }
            }
        }
        std::map<std::uint32_t, std::vector<std::uint32_t>> kernels;  // by their last member
        for (const std::uint32_t each : open_) {
            kernels[root(each)].push_back(each);
        }
        std::vector<std::vector<std::uint32_t>> sorted;
        sorted.reserve(kernels.size());
        for (auto& [unused, members] : kernels) {
            sorted.push_back(std::move(members));
        }
        std::ranges::sort(sorted, {}, [](const auto& members) { return members.back(); });
        for (std::vector<std::uint32_t>& members : sorted) {
            add_fused(std::move(members));
        }
        open_.clear();
    }

    /// True for the same array under another name: no kernel of its own and no element of a tuple.
    static bool renames(const Instruction& at) {
        return is_view(at) && at.opcode != "reshape" && at.opcode != "get-tuple-element" &&
               !at.operands.empty();
    }

    [[nodiscard]] bool is_constant(std::uint32_t number) const {
        const Instruction& at = computation_.instructions[number];
        return at.opcode == "constant" || at.shape.elements() <= 1;
    }

    void add_fused(std::vector<std::uint32_t> members) {
        const auto inside = [&](std::uint32_t number) {
            return std::ranges::binary_search(members, number);
        };
        Item item{.doing = Doing::kernel};
        sim::Bytes bytes;
        std::set<std::uint32_t> read;
        for (const std::uint32_t member : members) {
            const Instruction& at = computation_.instructions[member];
            item.work.vector += vector_of(module_, computation_, at);
            for (std::size_t i = 0; i < at.operands.size(); ++i) {
                const std::uint32_t operand = behind_views_[at.operands[i]];
                if (inside(operand) || is_constant(operand)) {
                    continue;
                }
                if (at.opcode == "dynamic-slice" || at.opcode == "slice") {
                    bytes += i == 0 ? at.shape.stored_bytes() : sim::Bytes();
                } else if (at.opcode == "dynamic-update-slice" && i == 0) {
                    continue;
                } else if (read.insert(operand).second) {
                    bytes += in_hbm(computation_.instructions[operand].shape);
                }
            }
            if (is_read_outside(member, inside)) {
                const bool in_place = at.opcode == "dynamic-update-slice" && at.operands.size() > 1;
                bytes += in_place ? computation_.instructions[at.operands[1]].shape.stored_bytes()
                                  : in_hbm(at.shape);
            }
        }
        set_bytes(item.work, bytes);
        item.members = std::move(members);
        if (item.work.hbm.value() > 0 || item.work.vector.value() > 0) {
            items_.push_back(std::move(item));
        }
    }

    /// True if the root or an outside user reads it, also through other names. A name has one
    /// operand, so none is visited twice.
    template <class Inside>
    [[nodiscard]] bool is_read_outside(std::uint32_t number, const Inside& inside) const {
        std::vector<std::uint32_t> open{number};
        while (!open.empty()) {
            const std::uint32_t at = open.back();
            open.pop_back();
            if (at == computation_.root) {
                return true;
            }
            for (const std::uint32_t user : users_[at]) {
                if (inside(user)) {
                    continue;
                }
                if (!renames(computation_.instructions[user])) {
                    return true;
                }
                open.push_back(user);
            }
        }
        return false;
    }

    const Module& module_;
    const Computation& computation_;
    const CostRules& rules_;
    ModuleItems& shared_;
    const Users users_;
    Collectives collectives_;
    std::vector<std::uint32_t> behind_views_;  ///< the instruction that each one renames
    std::vector<std::uint32_t> open_;
    std::vector<Item> items_;
};

bool has_dq_kernel(const Module& module) {
    return std::ranges::any_of(module.computations, [](const Computation& computation) {
        return std::ranges::any_of(computation.instructions, [&](const Instruction& each) {
            const auto kernel = attention_of(computation, each);
            return kernel && kernel->dq;
        });
    });
}

bool is_fused(const Module& module) {
    return std::ranges::any_of(module.computations, [](const Computation& computation) {
        return std::ranges::any_of(computation.instructions,
                                   [](const Instruction& each) { return each.opcode == "fusion"; });
    });
}

ModuleItems::ModuleItems(const Module& module, const CostRules& rules)
    : module_(module),
      rules_(rules),
      fuses_(!is_fused(module)),
      budget_(module),
      traffic_(module) {}

const std::vector<Item>& ModuleItems::of(const Computation& computation) {
    const auto [entry, added] = known_.try_emplace(&computation);
    if (added) {
        entry->second = Items(*this, computation).list();
    }
    return entry->second;
}

bool is_estimated(const Computation& computation, const Instruction& instruction,
                  const CostRules& rules) {
    return cost_estimate_of(instruction) && !attention_of(computation, instruction) &&
           given_flops(instruction, rules) < 0;
}

bool is_unknown_call(const Computation& computation, const Instruction& instruction,
                     const CostRules& rules) {
    return instruction.opcode == "custom-call" && !attention_of(computation, instruction) &&
           given_flops(instruction, rules) < 0 && !cost_estimate_of(instruction);
}

std::vector<std::string> unknown_opcodes(const Module& module, const Instruction& instruction) {
    std::vector<std::string> all;
    if (!is_known_opcode(instruction)) {
        all.emplace_back(base_opcode(instruction));
    }
    if (const Computation* const inner = carried_out(module, instruction)) {
        for (const Instruction& each : inner->instructions) {
            const std::vector<std::string> more = unknown_opcodes(module, each);
            all.insert(all.end(), more.begin(), more.end());
        }
    }
    return all;
}

}  // namespace podsim::workloads::hlo
