#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"

/// Files beside run.h5 that record the positions of a run's live sources, by the sources' own counts or numbers, for
/// --resume to compare. There is one file per source that has either; it is rewritten whenever the sender restarts.
///
/// Text of two lines: "eventloom-live-place 1", then
///   <CRC-32C of the JSON, 8 hex digits> {"session":<number>,"base":<number>[,"first":<number>][,"unknown":true]
///   [,"next":<number>,"end":<epoch>]}
/// or of the first line alone: a run listens, and has not heard this source.
namespace eventloom {

/// `<stem of run_file>.live-<source, 4 digits>.place`
std::string live_place_name(const std::filesystem::path& run_file, std::uint32_t source);
/// True when a file begins like such a file, or is empty.
bool is_live_place(const std::filesystem::path& file);

/// Replaces the file atomically, as does write_live_place(). Throws UserError.
void mark_unheard(const std::filesystem::path& file);
bool is_unheard(const std::filesystem::path& file);
void write_live_place(const std::filesystem::path& file, const PeerPlace& place);
/// Returns std::nullopt when the source was not heard, or the file is missing or damaged; damage is reported.
std::optional<PeerPlace> read_live_place(const std::filesystem::path& file);

}  // namespace eventloom
