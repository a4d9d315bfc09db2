#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/event_files/event_format.hpp"
#include "io/event_files/event_items.hpp"
#include "io/event_files/hld_event_maker.hpp"

namespace eventloom {

/// HLD: each file is a separate run, enclosed by a begin event and an end event. File n has the run number RUN + n and
/// is named after it as DABC does: STEM, year, day of the year, time of day (UTC), and the number of the event builder
/// unless it is 0.
///
/// An event has its HLD subevents unchanged, in the order of the event, and one subevent with its other hits
/// (formats/hit_list.hpp); see HldEventMaker.
class HldFormat final : public EventFormat {
 public:
  struct Names {
    std::string stem;
    std::uint32_t run = 0;
    unsigned builder = 0;
  };
  HldFormat(Names names, EventSplitter splitter, HldEventMaker events);

  [[nodiscard]] std::string file_name(std::uint32_t number) const override;
  [[nodiscard]] Recognise ours() const override;
  void begin_file(std::uint32_t number, std::vector<std::byte>& to) override;
  std::uint32_t append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) override;
  void end_file(std::vector<std::byte>& to) override;
  [[nodiscard]] std::size_t end_bytes() const override;

 private:
  Names names_;
  EventSplitter splitter_;
  HldEventMaker events_;
};

}  // namespace eventloom
