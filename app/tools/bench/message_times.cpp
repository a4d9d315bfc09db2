#include "app/tools/bench/message_times.hpp"

#include <algorithm>

#include "app/document/json_message.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostNotes = std::size_t{1} << 21;
constexpr std::size_t kMostOfAll = std::size_t{1} << 24;  // all ranks receive all notes of what was sent

}  // namespace

MessageTimes::MessageTimes(const Communicator& communicator)
    : communicator_(communicator),
      clock_(communicator),
      most_(std::min(kMostNotes, kMostOfAll / static_cast<std::size_t>(communicator.size()))),
      received_(static_cast<std::size_t>(communicator.size())) {
  sent_.reserve(most_);
}

void MessageTimes::note(std::vector<Note>& notes, std::uint64_t slice) {
  if (notes.size() < most_) notes.push_back({slice, clock_.now()});
}

void MessageTimes::by_slice(std::vector<Note>& notes) { std::ranges::sort(notes, {}, &Note::slice); }

MeasuredTimes MessageTimes::gather(TimesKept kept) {
  MeasuredTimes mine(kept);
  by_slice(sent_);
  const auto sent = communicator_.all_gather(sent_);
  for (std::size_t origin = 0; origin < received_.size(); ++origin) {
    by_slice(received_[origin]);
    auto begin = sent[origin].begin();
    for (const auto& received : received_[origin]) {
      begin = std::ranges::lower_bound(begin, sent[origin].end(), received.slice, {}, &Note::slice);
      if (begin != sent[origin].end() && begin->slice == received.slice) mine.add(received.ns - begin->ns);
    }
  }
  MeasuredTimes all(kept);
  for (const auto& packed : all_gather_json(communicator_, mine.packed())) all.unpack(packed);
  return all;
}

}  // namespace eventloom
