#pragma once

#include <cstddef>
#include <string_view>

namespace eventloom {

/// The words and signs of an expression, in sequence. All results are views into the text.
class ExpressionText {
 public:
  explicit ExpressionText(std::string_view text) : text_(text) {}

  /// The next word: letters, digits, _ and . as in names and numbers, including the sign of an exponent. If something
  /// else follows, an empty view at the expected position.
  std::string_view word();
  /// Consumes `sign` if it comes next.
  bool take(std::string_view sign);
  /// The text up to the next of `ends`, which remains, without surrounding blanks.
  std::string_view up_to(std::string_view ends);

  /// The next token, for messages: a word or a single character; empty at the end.
  [[nodiscard]] std::string_view next() const;
  [[nodiscard]] bool at_end();
  /// The text read since `begin`, a view into the text, without trailing blanks.
  [[nodiscard]] std::string_view since(std::string_view begin) const;
  /// An empty view at the current position.
  [[nodiscard]] std::string_view here();

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace eventloom
