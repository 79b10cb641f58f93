#include "scenarios/src/simulate/stream_account.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace podsim::scenarios {
namespace {

constexpr std::string_view kOver = " over ";
constexpr std::string_view kPcie = "PCIe ";
constexpr std::string_view kOffload = " (offload)";

/// Returns a name such as `AllGather over fsdp+context (weights)`.
std::string describe(const workloads::Op& op) {
    if (const auto* transfer = std::get_if<workloads::HostTransfer>(&op.work)) {
        return transfer->direction == collectives::HostDirection::to_host
                   ? fmt::format("{}to the host{}", kPcie, kOffload)
                   : fmt::format("{}from the host{}", kPcie, kOffload);
    }
    if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        return fmt::format("handover ({})", workloads::to_string(handover->purpose));
    }
    const auto* collective = std::get_if<workloads::Collective>(&op.work);
    if (collective == nullptr) {
        return op.name;
    }
    return fmt::format("{}{}{} ({})", name_of(collective->operation), kOver,
                       fmt::join(collective->axes, "+"), workloads::to_string(collective->purpose));
}

void add(std::vector<Share>& shares, const std::string& name, sim::Time time,
         const std::string& cause) {
    const auto found = std::find_if(shares.begin(), shares.end(),
                                    [&](const Share& share) { return share.name == name; });
    if (found == shares.end()) {
        shares.push_back({name, time, cause});
    } else {
        found->time += time;
    }
}

/// The name of the stream's work or wait; layers have the same few.
struct Described {
    const workloads::Collective* collective = nullptr;
    std::string name;
    std::string cause;  ///< Stretch::cause
};

/// A stretch without names of its own.
struct Piece {
    sim::Time from;
    sim::Time until;
    const Described* what = nullptr;
    bool busy = false;
    workloads::OpIndex op = workloads::kWholeStep;
};

/// The compute stream, built from its operations in order.
class Stream {
public:
    Stream(const workloads::StepProgram& program, const ChipRun& chip, sim::Time end_of_run)
        : program_(program), chip_(chip) {
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            if (std::holds_alternative<workloads::Compute>(program.ops[i].work)) {
                add_compute(static_cast<workloads::OpIndex>(i));
            }
        }
        go_to_end(end_of_run);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Stream(Stream&&) = delete;
    Stream& operator=(Stream&&) = delete;
    ~Stream() = default;

    /// The stretches; valid for the lifetime of the stream.
    [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }

private:
    void add_compute(workloads::OpIndex i) {
        const workloads::Op& op = program_.ops[i];
        const auto last = last_to_end(op.after);
        if (last != op.after.end()) {
            wait(chip_.began[i], *last);
        }
        pieces_.push_back({.from = chip_.began[i],
                           .until = chip_.ended[i],
                           .what = &named(workloads::to_string(op.pass)),
                           .busy = true,
                           .op = i});
        free_ = chip_.ended[i];
    }

    void go_to_end(sim::Time end_of_run) {
        const auto last = std::max_element(chip_.ended.begin(), chip_.ended.end());
        if (last != chip_.ended.end()) {
            wait(*last, static_cast<workloads::OpIndex>(last - chip_.ended.begin()));
            if (end_of_run > *last) {
                pieces_.push_back({.from = *last, .until = end_of_run, .what = &named(kImbalance)});
            }
        }
    }

    using Ops = std::vector<workloads::OpIndex>;

    [[nodiscard]] Ops::const_iterator last_to_end(const Ops& ops) const {
        return std::max_element(ops.begin(), ops.end(),
                                [&](auto a, auto b) { return chip_.ended[a] < chip_.ended[b]; });
    }

    /// Walks back from `until` to the time at which the stream was last busy. The operation that
    /// ended last held it up while it ran; before that, the one that held that operation up, and so
    /// on.
    void wait(sim::Time until, workloads::OpIndex op) {
        const auto first = static_cast<std::ptrdiff_t>(pieces_.size());
        while (until > free_) {
            const sim::Time since = std::max(chip_.began[op], free_);
            // Until the others were ready, an operation of their programs is the cause.
            const sim::Time sent = std::clamp(chip_.sent[op], since, until);
            if (until > sent) {
                pieces_.push_back(
                    {.from = sent, .until = until, .what = &described(program_.ops[op]), .op = op});
            }
            if (sent > since) {
                const bool handover =
                    std::holds_alternative<workloads::Handover>(program_.ops[op].work);
                pieces_.push_back({.from = since,
                                   .until = sent,
                                   .what = &named(handover ? kBubble : kImbalance),
                                   .op = op});
            }
            until = since;
            const auto before = last_to_end(program_.ops[op].after);
            if (until > free_ && before != program_.ops[op].after.end()) {
                op = *before;
            }
        }
        std::reverse(pieces_.begin() + first, pieces_.end());
    }

    /// Returns the name of a wait for an operation.
    const Described& described(const workloads::Op& op) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective != nullptr) {
            const auto known = std::ranges::find_if(described_, [&](const Described& one) {
                return one.collective->operation == collective->operation &&
                       one.collective->purpose == collective->purpose &&
                       one.collective->axes == collective->axes;
            });
            if (known != described_.end()) {
                return *known;
            }
        }
        std::string name = describe(op);
        std::string cause = cause_of_wait(name);
        std::deque<Described>& all = collective != nullptr ? described_ : others_;
        return all.emplace_back(Described{collective, std::move(name), std::move(cause)});
    }

    /// Returns a name without a cause.
    const Described& named(std::string_view name) {
        const auto known = std::ranges::find(named_, name, &Described::name);
        return known != named_.end()
                   ? *known
                   : named_.emplace_back(Described{nullptr, std::string(name), {}});
    }

    const workloads::StepProgram& program_;
    const ChipRun& chip_;
    std::deque<Described> described_;  ///< of collectives
    std::deque<Described> others_;     ///< of other operations, each on its own
    std::deque<Described> named_;
    std::vector<Piece> pieces_;
    sim::Time free_;  ///< time since which it has nothing to compute
};

}  // namespace

std::string cause_of_wait(const std::string& name) {
    if (name.starts_with(kPcie) && name.ends_with(kOffload)) {
        return "PCIe (offload)";
    }
    const std::size_t over = name.find(kOver);
    const std::size_t end = name.rfind(" (");
    if (over == std::string::npos || end == std::string::npos || end < over) {
        return name;
    }
    return "collectives over " + name.substr(over + kOver.size(), end - over - kOver.size());
}

std::string_view name_of(collectives::Operation operation) {
    constexpr std::array<std::string_view, 9> kNames{"AllGather", "ReduceScatter", "AllReduce",
                                                     "AllToAll",  "permute",       "send",
                                                     "broadcast", "gather",        "scatter"};
    return kNames.at(static_cast<std::size_t>(operation));
}

std::vector<Stretch> stream_of(const workloads::StepProgram& program, const ChipRun& chip,
                               sim::Time end_of_run) {
    const Stream stream(program, chip, end_of_run);
    std::vector<Stretch> stretches;
    stretches.reserve(stream.pieces().size());
    for (const Piece& piece : stream.pieces()) {
        stretches.push_back({.from = piece.from,
                             .until = piece.until,
                             .name = piece.what->name,
                             .busy = piece.busy,
                             .cause = piece.what->cause,
                             .op = piece.op});
    }
    return stretches;
}

std::vector<Share> idle_by_cause(const std::vector<Interval>& held,
                                 const std::vector<Stretch>& stream) {
    std::vector<Share> idle;
    auto next = held.begin();  // the first that does not end before the stretch
    for (const Stretch& stretch : stream) {
        sim::Time rest = stretch.until - stretch.from;
        while (next != held.end() && next->until <= stretch.from) {
            ++next;
        }
        for (auto one = next; one != held.end() && one->from < stretch.until; ++one) {
            rest = rest - (std::min(one->until, stretch.until) - std::max(one->from, stretch.from));
        }
        if (rest.ps > 0) {
            add(idle, stretch.busy ? stretch.name : "exposed " + stretch.name, rest, "idle links");
        }
    }
    return idle;
}

StreamAccount account_stream(const workloads::StepProgram& program, const ChipRun& chip,
                             sim::Time end_of_run) {
    StreamAccount account;
    const Stream stream(program, chip, end_of_run);
    for (const Piece& piece : stream.pieces()) {
        const sim::Time time = piece.until - piece.from;
        add(piece.busy ? account.by_pass : account.waited_for, piece.what->name, time,
            piece.what->cause);
        (piece.busy ? account.busy : account.waited) += time;
        account.end = piece.until;
    }
    return account;
}

sim::Time busy_of(const workloads::StepProgram& program, const ChipRun& chip) {
    sim::Time busy;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        if (std::holds_alternative<workloads::Compute>(program.ops[i].work)) {
            busy += chip.ended[i] - chip.began[i];
        }
    }
    return busy;
}

workloads::PassTimes account_passes(const workloads::StepProgram& program,
                                    const std::vector<workloads::PipelineUnit>& order,
                                    const ChipRun& chip) {
    const auto counts = [](const workloads::Op& op) {
        if (op.layer < 0 || op.pass == workloads::Pass::optimizer) {
            return false;
        }
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        return std::holds_alternative<workloads::Compute>(op.work) ||
               (collective != nullptr && !collective->step &&
                collective->purpose != workloads::Purpose::weights &&
                collective->purpose != workloads::Purpose::gradients);
    };
    std::array<sim::Time, 3> sums{};  // by kind of unit
    int microbatches = 0;
    for (std::size_t unit = 0; unit < order.size(); ++unit) {
        const std::size_t end =
            unit + 1 < order.size() ? program.units[unit + 1] : program.ops.size();
        for (std::size_t op = program.units[unit]; op < end; ++op) {
            if (counts(program.ops[op])) {
                sums[static_cast<std::size_t>(order[unit].kind)] += chip.ended[op] - chip.began[op];
            }
        }
        microbatches = std::max(microbatches, order[unit].microbatch + 1);
    }
    const auto mean = [&](workloads::PipelineUnit::Kind kind) {
        return sim::Seconds(sums[static_cast<std::size_t>(kind)].seconds() / microbatches);
    };
    using Kind = workloads::PipelineUnit::Kind;
    return {mean(Kind::forward), mean(Kind::backward), mean(Kind::weights)};
}

}  // namespace podsim::scenarios
