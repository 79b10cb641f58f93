#include "workloads/program/op_names.h"

namespace podsim::workloads {

void OpNames::begin_names() {
    beginning_ = beginning(under_way_.name, under_way_.pass, microbatch_);
}

std::string OpNames::beginning(std::string_view part, Pass pass, int microbatch) const {
    if (pass == Pass::optimizer) {
        return std::string(part);
    }
    std::string name = words(part, to_string(pass));
    return several_microbatches_ ? "microbatch " + std::to_string(microbatch) + ' ' + name : name;
}

OpLabel OpNames::label(std::string_view part, Pass pass, int layer, int microbatch,
                       std::string_view what) const {
    return {words(beginning(part, pass, microbatch), what), pass, layer};
}

}  // namespace podsim::workloads
