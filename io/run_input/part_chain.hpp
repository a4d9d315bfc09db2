#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "io/run_format/part_info.hpp"

namespace eventloom {

/// Reads parts with consecutive slices one after another; one is open at a time. `Reader::done()` is true when a part
/// has no more events.
template <class Reader>
class PartChain {
 public:
  using Open = std::function<std::unique_ptr<Reader>(const PartInfo&)>;
  PartChain(std::vector<PartInfo> parts, Open open) : parts_(std::move(parts)), open_(std::move(open)) {}

  /// The part with the next event; null at the end.
  Reader* part() {
    while (!reader_ || reader_->done()) {
      reader_.reset();
      if (at_ == parts_.size()) return nullptr;
      reader_ = open_(parts_[at_++]);
    }
    return reader_.get();
  }

 private:
  std::vector<PartInfo> parts_;
  Open open_;
  std::size_t at_ = 0;
  std::unique_ptr<Reader> reader_;
};

}  // namespace eventloom
