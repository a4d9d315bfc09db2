#include "app/observe/asker.hpp"

#include "app/command/safe_text.hpp"

namespace eventloom {

std::string name_of_asker(const HttpRequest& request) {
  constexpr std::size_t kMostRead = 256;  // bytes
  constexpr std::size_t kMostShown = 80;  // columns
  const auto& said = request.user.empty() ? request.agent : request.user;
  if (said.empty()) return request.peer;
  return request.peer + " (" + beginning_of(for_terminal(said.substr(0, kMostRead)), kMostShown) + ")";
}

}  // namespace eventloom
