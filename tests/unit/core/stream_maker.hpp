#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/dataflow/slice_builder.hpp"
#include "event_reference.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom::test {

/// One stored epoch buffer.
struct StoredBuffer {
  EpochBufferHeader header;
  std::vector<std::byte> bytes;
  std::vector<RefHit> hits;
};
using Stream = std::vector<StoredBuffer>;

/// Composes and seals a buffer of this header and these words.
StoredBuffer store(EpochBufferHeader header, const std::vector<std::uint32_t>& words);

/// Encodes hits (epochs ascending, times within an epoch in any order) with `epochs_per_buffer()` epochs per buffer;
/// omits epochs without hits.
Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks,
                   const std::function<std::uint32_t()>& epochs_per_buffer);
/// As above, with the same number of epochs in each buffer.
Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks, std::uint32_t epochs_per_buffer);

/// A run of several streams, cut into slices that are built one after another.
struct TestRun {
  TimeBase base{1000, 100};
  EventDefinitionPtr definition;
  Tick overlap = 100;
  std::vector<PayloadTable> payload;
  bool with_payload = false;
  std::vector<Stream> streams;
  std::vector<std::vector<Damage>> damage;  ///< by source; may be empty

  [[nodiscard]] SliceGeometry geometry(std::uint64_t epochs_per_slice) const;
  /// Builds slices first to last, each from the buffers that overlap the epochs sent for it.
  std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice, SliceId first, SliceId last,
                                std::vector<BuildProblem>& problems) const;
  /// Builds all slices with data, and one more on either side.
  std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice, std::vector<BuildProblem>& problems) const;
};

/// Checks that the owned events of `slices` are `expected`, hit by hit, that every slice's ledger row
/// balances and counts what it should, and that foreign events are whole.
/// `hits`: all hits that were not dropped.
void expect_events(const std::vector<BuiltSlice>& slices, const std::vector<RefEvent>& expected,
                   const std::vector<std::vector<RefHit>>& hits, const SliceGeometry& geometry, bool with_payload);

}  // namespace eventloom::test
