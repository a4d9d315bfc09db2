#pragma once

#include <string>

#include "core/control/collective.hpp"

/// All ranks were given the same to do: what mpirun, srun or a script of the user's hands to each may differ.
namespace eventloom {

/// In what `other` differs from `first`, texts of "name = value" lines; empty: in nothing. `rank`: of the other.
/// "--define is 'gap:25ns,4' on rank 0 and 'gap:50ns,4' on rank 1".
std::string setup_difference(const std::string& first, const std::string& other, int rank);

/// The program, in a line like those of a setup: version and a checksum of it.
std::string program_line();

/// Collective. Throws the same UserError on all ranks when `setup` is not the same on all.
void require_same_setup(const Collective& ranks, const std::string& setup);

/// Collective. `refusal`: why this rank cannot take part, empty when it can. When any cannot, all throw UserError.
void share_refusal(const Collective& ranks, const std::string& refusal);

}  // namespace eventloom
