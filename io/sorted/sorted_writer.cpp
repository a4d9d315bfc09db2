#include "io/sorted/sorted_writer.hpp"

#include <utility>

#include "formats/sorted_hit.hpp"
#include "io/epochs/epochs_source.hpp"

namespace eventloom {

namespace {

StreamHeader header_of(std::uint32_t builder, const TimeBase& base, std::string text) {
  return {builder, base, sorted_payload_table(), std::move(text), kSorted};
}

}  // namespace

SortedWriter::SortedWriter(const std::filesystem::path& folder, std::uint32_t builder, const TimeBase& base,
                           std::string text)
    : path_((folder / sorted_file_name(builder)).string()),
      base_(base),
      writer_(path_, header_of(builder, base, std::move(text))) {
  file_.builder = builder;
}

void SortedWriter::write(const SortedSlice& slice) {
  writer_.append(slice.buffers);
  for (const auto& item : slice.damage) damage_.push_back(item.damage);
}

SortedFile SortedWriter::finish() {
  const auto summary = writer_.finish();
  file_.bytes = summary.bytes;
  file_.hits = summary.hits;
  file_.crc32c = EpochsSource(path_).input().crc32c;
  file_.end_epoch = summary.hits == 0 ? 0 : epoch_of(summary.last_tick, base_.epoch_ticks) + 1;
  return file_;
}

}  // namespace eventloom
