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

/// Header and words as the format wants them, sealed.
StoredBuffer store(EpochBufferHeader header, const std::vector<std::uint32_t>& words);

/// Encodes hits (epochs rising, times inside an epoch in any order) with `epochs_per_buffer()`
/// epochs a buffer; epochs without hits are left out.
Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks,
                   const std::function<std::uint32_t()>& epochs_per_buffer);
/// The same with as many epochs in each buffer.
Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks, std::uint32_t epochs_per_buffer);

/// A run of several streams, cut in slices and built one after the other.
struct TestRun {
  TimeBase base{1000, 100};
  EventDefinitionPtr definition;
  Tick overlap = 100;
  std::vector<PayloadTable> payload;
  bool with_payload = false;
  std::vector<Stream> streams;
  std::vector<std::vector<Damage>> damage;  ///< by source, may be empty

  [[nodiscard]] SliceGeometry geometry(std::uint64_t epochs_per_slice) const;
  /// Builds slices first to last, each from the buffers that overlap its sent epochs.
  std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice, SliceId first, SliceId last,
                                std::vector<BuildProblem>& problems) const;
  /// All slices that have data, and one more on either side.
  std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice, std::vector<BuildProblem>& problems) const;
};

/// Checks that the owned events of `slices` are `expected`, hit by hit, that every slice's ledger row
/// balances and counts what it should, and that foreign events are whole.
/// `hits`: all hits that were not dropped.
void expect_events(const std::vector<BuiltSlice>& slices, const std::vector<RefEvent>& expected,
                   const std::vector<std::vector<RefHit>>& hits, const SliceGeometry& geometry, bool with_payload);

}  // namespace eventloom::test
