#include "io/recorded/copy_search.hpp"

namespace eventloom {

bool CopySearch::is_copy(const ReorderBuffer::Hit& hit) {
  if (time_ != hit.time) seen_.clear();
  time_ = hit.time;
  words_.assign({hit.channel});
  words_.insert(words_.end(), hit.payload.begin(), hit.payload.end());
  return !seen_.insert(words_).second;
}

}  // namespace eventloom
