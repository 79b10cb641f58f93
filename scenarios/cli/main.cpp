#include <iostream>
#include <string>
#include <vector>

#include "scenarios/cli/cli.h"
#include "scenarios/console/stop_request.h"

int main(int argc, char** argv) {
    const podsim::scenarios::StopSignals signals;
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    return podsim::scenarios::run_command(args, std::cout, std::cerr);
}
