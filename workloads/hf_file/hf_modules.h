// The matrices of a model as the linear modules of transformers, under the names by which quantisations leave some of them alone.
//
// Fused ones (gate and up, queries, keys and values) are there one by one, as most families have them. Routers are not among them: no method
// converts them in files that were looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace re2 {
class RE2;
}

namespace podsim::workloads {

/// Alike matrices of K rows and N columns: a linear module of N x K.
struct HfModule {
    enum class Part { dense, experts, head };
    Part part = Part::dense;
    std::vector<std::string>
        names;           ///< `layers.0.mlp.experts.0.gate_proj` and what other families call it
    double inputs = 0;   ///< K
    double outputs = 0;  ///< N
    double count = 1;
};

/// Of all layers, in order; experts of a layer as one of `count`; the unembedding last, unless it is the embedding.
std::vector<HfModule> hf_modules(const ModelSpec& model);

/// Whether a pattern names a module. `re:` begins a regular expression, which must match the name's beginning (compressed-tensors); others are names, or the
/// ends, beginnings or middle parts of them between dots, with `*` for anything (transformers, modelopt, quark). The syntax is RE2's, without looking ahead or back, so that every match takes time
/// linear in the name. Throws std::invalid_argument for what is no pattern of at most 400 letters.
class HfPattern {
public:
    explicit HfPattern(const std::string& text);
    [[nodiscard]] bool names(const HfModule& module) const;

private:
    bool from_start_ = false;
    std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace podsim::workloads
