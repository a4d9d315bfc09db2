#include "io/run_format/hit_notes_table.hpp"

#include "io/hdf5/attributes.hpp"

namespace eventloom {

namespace {

constexpr const char* kPayloadNameList = "payload_names";
constexpr const char* kTypes = "payload_types";
constexpr const char* kValues = "with_values";
constexpr const char* kTimeUnitName = "value_unit";

}  // namespace

void write_payload_notes(hid_t object, const HitNotes& notes) {
  if (notes.payload_names.empty()) return;
  write_attribute(object, kPayloadNameList, notes.payload_names);
  write_attribute(object, kTypes, notes.payload_types);
}

void write_hit_notes(hid_t root, const HitNotes& notes) {
  write_payload_notes(root, notes);
  if (!notes.with_values) return;
  write_attribute(root, kValues, std::uint64_t{1});
  if (!notes.value_unit.empty()) write_attribute(root, kTimeUnitName, notes.value_unit);
}

HitNotes read_hit_notes(hid_t root) {
  HitNotes notes;
  if (has_attribute(root, kPayloadNameList)) notes.payload_names = read_texts(root, kPayloadNameList);
  if (has_attribute(root, kTypes)) notes.payload_types = read_texts(root, kTypes);
  notes.with_values = has_attribute(root, kValues) && read_number(root, kValues) != 0;
  if (has_attribute(root, kTimeUnitName)) notes.value_unit = read_text(root, kTimeUnitName);
  return notes;
}

}  // namespace eventloom
