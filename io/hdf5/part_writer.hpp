#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "core/dataflow/event_sink.hpp"
#include "formats/geometry.hpp"
#include "io/hdf5/layout.hpp"

namespace eventloom {

struct PartWriterSettings {
  std::filesystem::path run_file;  ///< run.h5; the parts stand beside it
  std::uint32_t writer = 0;
  std::uint32_t first_segment = 0;
  TimeBase base = {};
  std::size_t n_sources = 1;  ///< of the run; decides whether the list of missing sources is written
  bool with_payload = false;
  unsigned compress = 0;  ///< deflate level 1 to 9, with shuffle; 0 = off
  /// A part ends with the slice in which its data, before compression, reach this size.
  std::uint64_t segment_bytes = std::uint64_t{1} << 30;
  std::size_t chunk_bytes = kDefaultChunkBytes;
};

/// A part file as run.h5 lists it.
struct PartInfo {
  std::string name;  ///< without folder
  std::uint32_t writer = 0;
  std::uint32_t segment = 0;
  std::uint64_t first_slice = 0;  ///< meaningless when `slices` is 0
  std::uint64_t last_slice = 0;
  std::uint64_t slices = 0;
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;  ///< of the file
};

/// `<stem of run_file>.part-<writer, 4 digits>-<segment, 4 digits>.h5`
std::string part_name(const std::filesystem::path& run_file, std::uint32_t writer, std::uint32_t segment);

/// Writes the events of one writer to part files. A part gets its final name when it is whole and
/// on disk; the one being written is removed when the writer is destroyed without close().
///
/// After an exception it can only be destroyed. The wait for the disk at the end of a part happens on a thread of its
/// own that makes no HDF5 calls.
class PartWriter final : public EventSink {
 public:
  /// Creates the first part, so that a folder that cannot be written shows at once (UserError).
  explicit PartWriter(PartWriterSettings settings);
  ~PartWriter() override;

  void write(const BuiltSlice& slice) override;

  /// Ends the last part and waits for the disk. A writer without slices leaves one part without
  /// rows. Call once; throws UserError when the disk does not take it.
  std::vector<PartInfo> close();

 private:
  struct Segment;
  void open_segment();
  void append(const BuiltSlice& slice);
  void end_segment();

  PartWriterSettings settings_;
  std::vector<PartInfo> parts_;
  std::uint32_t next_segment_;
  std::unique_ptr<Segment> segment_;
  std::future<void> publishing_;
  bool failed_ = false;
};

}  // namespace eventloom
