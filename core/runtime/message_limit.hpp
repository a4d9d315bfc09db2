#pragma once

#include <cstdint>
#include <string_view>

namespace eventloom {

/// Counts the messages of one kind and admits only the first ones.
class MessageLimit {
 public:
  MessageLimit() = default;
  explicit MessageLimit(std::uint64_t shown) : shown_(shown) {}

  /// Counts a message. Returns whether it is to be shown.
  bool admit() { return ++count_ <= shown_; }
  /// Appends to an admitted message: returns `text` for the last one shown, an empty text for those before.
  [[nodiscard]] std::string_view at_last(std::string_view text) const { return count_ == shown_ ? text : ""; }
  [[nodiscard]] bool exceeded() const { return count_ > shown_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t shown_ = 10;
  std::uint64_t count_ = 0;
};

}  // namespace eventloom
