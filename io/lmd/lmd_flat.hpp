#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/lmd.hpp"
#include "io/files/file_reader.hpp"
#include "io/lmd/lmd_bytes.hpp"
#include "io/lmd/lmd_container.hpp"
#include "io/lmd/lmd_index.hpp"
#include "io/lmd/lmd_notes.hpp"

namespace eventloom {

/// Reads a 101/1 file: consecutive elements, possibly with an index at the end. Its header may have been written before
/// the contents were known, so events are read to the end of the file.
///
/// Only lengths lead from event to event. If one is wrong, the next event is searched for.
class FlatLmd final : public LmdContainer {
 public:
  /// `file` must be at the first element. `file` and `notes` must outlive this.
  FlatLmd(FileReader& file, const LmdFlatHeader& header, bool swapped, LmdNotes& notes)
      : bytes_(file, swapped), header_(header), notes_(notes) {}

  bool next(LmdEvent& event) override;

 private:
  [[nodiscard]] bool awaits_element();
  bool take_event(const LmdElement& element, LmdEvent& event);
  bool skip_other(const LmdElement& element);
  bool skip_buffer_header(const LmdElement& element);
  bool is_chained(const LmdElement& element);
  void read_index(const LmdElement& element);
  bool leads_on(std::uint64_t size);
  [[nodiscard]] bool fits(const LmdElement& element, std::uint64_t at) const;
  [[nodiscard]] std::string defect(const LmdElement& element) const;
  bool search(const LmdElement& element);
  void drop(const LmdElement& element, const LmdEvent& event);
  bool end(std::size_t stray);

  LmdBytes bytes_;
  LmdFlatHeader header_;
  LmdNotes& notes_;
  LmdIndexCheck index_;
  std::uint64_t given_ = 0;  ///< size of the last event, which is still at the front
  std::optional<std::uint32_t> last_number_;
  std::uint64_t searches_ = 0;
};

}  // namespace eventloom
