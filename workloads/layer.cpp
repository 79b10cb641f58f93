#include "workloads/layer.h"

namespace podsim::workloads {
namespace {

/// What a pass over the layer's forward operations leaves for the backward pass.
struct Keep {
    bool gathered = false;  ///< complete rows and keys/values
    bool matmuls = false;   ///< matmul outputs
    bool rest = false;      ///< attention's output and the hidden product
    bool normed = false;    ///< this chip's rows of the normed inputs
    bool output = false;    ///< the layer's last matmul output
    MemoryClass memory_class = MemoryClass::activations;
};

Keep saved_by(Remat remat) {
    Keep keep;
    keep.matmuls = keep.output = remat != Remat::block;
    keep.rest = keep.normed = remat == Remat::none;
    return keep;
}

constexpr Keep kRecomputed{true, true, true, false, false, MemoryClass::buffers};

/// The operation from which on each intermediate of one forward pass exists.
struct Marks {
    OpIndex attention_rows = 0;
    OpIndex qkv = 0;
    OpIndex kv = 0;
    OpIndex attention = 0;
    OpIndex out = 0;
    OpIndex middle = 0;
    OpIndex mlp_rows = 0;
    OpIndex gate_up = 0;
    OpIndex down = 0;
    OpIndex output = 0;
};

Marks issue_forward(StepBuilder& builder) {
    const Shard& shard = builder.shard();
    Marks at;
    at.attention_rows = builder.gather_rows("attention input");
    at.qkv = builder.compute("qkv", qkv_forward(shard));
    at.kv = builder.gather_kv("keys and values");
    at.attention = builder.compute("attention", attention_forward(shard));
    at.out = builder.compute("out", out_forward(shard));
    at.middle = builder.scatter_rows("attention output", at.out);
    at.mlp_rows = builder.gather_rows("mlp input");
    at.gate_up = builder.compute("gate_up", gate_up_forward(shard));
    at.down = builder.compute("down", down_forward(shard));
    at.output = builder.scatter_rows("mlp output", at.down);
    return at;
}

/// Bytes of t x width activations.
double bytes(const Shard& shard, double width) {
    return shard.tokens * width * shard.precision.compute;
}

/// Bytes of the gathered keys and values; without context parallelism they are those of qkv.
double gathered_kv_bytes(const Shard& shard) {
    return shard.context > 1 ? shard.kv_elements() * shard.precision.compute : 0;
}

/// Bytes of rows that exist complete only because they were gathered.
double gathered_bytes(const StepBuilder& builder) {
    return builder.plan().tensor > 1 ? builder.full_rows() : 0;
}

LayerBuffers hold_forward(StepBuilder& builder, const Keep& keep, const Marks& at) {
    const Shard& shard = builder.shard();
    // Held on for the backward pass when kept, else until its last use in this pass.
    const auto hold = [&](bool kept, double size, OpIndex from, OpIndex last_use) {
        if (kept) {
            return builder.hold(keep.memory_class, size, from);
        }
        builder.hold_between(MemoryClass::buffers, size, from, last_use);
        return kNoBuffer;
    };
    const auto saved = [&](bool kept, double size, OpIndex from) {
        return kept ? builder.hold(keep.memory_class, size, from) : kNoBuffer;
    };
    const double local = builder.local_rows();
    // Without tensor parallelism the complete rows are the normed input itself.
    const double complete = keep.normed ? gathered_bytes(builder) : builder.full_rows();

    LayerBuffers held;
    held.attention_normed = saved(keep.normed, local, at.attention_rows);
    held.attention_gathered = hold(keep.gathered, complete, at.attention_rows, at.qkv);
    held.qkv = hold(keep.matmuls, bytes(shard, shard.qkv_width()), at.qkv, at.attention);
    held.kv_gathered = hold(keep.gathered, gathered_kv_bytes(shard), at.kv, at.attention);
    held.attended = hold(keep.rest, bytes(shard, shard.query_width()), at.attention, at.out);
    held.middle = hold(keep.matmuls, local, at.middle, at.output);
    held.mlp_normed = saved(keep.normed, local, at.mlp_rows);
    held.mlp_gathered = hold(keep.gathered, complete, at.mlp_rows, at.gate_up);
    held.gate_up =
        hold(keep.matmuls, bytes(shard, shard.branches * shard.d_ff), at.gate_up, at.down);
    held.hidden = hold(keep.rest, bytes(shard, shard.d_ff), at.down, at.down);
    held.output = saved(keep.output, local, at.output);
    return held;
}

class Backward {
public:
    Backward(StepBuilder& builder, const LayerBuffers& alive)
        : builder_(builder), shard_(builder.shard()), alive_(alive) {}

    BufferId mlp_block(double parameters) {
        const OpIndex dy = builder_.gather_rows("mlp output gradient");
        const OpIndex dh = builder_.compute("down input gradient", down_input_gradient(shard_));
        const BufferId unreduced = builder_.begin_gradients(parameters);
        const OpIndex dw = builder_.compute("down weight gradient", down_weight_gradient(shard_));
        const BufferId rows = complete_rows(alive_.mlp_gathered, alive_.mlp_normed, "mlp input");
        const OpIndex dx =
            builder_.compute("gate_up input gradient", gate_up_input_gradient(shard_));
        builder_.scatter_rows("mlp input gradient", dx);
        const OpIndex end =
            builder_.compute("gate_up weight gradient", gate_up_weight_gradient(shard_));

        transient(gathered_bytes(builder_), dy, dw);
        transient(bytes(shard_, shard_.branches * shard_.d_ff), dh, end);
        builder_.release(alive_.hidden, dw);
        builder_.release(alive_.gate_up, dw);
        for (const BufferId buffer : {rows, alive_.mlp_normed, alive_.middle, alive_.output}) {
            builder_.release(buffer, end);
        }
        return unreduced;
    }

    void attention_block() {
        const OpIndex dy = builder_.gather_rows("attention output gradient");
        const OpIndex da = builder_.compute("out input gradient", out_input_gradient(shard_));
        const OpIndex dwo = builder_.compute("out weight gradient", out_weight_gradient(shard_));
        if (alive_.kv_gathered == kNoBuffer) {
            alive_.kv_gathered = builder_.hold(MemoryClass::buffers, gathered_kv_bytes(shard_),
                                               builder_.gather_kv("keys and values"));
        }
        const OpIndex ds = builder_.compute("attention gradient", attention_backward(shard_));
        builder_.scatter_kv("key and value gradient", ds);
        const BufferId rows =
            complete_rows(alive_.attention_gathered, alive_.attention_normed, "attention input");
        const OpIndex dx = builder_.compute("qkv input gradient", qkv_input_gradient(shard_));
        builder_.scatter_rows("attention input gradient", dx);
        const OpIndex end = builder_.compute("qkv weight gradient", qkv_weight_gradient(shard_));

        transient(gathered_bytes(builder_), dy, dwo);
        transient(bytes(shard_, shard_.query_width()), da, ds);
        transient(bytes(shard_, shard_.qkv_width()), ds, end);
        for (const BufferId buffer : {alive_.qkv, alive_.kv_gathered, alive_.attended}) {
            builder_.release(buffer, ds);
        }
        for (const BufferId buffer : {rows, alive_.attention_normed, alive_.input}) {
            builder_.release(buffer, end);
        }
    }

    /// Remat of matmuls: attention's output and the gathered keys and values, from the saved q, k,
    /// v.
    void recompute_attention() {
        builder_.set_pass(Pass::recompute);
        alive_.kv_gathered = builder_.hold(MemoryClass::buffers, gathered_kv_bytes(shard_),
                                           builder_.gather_kv("keys and values"));
        const OpIndex attention = builder_.compute("attention", attention_forward(shard_));
        alive_.attended =
            builder_.hold(MemoryClass::buffers, bytes(shard_, shard_.query_width()), attention);
        builder_.set_pass(Pass::backward);
    }

private:
    void transient(double size, OpIndex from, OpIndex to) {
        builder_.hold_between(MemoryClass::buffers, size, from, to);
    }

    /// The complete rows of a block's input: those alive, or gathered (normed) once more.
    BufferId complete_rows(BufferId gathered, BufferId normed, std::string_view what) {
        const bool normed_is_complete = builder_.plan().tensor == 1 && normed != kNoBuffer;
        if (gathered != kNoBuffer || normed_is_complete) {
            return gathered;
        }
        return builder_.hold(MemoryClass::buffers, builder_.full_rows(),
                             builder_.gather_rows(what));
    }

    StepBuilder& builder_;
    const Shard& shard_;
    LayerBuffers alive_;
};

/// The block's whole forward pass again; what the backward pass needs stays.
LayerBuffers recompute_block(StepBuilder& builder, BufferId input) {
    builder.set_pass(Pass::recompute);
    LayerBuffers alive = hold_forward(builder, kRecomputed, issue_forward(builder));
    alive.input = input;
    builder.set_pass(Pass::backward);
    return alive;
}

}  // namespace

LayerBuffers layer_forward(StepBuilder& builder) {
    const BufferId input =
        builder.hold(MemoryClass::activations, builder.local_rows(), builder.last());
    LayerBuffers held =
        hold_forward(builder, saved_by(builder.plan().remat), issue_forward(builder));
    held.input = input;
    return held;
}

void layer_backward(StepBuilder& builder, LayerBuffers saved, double parameters) {
    const OpIndex start = builder.last();
    const Remat remat = builder.plan().remat;
    if (remat == Remat::block) {
        saved = recompute_block(builder, saved.input);
    }
    Backward backward(builder, saved);
    const BufferId unreduced = backward.mlp_block(parameters);
    if (remat == Remat::matmuls) {
        backward.recompute_attention();
    }
    backward.attention_block();
    // The gradient of the residual stream, this chip's rows.
    builder.hold_between(MemoryClass::buffers, builder.local_rows(), start, builder.last());
    builder.reduce_gradients(parameters, unreduced);
}

}  // namespace podsim::workloads
