#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/hld.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_window.hpp"

namespace eventloom {

struct HldSubevent : HldSubeventHeader {
  std::uint64_t offset = 0;         ///< of its header in the file, bytes
  std::span<const std::byte> data;  ///< as it lies in the file, without padding

  /// Copies the data with its words in native order; `out` takes data.size() bytes.
  void copy_data(std::byte* out) const;
  /// Data as 32-bit words in native order, put into `words`; shorter words are packed, the last one is filled up
  /// with zeros.
  void copy_words(std::vector<std::uint32_t>& words) const;
};

struct HldEvent : HldEventHeader {
  std::uint64_t offset = 0;  ///< of its header in the file, bytes
  std::vector<HldSubevent> subevents;
};

/// A place that is not as the format says. It has been reported.
struct HldDamage {
  enum class Extent {
    event,    ///< one event is lost, those around it are not
    stretch,  ///< nobody knows what lay there; reading goes on behind it
    rest      ///< nothing comes after
  };
  Extent extent = Extent::event;
  std::uint64_t offset = 0;
  std::uint32_t subevents = 0;  ///< headers of subevents that were met
  std::string text;             ///< what was expected and found
};

/// Whether a file begins with the header of an event.
bool is_hld_file(const std::filesystem::path& file);

/// Reads HLD from front to back: events, those of begin and end of runs among them, and damage.
///
/// Damage inside of an event costs that event when its size leads to another event or to the end of the file.
/// Otherwise the next header that does is looked for in steps of 8 bytes, then of 4, up to 1 MiB ahead.
class HldFile {
 public:
  enum class Item { event, damage, end };

  /// Throws UserError when the file cannot be opened or has no event where one could be found.
  explicit HldFile(const std::string& path);

  /// What comes next: see event() or damage(). At the end it has been reported how often each kind of defect was
  /// found, and whether the file has grown.
  Item next();
  /// Valid until next(), with the data in its subevents.
  [[nodiscard]] const HldEvent& event() const { return event_; }
  [[nodiscard]] const HldDamage& damage() const { return damage_; }

  [[nodiscard]] const std::string& path() const { return window_.path(); }
  [[nodiscard]] std::uint64_t size() const { return window_.size(); }
  /// Events with a decoding that is not 0x00030001, and 1 for a file that has grown since it was opened.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// For those who find more that is wrong in the data.
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

  FileWindow window_;
  Complaints complaints_;
  HldEvent event_;
  HldDamage damage_;
  std::uint64_t consumed_ = 0;  ///< bytes of the item that was given last
  bool broken_off_ = false;
  bool ended_ = false;
  std::uint64_t anomalies_ = 0;
  /// Offsets in the file up to which no event was found, of those that leave a rest of 0 and of 4 when divided by
  /// 8: no stretch is searched twice.
  std::array<std::uint64_t, 2> searched_{};
};

}  // namespace eventloom
