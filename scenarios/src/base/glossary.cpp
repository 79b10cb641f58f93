#include "scenarios/src/base/glossary.h"

#include <algorithm>
#include <array>
#include <string>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {
namespace {

constexpr auto kTerms = std::to_array<Term>({
    {"AllGather",
     "Every chip of a group ends with the arrays of all chips of the group. FSDP uses it to gather"
     " weights."},
    {"AllReduce",
     "Every chip of a group ends with the sum over the group. It costs a ReduceScatter and an "
     "AllGather."},
    {"AllToAll",
     "Every chip of a group sends another part of its array to every other chip. Experts and some "
     "attention layouts use it."},
    {"analytic estimate",
     "The closed form of How to Scale Your Model (Austin et al., 2025) for the same step, with no "
     "messages simulated."},
    {"arithmetic intensity",
     "FLOPs per byte that an operation moves to or from HBM. Below the chip's own FLOPs per byte "
     "the operation is bound by HBM."},
    {"bisection",
     "Total rate of the links that a cut of the slice into two halves crosses, least over such "
     "cuts. It limits AllToAll."},
    {"collective matmul",
     "A matmul that runs in steps, each beside the ring step of the collective that brings or "
     "takes its operand."},
    {"critical path",
     "Chain of operations and waits from the start of the step to its end, each of which begins "
     "when the one before it ends."},
    {"DCN", "Data-centre network. It joins slices and is slower than ICI."},
    {"decode",
     "Step of inference that makes one token for each sequence. It reads all weights and the cache"
     " of every sequence."},
    {"exposed", "Time of a collective or copy during which the compute of the chip waits for it."},
    {"folding",
     "Simulating one chip for all that do the same at the same time. The times are those of the "
     "unfolded run to the picosecond."},
    {"FSDP",
     "Fully sharded data parallelism: weights, gradients and optimizer state are sharded over the "
     "chips that share the batch. Weights are gathered before use."},
    {"gap",
     "Difference of the step time and its lower bound, split into causes that add up to it."},
    {"goodput", "Requests per second that a server answers within its latency targets."},
    {"HBM",
     "High-bandwidth memory of a chip. It has a capacity and a bandwidth, which kernels and "
     "messages share."},
    {"HFU",
     "Hardware FLOPs utilization: executed FLOPs per second over the chip's peak, with "
     "recomputation counted."},
    {"ICI", "Inter-chip interconnect: the links of a slice, one to each neighbour in the torus."},
    {"latency hiding",
     "Order of a program in which collectives run beside matmuls that do not need their results."},
    {"lower bound",
     "Time that no schedule of the same operations on the same machine can beat: the busiest of "
     "compute, HBM and links."},
    {"mesh",
     "Assignment of the slice's physical axes to logical axes: data, fsdp, context, tensor, "
     "pipeline, expert."},
    {"MFU",
     "Model FLOPs utilization: the model's FLOPs per second over the chip's peak, without "
     "recomputation."},
    {"microbatch",
     "Part of a chip's batch that goes through forward and backward pass before the next part."},
    {"MXU", "Matrix unit of a chip. It computes matmuls in tiles of 128 or 256 rows and columns."},
    {"pipeline bubble",
     "Time in which a pipeline stage waits because its first or last microbatch is elsewhere."},
    {"prefill",
     "Step of inference that reads a prompt and fills the cache with its keys and values."},
    {"profile",
     "Fractions of the ideal rates that chips reach, such as 0.84 of the MXU's peak, each with its"
     " source. `ideal` has none."},
    {"ReduceScatter",
     "Every chip of a group ends with its shard of the sum over the group. FSDP uses it for "
     "gradients."},
    {"remat",
     "Rematerialization: activations that are computed again in the backward pass instead of being"
     " held."},
    {"ring step",
     "Stage of a ring collective in which every chip sends one shard to its neighbour."},
    {"roofline",
     "Time of an operation as the longer of its FLOPs at peak and its bytes at full bandwidth."},
    {"slice", "Chips that ICI joins, such as 4x4x8. Several slices are joined by DCN."},
    {"straggler", "Slowest chip or host of a step, for which the others wait at collectives."},
    {"TPOT", "Time per output token of a request after its first token."},
    {"TTFT", "Time to first token: from the arrival of a request to its first output token."},
    {"twisted torus",
     "Torus whose wraparound links of one axis also shift another axis. Its bisection is larger "
     "for some shapes."},
    {"VPU", "Vector unit of a chip. It computes elementwise work such as norms and activations."},
    {"wraparound",
     "Link from the last chip of an axis to its first. Without it a ring has half of its rate."},
});

}  // namespace

std::span<const Term> glossary() {
    return kTerms;
}

const Term* find_term(std::string_view name) {
    const std::string wanted = lower_case(std::string(name));
    const auto found = std::ranges::find_if(
        kTerms, [&](const Term& term) { return lower_case(std::string(term.name)) == wanted; });
    return found == kTerms.end() ? nullptr : &*found;
}

}  // namespace podsim::scenarios
