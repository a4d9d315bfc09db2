#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/hld.hpp"

/// Encodes HLD as DABC does: event headers are little-endian, and each subevent has its own byte order.
namespace eventloom {

/// Sets the date and time of an event, in UTC.
void set_hld_time(HldEventHeader& event, std::chrono::sys_seconds time);

/// Appends the header of an event without subevents. Returns its position in `to`.
std::size_t begin_hld_event(const HldEventHeader& event, std::vector<std::byte>& to);
/// Appends a subevent to that event. `data` holds its words in native order; with the header they have header.size
/// bytes. They are written in the header's byte order, and padded.
void append_hld_subevent(const HldSubeventHeader& header, std::span<const std::byte> data, std::vector<std::byte>& to);
/// Ends the event that begins at `begin`: sets its size.
void end_hld_event(std::size_t begin, std::vector<std::byte>& to);

/// Appends the event that opens or closes a file; the opening event marks the file as written by Eventloom. `event`
/// supplies run number, date and time.
void append_hld_begin(HldEventHeader event, std::vector<std::byte>& to);
void append_hld_end(HldEventHeader event, std::vector<std::byte>& to);
inline constexpr std::size_t kHldEndBytes = kHldEventHeaderBytes;
/// Whether Eventloom wrote the file, completely or partly.
bool is_written_hld(const std::filesystem::path& file);

}  // namespace eventloom
