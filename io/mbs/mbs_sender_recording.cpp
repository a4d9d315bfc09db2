#include "io/mbs/mbs_sender_recording.hpp"

#include <array>
#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kNanosecondPs = 1000;
/// Those that say when events are sent.
constexpr auto kKeys = std::to_array<std::string_view>({"time", "wr", "from", "unit", "round"});

/// Times used for pacing need not be exact ticks.
SourceUri with_rounding(const SourceUri& uri) {
  return uri.get("time", "tag") == "tag" || uri.has("round") ? uri : uri.with("round", "down");
}

}  // namespace

MbsRecording::MbsRecording(std::span<const SourceUri> files, std::uint64_t repetitions) : repetitions_(repetitions) {
  for (const auto& uri : files) {
    uri.accept_only(kKeys);
    files_.push_back({uri, LmdTime(with_rounding(uri), kNanosecondPs)});
  }
  if (files_.empty()) throw UserError("no file to serve");
  for (std::size_t i = files_.size(); i > 0; --i) open(i - 1);  // files that cannot be opened are reported now
}

void MbsRecording::open(std::size_t number) {
  open_ = number;
  file_ = std::make_unique<LmdFile>(files_[number].uri.path());
  complaints_ = std::make_unique<Complaints>(files_[number].uri.path());
}

void MbsRecording::rewind() {
  repetition_ = 0;
  first_number_.reset();
  number_shift_ = 0;
  open(0);
}

bool MbsRecording::next() {
  while (true) {
    const bool there = file_->next(event_);
    take_problems();
    if (there) {
      number_event();
      return true;
    }
    if (!open_next()) return false;
  }
}

/// Opens the next file; false after the last.
bool MbsRecording::open_next() {
  complaints_->sum_up();
  if (open_ + 1 < files_.size()) {
    open(open_ + 1);
    return true;
  }
  // Files without events have none when read again, either.
  if (repetition_ + 1 >= repetitions_ || !first_number_) return false;
  ++repetition_;
  number_shift_ = last_number_ + 1 - *first_number_;
  open(0);
  return true;
}

void MbsRecording::number_event() {
  if (!first_number_) first_number_ = event_.number;
  event_.number += number_shift_;
  last_number_ = event_.number;
}

void MbsRecording::take_problems() {
  for (const auto& problem : file_->problems()) {
    complaints_->say(Defect::damage, problem.offset, [&] { return problem.text; });
    if (problem.effect != LmdEffect::none) ++damaged_;
  }
}

std::optional<Tick> MbsRecording::time() const {
  const auto& time = files_[open_].time;
  return time.numbered() ? std::nullopt : time.of(event_);
}

const SourceUri* MbsRecording::untimed() const {
  for (const auto& file : files_) {
    if (file.time.numbered()) return &file.uri;
  }
  return nullptr;
}

}  // namespace eventloom
