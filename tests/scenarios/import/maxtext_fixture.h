// Imports MaxText's file of 2025 with keys of a command line.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {

class MaxText : public CommandTest {
protected:
    /// Runs `import maxtext` of the file of 2025 with these keys.
    Outcome import(std::vector<std::string> keys, const std::string& topology = "v6e-256") {
        std::vector<std::string> args{
            "import", "maxtext", source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml"};
        if (!topology.empty()) {
            keys.push_back("compile_topology=" + topology);
        }
        args.insert(args.end(), keys.begin(), keys.end());
        return podsim(args);
    }

    void refused(const std::vector<std::string>& keys, const std::string& message,
                 const std::string& topology = "v6e-256") {
        const Outcome outcome = import(keys, topology);
        EXPECT_EQ(outcome.status, 2) << message;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, message + "\n");
    }

    /// Returns the scenario's line with that beginning.
    std::string line(const std::vector<std::string>& keys, const std::string& begin,
                     const std::string& topology = "v6e-256") {
        const Outcome outcome = import(keys, topology);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const std::size_t at = outcome.out.find("\n" + begin);
        return at == std::string::npos
                   ? ""
                   : outcome.out.substr(at + 1, outcome.out.find('\n', at + 1) - at - 1);
    }
};

}  // namespace podsim::scenarios
