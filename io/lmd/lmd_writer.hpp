#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "io/lmd/lmd_event.hpp"

/// Encodes LMD as DABC does: a little-endian 101/1 file of events, without buffers or an index.
namespace eventloom {

/// Appends an event. Its subevents must fill it: see set_lmd_length().
void append_lmd_event(const LmdEvent& event, std::vector<std::byte>& to);
/// Sets the event's length from the sizes of its subevents.
void set_lmd_length(LmdEvent& event);

/// Appends a file header that states an unknown length and marks the file as written by Eventloom.
void append_lmd_header(std::vector<std::byte>& to);
/// Whether Eventloom wrote the file, completely or partly.
bool is_written_lmd(const std::filesystem::path& file);

}  // namespace eventloom
