#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/hld.hpp"

/// HLD in bytes, as DABC writes it: headers of events little-endian, each subevent in a byte order of its own.
namespace eventloom {

/// Sets the date and the time of an event: UTC.
void set_hld_time(HldEventHeader& event, std::chrono::sys_seconds time);

/// Appends the header of an event without subevents. Returns where it begins.
std::size_t begin_hld_event(const HldEventHeader& event, std::vector<std::byte>& to);
/// Appends a subevent of that event. `data`: its words in native order, header.size bytes with the header; they are
/// written in the order that the header says, and padded.
void append_hld_subevent(const HldSubeventHeader& header, std::span<const std::byte> data, std::vector<std::byte>& to);
/// Sets the size of the event that begins at `begin`: it ends here.
void end_hld_event(std::size_t begin, std::vector<std::byte>& to);

/// Appends the event at the begin or the end of a file; the first says that Eventloom wrote the file. `event`: run
/// number, date and time.
void append_hld_begin(HldEventHeader event, std::vector<std::byte>& to);
void append_hld_end(HldEventHeader event, std::vector<std::byte>& to);
inline constexpr std::size_t kHldEndBytes = kHldEventHeaderBytes;
/// Whether Eventloom wrote the file, wholly or in part.
bool is_written_hld(const std::filesystem::path& file);

}  // namespace eventloom
