#include "io/lmd/lmd_file.hpp"

#include <utility>

#include "io/lmd/lmd_classic.hpp"
#include "io/lmd/lmd_flat.hpp"

namespace eventloom {

bool LmdFile::can_open(const std::string& path) {
  FileReader file(path);
  return file.size() >= kLmdHeaderBytes && file.size() >= read_lmd_header(file).bytes + kLmdHeaderBytes;
}

LmdFile::LmdFile(const std::string& path, Followed followed)
    : file_(path, std::move(followed)), size_(file_.size()), header_(read_lmd_header(file_)) {
  if (header_.classic) {
    container_ = std::make_unique<ClassicLmd>(file_, header_.buffer_bytes, header_.swapped, notes_);
  } else {
    container_ = std::make_unique<FlatLmd>(file_, header_.flat, header_.swapped, notes_);
  }
}

bool LmdFile::next(LmdEvent& event) {
  notes_.problems.clear();
  if (container_ == nullptr) return false;
  if (!container_->next(event)) {
    if (!container_->pauses()) end();
    return false;
  }
  count(event, notes_.counters);
  return true;
}

void LmdFile::end() {
  container_.reset();
  if (header_.bytes > size_) {
    notes_.add({.offset = size_,
                .effect = LmdEffect::breaks_off,
                .hits = 0,
                .text = "the file ends in its header of " + std::to_string(header_.bytes) + " bytes"});
  }
  if (!file_.failure().empty()) {
    notes_.add({.offset = file_.size(),
                .effect = LmdEffect::breaks_off,
                .hits = 0,
                .text = "reading ended before the end of the file: " + file_.failure()});
  }
  if (file_.has_grown()) {
    notes_.add({.offset = size_,
                .effect = LmdEffect::none,
                .hits = 0,
                .text = "the file has grown since it was opened; the data appended since were not read"});
  }
}

}  // namespace eventloom
