#include "io/run_format/layout.hpp"

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"

namespace eventloom {

namespace {

constexpr const char* kMissingBits =
    "bit i is source i (see /sources); bit 63 stands for source 63 and all above; 0 when none is missing";

/// Column for a counter of the run, per slice.
ColumnSpec ledger_column(Metric metric, const std::string& remark = {}) {
  const auto& counter = info(metric);
  return {"/ledger/" + std::string(counter.name), ElementType::u64,
          "of the slice: " + std::string(counter.help) + remark};
}

std::vector<ColumnSpec> make_ledger_columns() {
  std::vector<ColumnSpec> columns = {
      {"/ledger/slice", ElementType::u64, "number of the slice"},
      ledger_column(Metric::hits_in, "; the sum of hits_in_events, hits_outside, hits_rejected and all hits_dropped_*"),
      ledger_column(Metric::hits_in_events),
      ledger_column(Metric::hits_outside),
      ledger_column(Metric::hits_rejected),
      {"/ledger/sources_missing", ElementType::u64, "sources that lack data in the slice", false, kMissingBits},
      {"/ledger/builder", ElementType::u32, "number of the builder that built the slice"},
  };
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    columns.push_back(ledger_column(dropped_hits(static_cast<DropCause>(i))));
  }
  return columns;
}

}  // namespace

const std::vector<ColumnSpec>& event_columns() {
  static const std::vector<ColumnSpec> columns = {
      {"/events/time", ElementType::u64, "time of the first hit, since the start of the run", true},
      {"/events/duration", ElementType::u64, "duration: time from the first hit to the last", true},
      {"/events/n_hits", ElementType::u32, "number of hits"},
      {"/events/slice", ElementType::u64, "slice in which the first hit lies"},
      {"/events/flags", ElementType::u32, "what is known to be wrong with the event; 0 when nothing is", false,
       "1 = truncated: longer than the overlap and cut there; "
       "2 = incomplete: data of a source is missing where the event lies; "
       "4 = tag_error: sources contradicted each other on the tag of the event"},
      {"/events/sources_missing", ElementType::u64, "sources that lack data where the event lies", false, kMissingBits},
  };
  return columns;
}

const std::vector<ColumnSpec>& hit_columns() {
  static const std::vector<ColumnSpec> columns = {
      {"/hits/time", ElementType::u64, "time since the start of the run", true},
      {"/hits/channel", ElementType::u32, "channel id", false,
       "bits 27..22 system, bits 21..16 subsystem, bits 15..0 channel"},
      {"/hits/source", ElementType::u16, "number of the source, see /sources"},
  };
  return columns;
}

const std::vector<ColumnSpec>& ledger_columns() {
  static const std::vector<ColumnSpec> columns = make_ledger_columns();
  return columns;
}

const ColumnSpec& first_hit_column() {
  static const ColumnSpec spec = {
      "/events/first_hit", ElementType::u64,
      "offsets, one more than there are events: event i has the hits first_hit[i] up to, not including, "
      "first_hit[i + 1] of /hits"};
  return spec;
}

const ColumnSpec& first_payload_column() {
  static const ColumnSpec spec = {
      "/hits/first_payload", ElementType::u64,
      "offsets, one more than there are hits: hit i has the words first_payload[i] up to, not including, "
      "first_payload[i + 1] of /payload"};
  return spec;
}

const ColumnSpec& payload_column() {
  static const ColumnSpec spec = {"/payload", ElementType::u32, "payload words of the hits"};
  return spec;
}

const ColumnSpec& value_column() {
  static const ColumnSpec spec = {"/hits/value", ElementType::f64,
                                  "gain x (first number of the payload) + zero, by the detector map; NaN: no payload"};
  return spec;
}

const ColumnSpec& missing_offsets_column() {
  static const ColumnSpec spec = {
      "/ledger/sources_missing_offsets", ElementType::u64,
      "slice i lacks the sources [i] up to [i + 1] of sources_missing_list, by these offsets"};
  return spec;
}

const ColumnSpec& missing_list_column() {
  static const ColumnSpec spec = {"/ledger/sources_missing_list", ElementType::u32,
                                  "numbers of the sources that lack data, slice by slice"};
  return spec;
}

const ColumnSpec& event_time_offset_column() {
  static const ColumnSpec spec = {"/entry/events/event_time_offset", ElementType::u32,
                                  "time of the hit since the first hit of its event", true};
  return spec;
}

const ColumnSpec& event_id_column() {
  static const ColumnSpec spec = {
      "/entry/events/event_id", ElementType::i64,
      "source x channels_per_source + channel: the quotient by channels_per_source is the row of the source in "
      "/sources, the remainder is the channel id"};
  return spec;
}

}  // namespace eventloom
