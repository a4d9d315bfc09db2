#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace eventloom::test {

/// A call that can be left in its middle and gone on with, on a stack of its own. All of one thread. Exceptions may be
/// under way in several of them.
class Fiber {
 public:
  /// What runs now: the thread itself, without a stack to be made.
  Fiber() = default;
  /// Begins with the first switch_to(). `work` ends by a switch away from it that nobody undoes, never by returning.
  explicit Fiber(std::function<void()> work);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From this one, which runs, to `next`; returns when somebody switches back.
  void switch_to(Fiber& next);

 private:
  /// What the C++ runtime keeps per thread: the exceptions that are caught, and how many are not.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void begin(unsigned int high, unsigned int low);
  void arrive();

  ucontext_t context_{};
  std::unique_ptr<std::byte[]> stack_;
  std::function<void()> work_;
  Exceptions exceptions_;
  void* fake_stack_ = nullptr;          ///< of the address sanitizer
  const void* stack_bottom_ = nullptr;  ///< likewise
  std::size_t stack_bytes_ = 0;
  Fiber* from_ = nullptr;
};

}  // namespace eventloom::test
