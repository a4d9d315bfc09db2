#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/event_judge.hpp"
#include "core/runtime/subprocess.hpp"
#include "formats/event_batch.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

struct FilterCommandSettings {
  std::vector<std::string> words;      ///< the program and its arguments
  std::chrono::nanoseconds timeout{};  ///< longest time in which it neither reads nor answers
  std::uint32_t writer = 0;            ///< number of the writer that asks, for the program
  EventBatchFormat format;
};

/// A program of the user that judges events: it reads batches of events (formats/event_batch.hpp) from its standard
/// input and writes a byte for each to its standard output, 1 to keep it and 0 to reject it. It runs until finish().
/// The rank does nothing else while it waits for answers.
class FilterCommand final : public EventJudge {
 public:
  /// `on_failure` receives the reason, once, when the program ends too early, hangs, or answers nonsense. Throws
  /// UserError if it cannot be started.
  FilterCommand(FilterCommandSettings settings, std::function<void(const std::string& why)> on_failure);
  /// Kills the program if it still runs.
  ~FilterCommand() override;

  bool judge(const BuiltSlice& slice, std::size_t kind, std::span<const std::uint8_t> asked,
             std::vector<std::uint8_t>& keep) override;
  /// Closes the program's input and waits until it has ended. Answers left over are a failure; other trouble is only
  /// reported.
  void finish();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] bool exchange(std::span<const std::byte> batch, std::size_t n_answers);
  std::size_t write_some(std::span<const std::byte> bytes);
  [[nodiscard]] bool read_some(std::size_t n_answers);
  [[nodiscard]] bool check_answers(const BuiltSlice& slice, std::span<const std::uint8_t> asked,
                                   std::vector<std::uint8_t>& keep);
  [[nodiscard]] std::string place_of(const BuiltSlice& slice, std::span<const std::uint8_t> asked,
                                     std::size_t answer) const;
  [[nodiscard]] std::string how_it_ended();
  bool fail(const std::string& why);

  FilterCommandSettings settings_;
  std::function<void(const std::string& why)> on_failure_;
  EventBatchEncoder encoder_;
  Descriptor input_;  ///< input of the program
  Descriptor answers_;
  std::optional<Subprocess> program_;  ///< until it has ended
  std::vector<std::uint8_t> answered_;
  std::string trouble_;  ///< describes the failure of exchange()
  bool failed_ = false;
};

}  // namespace eventloom
