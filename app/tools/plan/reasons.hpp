#pragma once

#include <string>
#include <vector>

#include "app/tools/plan/layout.hpp"

namespace eventloom {

/// The reason for one choice of a plan, with the rule and its origin.
struct Reason {
  std::string choice;
  std::string why;
};
std::vector<Reason> reasons(const Plan& plan);

/// Example: "512 B", "8.0 MiB" or "1.5 GiB".
std::string in_bytes(double bytes);

}  // namespace eventloom
