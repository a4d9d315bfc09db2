#pragma once

#include <string>

#include "core/control/collective.hpp"

/// Checks that all ranks have the same input: mpirun, srun or a user's script may pass different options to each.
namespace eventloom {

/// Returns the difference between `first` and `other`, texts of "name = value" lines; empty if there is none. `rank`:
/// rank of `other`. Example: "--define is 'gap:25ns,4' on rank 0 and 'gap:50ns,4' on rank 1".
std::string setup_difference(const std::string& first, const std::string& other, int rank);

/// Returns a setup line that identifies the program by its version and a checksum.
std::string program_line();

/// Collective. Throws the same UserError on all ranks unless `setup` is the same on all.
void require_same_setup(const Collective& ranks, const std::string& setup);

/// Collective. `refusal`: why this rank cannot take part; empty if it can. `excerpt`: see TextError. If any rank cannot
/// take part, all throw TextError.
void share_refusal(const Collective& ranks, const std::string& refusal, const std::string& excerpt = {});

}  // namespace eventloom
