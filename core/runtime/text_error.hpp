#pragma once

#include <string>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

/// A UserError about a text from the user, which is shown below the message with the mistake marked.
class TextError : public UserError {
 public:
  TextError(const std::string& what, std::string excerpt) : UserError(what), excerpt_(std::move(excerpt)) {}
  /// Whole lines, without the last newline.
  [[nodiscard]] const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

}  // namespace eventloom
