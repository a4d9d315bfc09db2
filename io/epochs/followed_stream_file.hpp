#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/files/followed_files.hpp"
#include "io/files/input_handle.hpp"

namespace eventloom {

/// An .epochs file that is followed while a recorder writes it, by this protocol.
///
/// The recorder
/// - gives the file its final name from the beginning, and appends: the header, whole epoch buffers, the index;
/// - may stop anywhere, since it is killed or its disk is full. What is there of an incomplete header, buffer or index
///   may later be completed, or cut off and replaced, at any moment;
/// - never cuts off what is whole, appends no buffer after an index, and leaves a file alone once it is final: a later
///   one or the end mark exists.
///
/// The follower
/// - takes only what is whole as part of the file: the header, and a buffer whose header and words match their
///   checksums. A file that becomes shorter than that, is replaced or removed is damaged;
/// - reads everything else again, from the end of the last whole buffer, at each look;
/// - takes bytes for damage only if two looks find them damaged, and nothing can complete them: an intact header of a
///   buffer or the index follows them, 1 MiB without either does, or the file is final.
class FollowedStreamFile {
 public:
  /// Throws UserError when the file cannot be opened or does not have its whole header.
  FollowedStreamFile(const std::string& path, Followed files);

  enum class Item : std::uint8_t {
    buffer,  ///< an epoch buffer; its words are damaged if they do not match their checksum
    gap,     ///< bytes that are not an epoch buffer, see defect(); more of the file follows
    pause,   ///< there is none yet: call FollowedFiles::wait(), then try again
    end,     ///< the index, the end of a final file, or FollowedFiles::stop()
    cut,     ///< a final file ends in bytes that are not a whole buffer, see defect()
    broken,  ///< the file can no longer be followed, see defect()
  };
  /// Advances to the next item.
  Item next();

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] const StreamHeader& header() const { return header_.header; }
  /// Offset of the item in the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// The buffer, valid until next(); its address is a multiple of 8.
  [[nodiscard]] std::span<const std::byte> stored() const { return rest().first(taken_); }
  /// Hits of the buffer that is cut; 0: unknown.
  [[nodiscard]] std::uint32_t hits_cut() const;
  [[nodiscard]] const std::string& defect() const { return defect_; }
  /// Whether the file has ended with its index.
  [[nodiscard]] bool has_index() const { return has_index_; }

 private:
  struct Finding {
    std::uint64_t offset = 0;
    Item item = Item::pause;
    std::size_t bytes = 0;
    friend bool operator==(const Finding&, const Finding&) = default;
  };

  [[nodiscard]] std::span<const std::byte> rest() const { return std::span(bytes_).subspan(begin_); }
  void read(std::size_t more);
  bool take_whole();
  Item look();
  Item judge_front();
  Item judge(bool is_final);
  Item judge_words(std::size_t n, bool settled);
  Item judge_gap(bool much, bool settled);
  [[nodiscard]] bool is_index(std::span<const std::byte> bytes) const;

  Followed files_;
  InputHandle file_;
  DecodedStreamHeader header_;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> bytes_;  ///< the buffers last read; those from begin_ on are at offset_
  std::size_t begin_ = 0;
  std::size_t taken_ = 0;  ///< bytes of the current item
  Finding last_finding_;   ///< damage that one look has found
  bool has_index_ = false;
  std::string defect_;
};

/// Whether an .epochs file that grows has its whole header.
bool has_stream_header(const std::string& path);

}  // namespace eventloom
