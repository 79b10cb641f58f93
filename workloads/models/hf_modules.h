// The matrices of a model as the linear modules of transformers, under the names by which
// quantisations leave modules alone.
//
// Fused modules (gate and up, queries, keys and values) are listed one by one, as most families
// have them. Routers are not listed: no method converts them in the files that were examined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace re2 {
class RE2;
}

namespace podsim::workloads {

/// Equal matrices of K rows and N columns: a linear module of N x K.
struct HfModule {
    enum class Part { dense, experts, head };
    Part part = Part::dense;
    /// `layers.0.mlp.experts.0.gate_proj` and the names of other families.
    std::vector<std::string> names;
    double inputs = 0;   ///< K
    double outputs = 0;  ///< N
    double count = 1;
};

/// Returns the modules of all layers, in order; the experts of a layer as one module of `count`;
/// the unembedding last, unless it is the embedding.
std::vector<HfModule> hf_modules(const ModelSpec& model);

/// Matches the names of modules. `re:` begins a regular expression, which must match the name's
/// beginning (compressed-tensors). Other patterns are names, or the ends, beginnings or middle
/// segments of them between dots, with `*` for anything (transformers, modelopt, quark). The syntax
/// is RE2's, without lookahead or lookbehind, so that every match takes time linear in the name.
/// Throws std::invalid_argument for a text that is no pattern of at most 400 letters.
class HfPattern {
public:
    explicit HfPattern(const std::string& text);
    [[nodiscard]] bool names(const HfModule& module) const;

private:
    bool from_start_ = false;
    std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace podsim::workloads
