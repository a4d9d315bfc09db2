#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/event_files/event_format.hpp"
#include "io/event_files/event_items.hpp"
#include "io/event_files/hld_event_maker.hpp"

namespace eventloom {

/// LMD: files STEM_0000.lmd, STEM_0001.lmd, ... of type 101/1.
///
/// An event has its LMD subevents unchanged, in the order of the event; a subevent of id 0x1f that holds an HLD event
/// with its HLD subevents, as DABC's stream server sends it; and a subevent with its other hits (formats/hit_list.hpp).
/// Its header is that of the event that the first LMD subevent belongs to. Without one, its trigger and number are
/// those of the HLD event, or else 1 and the number in the output.
class LmdFormat final : public EventFormat {
 public:
  LmdFormat(std::string stem, EventSplitter splitter, HldEventMaker hld);

  [[nodiscard]] std::string file_name(std::uint32_t number) const override;
  [[nodiscard]] Recognise ours() const override;
  void begin_file(std::uint32_t number, std::vector<std::byte>& to) override;
  void append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) override;
  void end_file(std::vector<std::byte>&) override {}
  [[nodiscard]] std::size_t end_bytes() const override { return 0; }

 private:
  void set_header(const EventItems& items, std::uint64_t number);
  void add_own(std::uint16_t procid, std::span<const std::byte> data);

  std::string stem_;
  EventSplitter splitter_;
  HldEventMaker hld_;
  LmdEvent event_;
  std::vector<std::byte> hld_bytes_;
};

}  // namespace eventloom
