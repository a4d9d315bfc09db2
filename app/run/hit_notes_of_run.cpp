#include "app/run/hit_notes_of_run.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/stream_file.hpp"

namespace eventloom {

namespace {

std::vector<std::string> payload_types(const SourceInfo& source) {
  std::vector<std::string> types;
  for (std::size_t i = 0; i < source.payload_names.size(); ++i)
    types.emplace_back(name_of(payload_kind(source.flags, i)));
  return types;
}

/// Names and types of the payload columns, if all sources with payload have the same.
void set_payload_notes(const RunSetup& setup, HitNotes& notes) {
  const SourceInfo* first = nullptr;
  for (const auto& source : setup.sources) {
    if (!source.payload.any()) continue;
    if (first == nullptr) first = &source;
    const bool same = source.payload_names == first->payload_names && payload_types(source) == payload_types(*first);
    if (!same) return;
  }
  if (first == nullptr) return;
  notes.payload_names = first->payload_names;
  notes.payload_types = payload_types(*first);
}

}  // namespace

std::string payload_text(const SourceInfo& source) {
  const auto types = payload_types(source);
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += (text.empty() ? "" : ", ") + source.payload_names[i] + " " + types[i];
  return text;
}

HitNotes hit_notes(const RunSetup& setup, bool with_payload) {
  HitNotes notes;
  if (with_payload) set_payload_notes(setup, notes);
  notes.with_values = setup.with_payload && setup.run.detector->calibrates();
  if (notes.with_values) notes.value_unit = setup.run.detector->unit();
  return notes;
}

EventBatchFormat event_batch_format(const RunSetup& setup) {
  EventBatchFormat format;
  format.tick_ps = setup.numbered ? 0 : setup.run.geometry.base.tick_ps;
  format.n_sources = static_cast<std::uint32_t>(setup.sources.size());
  format.with_payload = setup.with_payload;
  if (hit_notes(setup, setup.with_payload).with_values) {
    format.value_of = [values = value_table(setup)](std::uint16_t source, std::uint32_t channel,
                                                    std::span<const std::uint32_t> payload) {
      return (*values)(source, channel, payload);
    };
  }
  return format;
}

std::vector<PayloadKind> first_payload_kinds(const RunSetup& setup) {
  std::vector<std::uint32_t> flags;
  for (const auto& source : setup.sources) flags.push_back(source.flags);
  return first_payload_kinds(flags);
}

std::shared_ptr<const ValueTable> value_table(const RunSetup& setup) {
  return std::make_shared<const ValueTable>(*setup.run.detector, first_payload_kinds(setup));
}

}  // namespace eventloom
