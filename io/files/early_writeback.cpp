#include "io/files/early_writeback.hpp"

#include <fcntl.h>

namespace eventloom {

namespace {

/// Large enough for every disk to be at its full rate.
constexpr std::uint64_t kWritebackStep = std::uint64_t{8} << 20;

}  // namespace

void EarlyWriteback::written(int descriptor, std::uint64_t end) {
  if (end < begun_ + kWritebackStep) return;
  ::sync_file_range(descriptor, static_cast<off_t>(begun_), static_cast<off_t>(end - begun_), SYNC_FILE_RANGE_WRITE);
  begun_ = end;
}

}  // namespace eventloom
