#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

/// Number of epochs by which each pass over recordings is shifted from the previous one: from the first epoch to the
/// end of all recordings, plus `gap` epochs that separate the hits of two passes.
constexpr Epoch loop_period(Epoch first, Epoch end, Epoch gap) { return (end > first ? end - first : 0) + gap; }

/// Replays a recording several times in succession: pass k is the recording shifted by k * period epochs, and the
/// positions of epoch buffers in the stream continue as if all passes had been recorded. Event numbers also continue.
/// Payload is unchanged.
///
/// Damage recurs in each pass; it ends at the beginning of the next pass at the latest. Holds copies of buffers that
/// were collected but not released, and opens the recording at most twice at a time.
class LoopedSource final : public Source {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;

  /// `open` opens the recording at its beginning; it is called now and once for each further pass. `passes` must be at
  /// least 1, and `period` at least the recording's own loop_period() without a gap. Throws UserError when the
  /// recording's end is unknown before it is read, or the last pass would end beyond the last possible epoch. collect()
  /// throws UserError when the recording has been replaced.
  LoopedSource(Open open, std::uint64_t passes, Epoch period);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return front_->input(); }
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override;
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override;
  [[nodiscard]] std::uint64_t hits_given() const override;
  [[nodiscard]] std::uint64_t anomalies() const override;

 private:
  /// Contents of one pass.
  struct Extent {
    Epoch first = 0;
    Epoch end = 0;
    std::uint64_t hits = 0;
    std::uint64_t buffers = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::unique_ptr<Source> open_again() const;
  [[nodiscard]] Extent extent_of(Source& source) const;
  [[nodiscard]] std::uint64_t pass_of(Epoch epoch) const;
  /// Epochs of the run that belong only to pass `pass`.
  [[nodiscard]] EpochRange epochs_of(std::uint64_t pass) const;
  [[nodiscard]] const Source& behind_front() const { return next_ ? *next_ : *front_; }
  Source& source_of(std::uint64_t pass);
  void collect_pass(std::uint64_t pass, EpochRange epochs, SliceData& out);
  std::span<const std::byte> copy_of(std::uint64_t pass, const EpochBufferHeader& header,
                                     std::span<const std::byte> stored);
  [[nodiscard]] Damage shifted(Damage damage, std::uint64_t pass) const;

  Open open_;
  std::uint64_t passes_;
  Epoch period_;
  /// Serves pass front_pass_, the first not released.
  std::unique_ptr<Source> front_;
  /// Serves the passes after front_pass_; opened on demand.
  std::unique_ptr<Source> next_;
  std::uint64_t front_pass_ = 0;
  StreamHeader header_;
  std::string name_;
  Extent extent_;
  std::uint64_t hits_behind_ = 0;  ///< hits of the passes before front_pass_
  std::uint64_t anomalies_behind_ = 0;
  std::map<Epoch, std::vector<std::byte>> copies_;  ///< key: first epoch in the run
  std::vector<std::vector<std::byte>> spares_;
  SliceData data_;
};

}  // namespace eventloom
