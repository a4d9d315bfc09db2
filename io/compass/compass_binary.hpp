#pragma once

#include <cstdint>
#include <string>

#include "io/compass/compass_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Binary list mode, see compass_record.hpp. The file ends at an incomplete record.
class CompassBinaryFile final : public CompassFile {
 public:
  CompassBinaryFile(const SourceUri& uri, Followed followed);

  Item next() override;
  [[nodiscard]] std::string remark() const override { return remark_; }
  [[nodiscard]] std::string place() const override { return "offset " + std::to_string(file_.offset()); }

 private:
  [[nodiscard]] std::uint16_t first_two_bytes();
  void read_format(const SourceUri& uri);

  std::string remark_;
  std::uint64_t item_bytes_ = 0;  ///< size of the current record
};

}  // namespace eventloom
