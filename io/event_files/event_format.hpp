#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// A list-mode format that built events are written in, and the numbered files of one output.
class EventFormat {
 public:
  virtual ~EventFormat() = default;

  /// Of file `number`, from 0; without its folder.
  [[nodiscard]] virtual std::string file_name(std::uint32_t number) const = 0;
  /// Whether a finished or unfinished file is of this format and Eventloom's own.
  [[nodiscard]] virtual Recognise ours() const = 0;

  /// Appends what stands before the first event of file `number`; the events that follow are of that file.
  virtual void begin_file(std::uint32_t number, std::vector<std::byte>& to) = 0;
  /// Appends an event and returns the trigger type in its header. `number`: it is the number-th of the output, from 1.
  virtual std::uint32_t append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) = 0;
  /// Appends what stands after the last event.
  virtual void end_file(std::vector<std::byte>& to) = 0;
  /// Its length, bytes.
  [[nodiscard]] virtual std::size_t end_bytes() const = 0;
};

}  // namespace eventloom
