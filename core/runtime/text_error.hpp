#pragma once

#include <string>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

/// A UserError about a text of the user, which is shown below its line with marks under the mistake.
class TextError : public UserError {
 public:
  TextError(const std::string& what, std::string excerpt) : UserError(what), excerpt_(std::move(excerpt)) {}
  /// Whole lines, without the last line's end.
  [[nodiscard]] const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

}  // namespace eventloom
