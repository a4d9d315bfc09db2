#pragma once

#include <cstddef>

#include "io/sources/hit_reader.hpp"

namespace eventloom {

/// Appends `loss` to those of `block`. When there are many, it is added to an earlier one of its cause before the
/// same hit, if there is one: memory does not grow with the damage.
void add_loss(HitBlock& block, const Loss& loss);

/// Keeps the first `hits` hits; what was lost behind them lies before the hit that comes next.
void take_back_hits(HitBlock& block, std::size_t hits);

}  // namespace eventloom
