#pragma once

#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// A source, and its columns that are not read.
struct UnreadColumns {
  std::string source;
  std::vector<std::string> columns;
};

/// A message of bounded length about all sources together: "x.csv, y.csv: columns not read: a, b; payload=COLUMN,...
/// keeps those that are payload", or "columns not read: a, b (x.csv, y.csv), c (y.csv); ..." where they differ. Empty
/// if there are none.
std::string unread_message(std::span<const UnreadColumns> sources);

}  // namespace eventloom
