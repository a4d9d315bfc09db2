#pragma once

#include <cstdint>

namespace eventloom {

/// Makes the disk begin with a large file while it is still being written: the kernel would wait for tens of seconds,
/// or for the end, when everything has to go to the disk at once. A hint that waits for nothing and reports no errors:
/// those of the disk come with fsync.
class EarlyWriteback {
 public:
  /// The file behind `descriptor` has been written up to `end`, bytes.
  void written(int descriptor, std::uint64_t end);

 private:
  std::uint64_t begun_ = 0;  ///< the disk was asked for the bytes before it
};

}  // namespace eventloom
