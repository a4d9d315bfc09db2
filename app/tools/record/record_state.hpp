#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The state of a source beside its files, by which the next recorder determines what it missed. Written before a new
/// file begins, and whenever `place` or `left_out` changes.
struct RecordState {
  std::string uri;
  std::uint64_t number = 0;        ///< number of the newest file, which may not exist yet
  std::uint64_t hits_before = 0;   ///< hits in all files before that one, those known to be lost included
  Epoch end_before = 0;            ///< one past the last epoch of these files
  std::uint64_t left_out = 0;      ///< further hits that are known to be lost, but in no file
  std::optional<PeerPlace> place;  ///< see LiveBegin
  friend bool operator==(const RecordState&, const RecordState&) = default;
};

/// Replaces the file. Throws UserError.
void write_record_state(const std::filesystem::path& file, const RecordState& state);
/// std::nullopt if there is no file, or a damaged one, which is reported. Throws UserError if the file is not one of
/// Eventloom's.
std::optional<RecordState> read_record_state(const std::filesystem::path& file);

}  // namespace eventloom
