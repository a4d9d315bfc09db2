#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/run/run_setup.hpp"
#include "core/detector/value_table.hpp"
#include "formats/event_batch.hpp"
#include "io/run_format/hit_notes.hpp"

namespace eventloom {

/// Names and types of the payload columns of a source: "energy f64, flags u32"; empty if unknown.
std::string payload_text(const SourceInfo& source);

/// Describes the payload and the values of hits in the output of a run. `with_payload`: the output has payload.
HitNotes hit_notes(const RunSetup& setup, bool with_payload);

/// The contents of batches of events of a run.
EventBatchFormat event_batch_format(const RunSetup& setup);

/// Kinds of the first payload column, indexed by source.
std::vector<PayloadKind> first_payload_kinds(const RunSetup& setup);

/// The values of the hits of a run.
std::shared_ptr<const ValueTable> value_table(const RunSetup& setup);

}  // namespace eventloom
