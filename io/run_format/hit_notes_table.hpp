#pragma once

#include "io/hdf5/handle.hpp"
#include "io/run_format/hit_notes.hpp"

namespace eventloom {

/// Writes the attributes payload_names and payload_types, if there are names.
void write_payload_notes(hid_t object, const HitNotes& notes);
/// Writes the same and those of the values.
void write_hit_notes(hid_t root, const HitNotes& notes);
/// Reads what write_hit_notes() has written; files of earlier versions have none of it.
HitNotes read_hit_notes(hid_t root);

}  // namespace eventloom
