// The commands that help to write scenarios, and what options they have.
#pragma once

#include <iosfwd>

#include "scenarios/console/usage.h"

namespace podsim::scenarios {

Usage show_usage();
int command_show(Arguments args, std::ostream& out, std::ostream& err);

Usage check_usage();
int command_check(Arguments args, std::ostream& out, std::ostream& err);

Usage init_usage();
int command_init(Arguments args, std::ostream& out, std::ostream& err);

Usage estimate_usage();
int command_estimate(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
