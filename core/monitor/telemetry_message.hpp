#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/monitor/rank_record.hpp"

/// A rank's record as messages, see formats/telemetry_wire.hpp.
namespace eventloom {

/// Encodes the changes of `now` since `reported`, the record as of the last message, and its new events and hits.
std::vector<std::byte> encode_telemetry(const RankRecord& now, const RankRecord& reported);

/// Brings `record` up to date; all earlier messages of the rank must have been applied to it. Its events and channel
/// hits become those of the message. Throws std::runtime_error, and leaves `record` unchanged, if the message is
/// invalid.
void apply_telemetry(std::span<const std::byte> message, RankRecord& record);

}  // namespace eventloom
