#include "io/serve/mbs_sender_recording.hpp"

#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

MbsRecording::MbsRecording(std::vector<PlayedFile> files, std::uint64_t repetitions)
    : files_(std::move(files)), repetitions_(repetitions) {
  if (files_.empty()) throw UserError("no file to serve");
  for (std::size_t i = files_.size(); i > 0; --i) {  // opens every file, so that errors are reported now
    open(i - 1);
    if (!player_->timed()) untimed_ = &files_[i - 1].uri;
  }
}

void MbsRecording::open(std::size_t number) {
  if (player_ != nullptr) damaged_ += player_->damaged_places();
  open_ = number;
  player_ = files_[number].open(files_[number].uri);
}

void MbsRecording::rewind() {
  repetition_ = 0;
  first_number_.reset();
  number_shift_ = 0;
  open(0);
}

bool MbsRecording::next() {
  while (true) {
    if (player_->next()) {
      number_event();
      return true;
    }
    if (!open_next()) return false;
  }
}

/// Opens the next file; returns false after the last.
bool MbsRecording::open_next() {
  if (open_ + 1 < files_.size()) {
    open(open_ + 1);
    return true;
  }
  // Files without events cannot be repeated.
  if (repetition_ + 1 >= repetitions_ || !first_number_) return false;
  ++repetition_;
  number_shift_ = last_number_ + 1 - *first_number_;
  open(0);
  return true;
}

void MbsRecording::number_event() {
  auto& number = player_->event().number;
  if (!first_number_) first_number_ = number;
  number += number_shift_;
  last_number_ = number;
}

}  // namespace eventloom
