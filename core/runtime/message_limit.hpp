#pragma once

#include <cstdint>
#include <string_view>

namespace eventloom {

/// Counts the messages of one kind, of which only the first ones are shown.
class MessageLimit {
 public:
  MessageLimit() = default;
  explicit MessageLimit(std::uint64_t shown) : shown_(shown) {}

  /// Counts a message. Returns whether it is to be shown.
  bool admit() { return ++count_ <= shown_; }
  /// For the end of a message that was admitted: `text` in the last that is shown, empty in those before.
  [[nodiscard]] std::string_view at_last(std::string_view text) const { return count_ == shown_ ? text : ""; }
  [[nodiscard]] bool exceeded() const { return count_ > shown_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t shown_ = 10;
  std::uint64_t count_ = 0;
};

}  // namespace eventloom
