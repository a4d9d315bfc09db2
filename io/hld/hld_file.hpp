#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/hld.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

struct HldSubevent : HldSubeventHeader {
  std::uint64_t offset = 0;         ///< of its header in the file, bytes
  std::span<const std::byte> data;  ///< as stored in the file, without padding

  /// Copies the data with its words in native order; `out` takes data.size() bytes.
  void copy_data(std::byte* out) const;
  /// Data as 32-bit words in native order, put into `words`; shorter words are packed, the last one padded with zeros.
  void copy_words(std::vector<std::uint32_t>& words) const;
  /// Word `i` of the data; nothing where they do not have it or their words have no 32 bits.
  [[nodiscard]] std::optional<std::uint32_t> word(std::size_t i) const;
};

struct HldEvent : HldEventHeader {
  std::uint64_t offset = 0;  ///< of its header in the file, bytes
  std::vector<HldSubevent> subevents;
};

/// A place that violates the format. It has been reported.
struct HldDamage {
  enum class Extent {
    event,    ///< one event is lost, those around it are not
    stretch,  ///< of unknown contents; reading continues after it
    rest      ///< nothing follows
  };
  Extent extent = Extent::event;
  std::uint64_t offset = 0;
  std::uint32_t subevents = 0;  ///< headers of subevents found
  std::string text;             ///< what was expected and found
};

/// Replaces `subevents` by those in `bytes`, back to back, which begin at `offset` of their input. Returns what is
/// wrong with the first that is not one, empty when all are.
std::string read_hld_subevents(std::span<const std::byte> bytes, std::uint64_t offset,
                               std::vector<HldSubevent>& subevents);

/// Whether a file that begins with `head` begins with the header of an event.
bool begins_hld_file(std::span<const std::byte> head);

/// Reads HLD from front to back: events, including those that mark begin and end of runs, and damage.
///
/// Damage inside an event costs that event when its size leads to another event or to the end of the file. Otherwise
/// the next header whose size does is searched for in steps of 8 bytes, then of 4, up to 1 MiB ahead.
class HldFile {
 public:
  enum class Item { event, damage, end };

  /// Throws UserError when the file cannot be opened or no event is found where one could begin.
  explicit HldFile(const std::string& path);

  /// The next item: see event() or damage(). At the end the totals of each kind of defect, and growth of the file, have
  /// been reported.
  Item next();
  /// Valid until next(), including the data of its subevents.
  [[nodiscard]] const HldEvent& event() const { return event_; }
  [[nodiscard]] const HldDamage& damage() const { return damage_; }

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }
  /// Events with a decoding other than 0x00030001, and 1 for a file that has grown since it was opened.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// For callers that find further defects in the data.
  [[nodiscard]] Complaints& complaints() { return complaints_; }

 private:
  [[nodiscard]] std::span<const std::byte> bytes_at(std::uint64_t ahead, std::size_t n);
  [[nodiscard]] std::optional<HldEventHeader> header_at(std::uint64_t ahead);
  [[nodiscard]] bool leads_on(std::uint64_t ahead, const HldEventHeader& header);
  [[nodiscard]] bool is_event_at(std::uint64_t ahead);
  [[nodiscard]] std::optional<std::uint64_t> find_event();
  [[nodiscard]] std::optional<std::uint64_t> find_event(std::uint64_t from);

  Item read_event(const HldEventHeader& header);
  std::string split(std::span<const std::byte> event);
  Item lose_event(const HldEventHeader& header, const std::string& reason);
  Item lose_stretch(const std::string& reason);
  Item give_damage(HldDamage::Extent extent, std::uint64_t bytes);
  Item give_end();
  [[nodiscard]] std::string describe_header(const std::optional<HldEventHeader>& header) const;

  FileReader file_;
  Complaints complaints_;
  HldEvent event_;
  HldDamage damage_;
  std::uint64_t consumed_ = 0;  ///< bytes of the last item
  bool broken_off_ = false;
  bool ended_ = false;
  std::uint64_t anomalies_ = 0;
  /// Offsets in the file up to which no event was found, separately for offsets of remainder 0 and 4 modulo 8: no
  /// stretch is searched twice.
  std::array<std::uint64_t, 2> searched_{};
};

}  // namespace eventloom
