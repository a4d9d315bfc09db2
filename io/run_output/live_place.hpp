#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"

/// Files beside run.h5 that keep, while a run goes on, where its live sources stand by their own counts: what --resume
/// compares with. One for each source that counts, written anew whenever its sender begins anew.
///
/// Text of two lines: "eventloom-live-place 1", then
///   <CRC-32C of the JSON, 8 hex digits> {"session":<number>,"base":<number>}
namespace eventloom {

/// `<stem of run_file>.live-<source, 4 digits>.place`
std::string live_place_name(const std::filesystem::path& run_file, std::uint32_t source);
/// Whether a file begins like one of them, or is empty.
bool is_live_place(const std::filesystem::path& file);

/// Replaces the file atomically. Throws UserError.
void write_live_place(const std::filesystem::path& file, const PeerPlace& place);
/// Nothing when there is no such file, or it is damaged, which is reported.
std::optional<PeerPlace> read_live_place(const std::filesystem::path& file);

}  // namespace eventloom
