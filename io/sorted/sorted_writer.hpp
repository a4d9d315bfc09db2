#pragma once

#include <filesystem>
#include <vector>

#include "core/dataflow/sorted_slice.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// Writes the time-sorted hits of one builder's slices to a stream file.
class SortedWriter {
 public:
  /// `text`: text of the stream's header. Throws UserError when the file cannot be created.
  SortedWriter(const std::filesystem::path& folder, std::uint32_t builder, const TimeBase& base, std::string text);

  /// Call with slices in ascending order. Throws UserError when the file cannot be written.
  void write(const SortedSlice& slice);
  /// Gives the file its final name before returning.
  SortedFile finish();
  [[nodiscard]] const std::vector<Damage>& damage() const { return damage_; }

 private:
  std::string path_;
  SortedFile file_;
  TimeBase base_;
  StreamWriter writer_;
  std::vector<Damage> damage_;
};

}  // namespace eventloom
