#pragma once

#include <string>

#include "core/control/collective.hpp"

/// Checks that all ranks have the same input: mpirun, srun or a user's script may hand different options to each.
namespace eventloom {

/// The difference between `first` and `other`, texts of "name = value" lines; empty when there is none. `rank`: of the
/// other. "--define is 'gap:25ns,4' on rank 0 and 'gap:50ns,4' on rank 1".
std::string setup_difference(const std::string& first, const std::string& other, int rank);

/// A line like those of a setup that identifies the program: its version and a checksum.
std::string program_line();

/// Collective. Throws the same UserError on all ranks when `setup` is not the same on all.
void require_same_setup(const Collective& ranks, const std::string& setup);

/// Collective. `refusal`: why this rank cannot take part, empty when it can; `excerpt`: see TextError. When any cannot,
/// all throw TextError.
void share_refusal(const Collective& ranks, const std::string& refusal, const std::string& excerpt = {});

}  // namespace eventloom
