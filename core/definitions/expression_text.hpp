#pragma once

#include <cstddef>
#include <string_view>

namespace eventloom {

/// The words and signs of an expression, one after the other. All results are parts of the text.
class ExpressionText {
 public:
  explicit ExpressionText(std::string_view text) : text_(text) {}

  /// The next word: letters, digits, _ and . as in names and numbers, the sign of an exponent included; empty, at the
  /// place where it should be, when something else comes.
  std::string_view word();
  /// Takes `sign` if it comes next.
  bool take(std::string_view sign);
  /// The text up to the next of `ends`, which remains, without blanks around it.
  std::string_view up_to(std::string_view ends);

  /// What comes next, for messages: a word or a single character; empty at the end.
  [[nodiscard]] std::string_view next() const;
  [[nodiscard]] bool at_end();
  /// What has been read since `begin`, a part of the text, without blanks at its end.
  [[nodiscard]] std::string_view since(std::string_view begin) const;
  /// The empty part at the place reached.
  [[nodiscard]] std::string_view here();

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace eventloom
