#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "io/lmd/lmd_event.hpp"

/// LMD in bytes, as DABC writes it: little-endian, a 101/1 file of events without buffers and index.
namespace eventloom {

/// Appends an event. Its subevents must fill it: see set_lmd_length().
void append_lmd_event(const LmdEvent& event, std::vector<std::byte>& to);
/// Sets the event's length from those of its subevents.
void set_lmd_length(LmdEvent& event);

/// Appends the header of a file. Its length is unknown, and it says that Eventloom wrote the file.
void append_lmd_header(std::vector<std::byte>& to);
/// Whether Eventloom wrote the file, wholly or in part.
bool is_written_lmd(const std::filesystem::path& file);

}  // namespace eventloom
