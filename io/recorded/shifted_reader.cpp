#include "io/recorded/shifted_reader.hpp"

#include <utility>

#include "core/runtime/log.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

bool ShiftedReader::read(HitBlock& block) {
  if (!reader_->read(block)) {
    report_untimed();
    return false;
  }
  for (auto& channel : block.channel) channel = shift_.channel(channel);
  if (shift_.offset() == 0) return true;
  std::uint64_t untimed = 0;
  out_.assign(block.size(), false);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto time = shift_.time(block.time[i]);
    out_[i] = !time.has_value();
    untimed += out_[i] ? 1 : 0;
    block.time[i] = time.value_or(0);
  }
  if (untimed != 0) leave_out_hits(block, out_, DropCause::untimed);
  untimed_ += untimed;
  return true;
}

void ShiftedReader::report_untimed() {
  const auto n = std::exchange(untimed_, 0);
  if (n == 0) return;
  log::error("{}: with its offset of {} ticks {} hits have no time from tick 0 on: they are dropped (untimed)", name(),
             shift_.offset(), n);
}

std::unique_ptr<HitReader> shifted(std::unique_ptr<HitReader> reader, const SourceUri& uri) {
  const StreamShift shift(uri, reader->header());
  if (!shift.any()) return reader;
  return std::make_unique<ShiftedReader>(std::move(reader), shift);
}

}  // namespace eventloom
