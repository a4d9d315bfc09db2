#include "core/definitions/expression_text.hpp"

#include "core/definitions/text_parts.hpp"

namespace eventloom {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  return letter || is_digit(c) || c == '_' || c == '.';
}

/// Whether the sign at `at` belongs to the exponent of a decimal number that begins at `begin`.
bool is_exponent_sign(std::string_view text, std::size_t begin, std::size_t at) {
  if (at == begin || at + 1 >= text.size() || (text[at] != '+' && text[at] != '-')) return false;
  const bool exponent = text[at - 1] == 'e' || text[at - 1] == 'E';
  return exponent && is_digit(text[at + 1]) &&
         text.substr(begin, at - begin - 1).find_first_not_of("0123456789.") == std::string_view::npos;
}

std::size_t end_of_word(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && (is_word(text[end]) || is_exponent_sign(text, begin, end))) ++end;
  return end;
}

}  // namespace

void ExpressionText::skip_blanks() {
  const auto next = text_.find_first_not_of(kBlanks, at_);
  at_ = next == std::string_view::npos ? text_.size() : next;
}

std::string_view ExpressionText::word() {
  skip_blanks();
  const std::size_t begin = at_;
  at_ = end_of_word(text_, begin);
  return text_.substr(begin, at_ - begin);
}

bool ExpressionText::take(std::string_view sign) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(sign)) return false;
  at_ += sign.size();
  return true;
}

std::string_view ExpressionText::up_to(std::string_view ends) {
  skip_blanks();
  const std::size_t begin = at_;
  at_ = text_.find_first_of(ends, begin);
  if (at_ == std::string_view::npos) at_ = text_.size();
  return trimmed(text_.substr(begin, at_ - begin));
}

std::string_view ExpressionText::next() const {
  const auto begin = text_.find_first_not_of(kBlanks, at_);
  if (begin == std::string_view::npos) return text_.substr(text_.size());
  const auto end = end_of_word(text_, begin);
  return text_.substr(begin, end == begin ? 1 : end - begin);
}

bool ExpressionText::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

std::string_view ExpressionText::since(std::string_view begin) const {
  const auto first = static_cast<std::size_t>(begin.data() - text_.data());
  const auto part = text_.substr(first, at_ - first);
  return part.substr(0, part.find_last_not_of(kBlanks) + 1);
}

std::string_view ExpressionText::here() {
  skip_blanks();
  return text_.substr(at_, 0);
}

}  // namespace eventloom
