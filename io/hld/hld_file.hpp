#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/hld.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

struct HldSubevent : HldSubeventHeader {
  std::uint64_t offset = 0;         ///< offset of its header in the file, bytes
  std::span<const std::byte> data;  ///< bytes as stored in the file, without padding

  /// Copies the data with its words in native order; `out` takes data.size() bytes.
  void copy_data(std::byte* out) const;
  /// Replaces `words` by the data as 32-bit words in native order. Shorter words are packed; the last is zero-padded.
  void copy_words(std::vector<std::uint32_t>& words) const;
  /// Word `i` of the data; std::nullopt if the data are shorter or do not consist of 32-bit words.
  [[nodiscard]] std::optional<std::uint32_t> word(std::size_t i) const;
};

struct HldEvent : HldEventHeader {
  std::uint64_t offset = 0;  ///< offset of its header in the file, bytes
  std::vector<HldSubevent> subevents;
};

/// A violation of the format, which has been reported.
struct HldDamage {
  enum class Extent {
    event,    ///< one event is lost; its neighbours are intact
    stretch,  ///< unknown contents are lost; reading continues after them
    rest      ///< everything up to the end is lost
  };
  Extent extent = Extent::event;
  std::uint64_t offset = 0;
  std::uint32_t subevents = 0;  ///< number of subevent headers found
  std::string text;             ///< expected and found contents, for messages
};

/// Replaces `subevents` by the consecutive ones in `bytes`, which start at `offset` of their input. Returns the first
/// defect; empty if there is none.
std::string read_hld_subevents(std::span<const std::byte> bytes, std::uint64_t offset,
                               std::vector<HldSubevent>& subevents);

/// Whether `head`, the first bytes of a file, begins with the header of an event.
bool begins_hld_file(std::span<const std::byte> head);

/// Reads an HLD file sequentially: events, including those that open or close a run, and damage.
///
/// An event with damaged contents is dropped if its size leads to another event or to the end of the file. Otherwise
/// the next header whose size does so is searched for up to 1 MiB ahead: first in steps of 8 bytes, then between these.
class HldFile {
 public:
  enum class Item { event, damage, pause, end };

  /// Throws UserError when the file cannot be opened, or no event is found in its first 1 MiB.
  explicit HldFile(const std::string& path, Followed followed = nullptr);
  /// Whether the first event of a file that grows is complete.
  static bool can_open(const std::string& path);

  /// Advances to the next item: see event() or damage(). A file that is followed pauses where the next event is not yet
  /// complete. The end also reports the totals of each kind of defect, and
  /// whether the file has grown.
  Item next();
  /// The current event. It and the data of its subevents are valid until next().
  [[nodiscard]] const HldEvent& event() const { return event_; }
  [[nodiscard]] const HldDamage& damage() const { return damage_; }

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }
  /// Number of events with a decoding other than 0x00030001, plus 1 if the file has grown since it was opened.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// Lets callers report further defects of the data.
  [[nodiscard]] DefectLog& defect_log() { return defect_log_; }

 private:
  [[nodiscard]] std::span<const std::byte> bytes_at(std::uint64_t ahead, std::size_t n);
  [[nodiscard]] std::optional<HldEventHeader> header_at(std::uint64_t ahead);
  [[nodiscard]] bool leads_on(std::uint64_t ahead, const HldEventHeader& header);
  [[nodiscard]] bool is_event_at(std::uint64_t ahead);
  [[nodiscard]] std::optional<std::uint64_t> find_event();
  [[nodiscard]] std::optional<std::uint64_t> find_event(std::uint64_t from);

  [[nodiscard]] bool awaits_event();
  Item read_event(const HldEventHeader& header);
  std::string split(std::span<const std::byte> event);
  Item lose_event(const HldEventHeader& header, const std::string& reason);
  Item lose_stretch(const std::string& reason);
  Item give_damage(HldDamage::Extent extent, std::uint64_t bytes);
  Item give_end();
  [[nodiscard]] std::string describe_header(const std::optional<HldEventHeader>& header) const;

  FileReader file_;
  DefectLog defect_log_;
  HldEvent event_;
  HldDamage damage_;
  std::uint64_t consumed_ = 0;  ///< bytes of the current item
  bool broken_off_ = false;
  bool ended_ = false;
  std::uint64_t anomalies_ = 0;
  /// File offsets up to which no event was found, separately for offsets congruent to 0 and 4 modulo 8, so that no
  /// stretch is searched twice.
  std::array<std::uint64_t, 2> searched_{};
};

}  // namespace eventloom
