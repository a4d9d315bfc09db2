#pragma once

#include <cstddef>
#include <vector>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Appends `loss` to those of `block`. When there are many, it is added to an earlier one of the same cause before the
/// same hit, if there is one: memory does not grow with the damage.
void add_loss(HitBlock& block, const Loss& loss);

/// Removes the hits from `first_hit` on, an event that was kept until now, and puts `loss` in their place, before the
/// losses from number `at` on. When there are very many losses their order no longer matters.
void take_back_hits(HitBlock& block, std::size_t first_hit, std::size_t at, Loss loss);

/// Removes the hits for which `goes` is true, one element per hit, and puts losses in their place.
void leave_out_hits(HitBlock& block, const std::vector<bool>& goes, DropCause cause);

}  // namespace eventloom
