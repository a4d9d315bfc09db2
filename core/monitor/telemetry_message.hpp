#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/monitor/rank_record.hpp"

/// A rank's record as messages, see formats/telemetry_wire.hpp.
namespace eventloom {

/// What `now` has beyond `told`, the record as of the last message; and its new events and hits.
std::vector<std::byte> encode_telemetry(const RankRecord& now, const RankRecord& told);

/// Brings `record` up to date, of which all earlier messages of the rank were applied; its events and the hits of
/// channels are those of the message. Throws std::runtime_error, and leaves `record` as it was, when the bytes are no
/// such message.
void apply_telemetry(std::span<const std::byte> message, RankRecord& record);

}  // namespace eventloom
