#pragma once

#include <cstddef>
#include <vector>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Appends `loss` to those of `block`. When there are many, it is added to an earlier one of its cause before the
/// same hit, if there is one: memory does not grow with the damage.
void add_loss(HitBlock& block, const Loss& loss);

/// The hits from `first_hit` on, an event that was kept until now, must go after all: takes them out of the block
/// and puts `loss` where they were, in front of the losses from number `at` on. When there are very many losses
/// their order no longer matters.
void take_back_hits(HitBlock& block, std::size_t first_hit, std::size_t at, Loss loss);

/// Takes the hits out of the block of which `goes` is true, one element per hit, and puts losses in their place.
void leave_out_hits(HitBlock& block, const std::vector<bool>& goes, DropCause cause);

}  // namespace eventloom
