#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/stream_file.hpp"
#include "io/lmd/lmd_buffer_events.hpp"
#include "io/lmd/lmd_hit_blocks.hpp"
#include "io/lmd/lmd_notes.hpp"
#include "io/mbs/mbs_connection.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Reads the hits that an MBS server sends: the same as from an LMD file of these buffers. Events received again after
/// a lost connection are duplicates; see LmdEras for numbers that start again. Buffers that the server sent before the
/// first one received are counted and reported as missing. They are not a loss of the run, which begins once connected.
/// Numbers of less than 32 bits have no place in the run until begin_at(): the first buffer is held here, later ones
/// stay in the socket.
class MbsReader final : public HitReader {
 public:
  /// `header`: see lmd_stream_header(). `longest_wait`: how long an event waits for its successor, which confirms it;
  /// std::nullopt: no limit. `eras`: the rule for its numbers. `stop` must outlive this object. Throws like
  /// MbsConnection.
  MbsReader(const MbsAddress& address, const LmdTime& time, StreamHeader header,
            std::chrono::duration<double> reconnect, std::optional<std::chrono::milliseconds> longest_wait,
            EraRule eras, const MbsStop& stop);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  /// Returns a short block as soon as no more data are available, and an empty one when no data arrive for a while.
  /// Returns false at the end.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override { return blocks_.holds_back(); }
  /// The newest event is delivered in the next pause if it may wait for its successor without limit.
  void release_held() override { releases_held_ = !longest_wait_; }
  [[nodiscard]] std::optional<Tick> held_from() const override;
  [[nodiscard]] bool is_away() const override { return !connection_.is_connected(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return blocks_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

  /// May be called by any thread.
  [[nodiscard]] bool is_connected() const { return connection_.is_connected(); }
  /// Sets the number with which the run begins; the first event is placed nearest to it. May be called by any thread.
  void begin_at(Tick number) { begin_ = number; }
  /// Sets the number that the run's foremost source has reached. Call it only if events by number need not wait for
  /// their successors. May be called by any thread.
  void others_at(Tick number) { others_ = number; }

 private:
  static constexpr Tick kUnknown = std::numeric_limits<Tick>::max();

  [[nodiscard]] bool has_begun() const { return begin_ != kUnknown || stop_.stopped(); }
  bool read_on(HitBlock& block);
  void place(HitBlock& block);
  bool take_events(HitBlock& block);
  void take_problems(HitBlock& block);
  void pass_empty();
  void look_for_earlier();
  void begin_buffer();
  void restart();
  void note_lost();
  void pause(HitBlock& block);
  void finish(HitBlock& block);

  std::string name_;
  StreamHeader header_;
  Tick range_;  ///< number of distinct event numbers
  std::optional<std::chrono::milliseconds> longest_wait_;
  std::chrono::steady_clock::time_point heard_;  ///< arrival time of the last buffer
  const MbsStop& stop_;
  MbsConnection connection_;
  LmdNotes notes_;
  LmdBufferEvents events_{notes_};
  LmdEvent event_;
  LmdHitBlocks blocks_;
  HitBlock held_;                              ///< held until the run begins
  bool placed_;                                ///< the numbers have their place in the run
  bool hole_noted_ = false;                    ///< the hole left by the lost connection has been noted
  bool any_ = false;                           ///< an event has been received
  std::optional<std::uint32_t> first_buffer_;  ///< number of the first buffer
  bool releases_held_ = false;                 ///< see release_held()
  bool ended_ = false;
  std::atomic<Tick> begin_;
  std::atomic<Tick> others_ = {};  ///< 0: unknown
};

}  // namespace eventloom
