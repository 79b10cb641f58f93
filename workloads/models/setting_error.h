// Bad input that is the fault of one setting.
#pragma once

#include <string>
#include <utility>

#include "sim/base/error.h"

namespace podsim::workloads {

/// An error that names its setting by the path in a scenario, `mesh.tensor`, `model.experts.count`:
/// the reader of the file knows the position of that path. The words of the message are for people
/// alone.
class SettingError : public sim::InputError {
public:
    SettingError(std::string setting, std::string problem, std::string remedy)
        : InputError(std::move(problem), std::move(remedy)), setting_(std::move(setting)) {}

    [[nodiscard]] const std::string& setting() const { return setting_; }

private:
    std::string setting_;
};

}  // namespace podsim::workloads
