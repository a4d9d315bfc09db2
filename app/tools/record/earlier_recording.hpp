#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/record/record_names.hpp"
#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// The files and the state that earlier recorders have left of a source.
struct EarlierRecording {
  std::vector<RecordedFile> files;     ///< complete, ordered by number
  std::uint64_t next_number = 0;       ///< number of the next file
  std::uint64_t left_out = 0;          ///< see RecordState
  std::optional<LivePast> past;        ///< see LiveBegin; std::nullopt: this is the first recorder
  std::optional<StreamHeader> header;  ///< header of the last file; std::nullopt: none, or it is damaged
};

/// Takes up the files of a source. Completes a file that a dead recorder left unfinished: cuts off and reports an
/// incomplete epoch buffer at its end, then appends the index. Leaves a file alone that is damaged before its end.
/// Throws UserError if the folder has recordings of another URI, or a file cannot be read or completed.
EarlierRecording take_up(const RecordNames& names, std::uint32_t source, const std::string& uri);

}  // namespace eventloom
