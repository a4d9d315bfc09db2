#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/event_sink.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "core/detector/value_table.hpp"
#include "formats/geometry.hpp"
#include "io/event_files/companions.hpp"
#include "io/hdf5/column_spec.hpp"
#include "io/run_format/hit_notes.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/part_list.hpp"

namespace eventloom {

class OutputFile;

struct PartWriterSettings {
  std::filesystem::path run_file;  ///< run.h5; the parts are in the same folder
  std::uint32_t writer = 0;
  std::uint32_t first_segment = 0;
  std::optional<std::uint64_t> run_number = {};  ///< see RunRecord
  TimeBase base = {};
  std::size_t n_sources =
      1;  ///< number of sources of the run; determines whether the list of missing sources is written
  bool with_payload = false;
  HitNotes hits = {};
  std::shared_ptr<const ValueTable> values = {};        ///< not null if the hits have values
  bool numbered = false;                                ///< times are event numbers
  std::shared_ptr<const HistogramSet> histograms = {};  ///< null: none
  bool sums_histograms = false;                         ///< add_cells() will be called
  unsigned compress = 0;                                ///< deflate level 1 to 9, with shuffle; 0 = off
  /// A part ends with the slice in which its data, before compression, reach this size, or with the first slice after
  /// it is older than `segment_time`. It ends before a slice that does not fit in a file beside it.
  std::uint64_t segment_bytes = std::uint64_t{1} << 30;
  std::chrono::nanoseconds segment_time = std::chrono::hours(1);
  std::filesystem::path scratch = {};      ///< folder for parts being written; empty: in place
  std::filesystem::path next = {};         ///< folder for parts when the disk is full, see OutputFile; empty: none
  std::optional<PartListPlace> list = {};  ///< std::nullopt: keep no list of finished parts
  CompanionSettings companions = {};
  std::size_t chunk_bytes = kDefaultChunkBytes;
};

/// Writes the events of one writer to part files, and to list-mode files beside them, which end with the part. When the
/// disk is full, the part being written and all later ones go to the next folder, if there is one: see OutputFile. All
/// get their final names when they are complete, on disk, and in the list. Destroying the writer without close()
/// removes unfinished files.
///
/// After an exception, only finished(), add_cells() and the destructor may be called. At the end of a part, a separate
/// thread without HDF5 calls waits for the disk.
class PartWriter final : public EventSink {
 public:
  /// Creates the first part, so that an unwritable folder is reported at once (UserError).
  explicit PartWriter(PartWriterSettings settings);
  ~PartWriter() override;

  void write(const BuiltSlice& slice) override;

  /// Ends the current part if it has any slice; the next slice begins another.
  void end_part();
  /// Ends the last part and waits for the disk. A writer without slices leaves one part without rows. Returns all
  /// parts of this writer. Call once. Throws UserError when the disk fails.
  std::vector<PartInfo> close();
  /// Returns the finished parts of this writer. Call after close() or an exception. Waits for the disk.
  const std::vector<FinishedPart>& finished();
  /// Adds the counts of all parts to `cells`: the cells of a histogram from `begin` on, counted within the histogram.
  /// They never decrease.
  void add_cells(std::size_t histogram, std::size_t begin, std::span<std::uint64_t> cells) const;

 private:
  struct Segment;
  void open_segment();
  void append(const BuiltSlice& slice);
  void end_segment();
  void sum_cells();
  void note_move(const OutputFile& file);

  void wait_for_disk();

  PartWriterSettings settings_;
  std::optional<PartList> list_;
  Companions companions_;
  std::vector<FinishedPart> finished_;
  std::uint32_t next_segment_;
  std::unique_ptr<Segment> segment_;
  std::vector<std::uint64_t> ended_cells_;  ///< counts of the parts that have ended; empty: none
  std::unique_ptr<OutputFile> published_;   ///< the file of `publishing_`
  std::future<FinishedPart> publishing_;
  bool moved_ = false;  ///< parts go to the next folder
  bool failed_ = false;
};

}  // namespace eventloom
