#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// A list-mode format for built events, and the numbered files of one output.
class EventFormat {
 public:
  virtual ~EventFormat() = default;

  /// Name of file `number`, counted from 0, without its folder.
  [[nodiscard]] virtual std::string file_name(std::uint32_t number) const = 0;
  /// Recognises files of this format, finished or not, that Eventloom wrote.
  [[nodiscard]] virtual Recognise ours() const = 0;

  /// Begins file `number`: appends the data before its first event.
  virtual void begin_file(std::uint32_t number, std::vector<std::byte>& to) = 0;
  /// Appends an event and returns the trigger type in its header. `number`: its number in the output, from 1.
  virtual std::uint32_t append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) = 0;
  /// Appends the data after the last event.
  virtual void end_file(std::vector<std::byte>& to) = 0;
  /// Size of these data, bytes.
  [[nodiscard]] virtual std::size_t end_bytes() const = 0;
};

}  // namespace eventloom
