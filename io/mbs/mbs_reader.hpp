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

/// The hits that an MBS server sends, the same that an LMD file of these buffers gives. After a lost connection, events
/// received before are duplicates; see LmdEras for numbers that start again. Buffers that the server had sent before
/// the first one received are counted as missing, and reported: no loss of the run, which begins when it has connected.
/// Numbers of less than 32 bits have no place in the run until begin_at(): the first buffer waits here, the others in
/// the socket.
class MbsReader final : public HitReader {
 public:
  /// `header`: see lmd_stream_header(). `longest_wait`: for the successor of an event, which confirms it; nothing:
  /// without limit. `eras`: of its numbers. `stop` outlives this. Throws as MbsConnection does.
  MbsReader(const MbsAddress& address, const LmdTime& time, StreamHeader header,
            std::chrono::duration<double> reconnect, std::optional<std::chrono::milliseconds> longest_wait,
            EraRule eras, const MbsStop& stop);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  /// Returns a short block as soon as no more data are available, and an empty one when nothing comes for a while;
  /// false at the end.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override { return blocks_.holds_back(); }
  [[nodiscard]] std::optional<Tick> held_from() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return blocks_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

  /// Any thread.
  [[nodiscard]] bool is_connected() const { return connection_.is_connected(); }
  /// Any thread. The run begins with this number: the first event is that nearest to it.
  void begin_at(Tick number) { begin_ = number; }
  /// Any thread, where events by number need not wait for their successors. The foremost source of the run is here.
  void others_at(Tick number) { others_ = number; }

 private:
  static constexpr Tick kUnknown = ~Tick{0};

  [[nodiscard]] bool has_begun() const { return begin_ != kUnknown || stop_.stopped(); }
  bool read_on(HitBlock& block);
  void place(HitBlock& block);
  bool take_events(HitBlock& block);
  void take_problems(HitBlock& block);
  void pass_empty();
  void look_for_earlier();
  void begin_buffer();
  void begin_anew();
  void note_lost();
  void pause(HitBlock& block);
  void finish(HitBlock& block);

  std::string name_;
  StreamHeader header_;
  Tick range_;  ///< of the numbers
  std::optional<std::chrono::milliseconds> longest_wait_;
  std::chrono::steady_clock::time_point heard_;  ///< when the last buffer came
  const MbsStop& stop_;
  MbsConnection connection_;
  LmdNotes notes_;
  LmdBufferEvents events_{notes_};
  LmdEvent event_;
  LmdHitBlocks blocks_;
  HitBlock held_;                              ///< until the run begins
  bool placed_;                                ///< the numbers have their place in the run
  bool hole_noted_ = false;                    ///< of the lost connection
  bool any_ = false;                           ///< an event has come
  std::optional<std::uint32_t> first_buffer_;  ///< number of the first buffer
  bool ended_ = false;
  std::atomic<Tick> begin_;
  std::atomic<Tick> others_ = 0;  ///< 0: unknown
};

}  // namespace eventloom
