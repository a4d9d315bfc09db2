#include "app/observe/access.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/runtime/host_name.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns the host without its port and without the brackets of IPv6.
std::string name_in(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return lower(host.substr(0, host.rfind(':')));
}

/// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned differ = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return differ == 0;
}

bool is_from_another_site(const HttpRequest& request) {
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none") return true;
  return !request.origin.empty() && lower(request.origin) != "http://" + lower(request.host);
}

}  // namespace

HttpReply refusal(unsigned status, const std::string& what) {
  const Json body{{"error", what}};
  const auto text = body.dump() + "\n";
  return {status, "application/json", shared_text(text), "", "", what};
}

std::optional<HttpReply> refuse_host(const HttpRequest& request) {
  if (request.host.empty()) return refusal(400, "one Host header is needed");
  const auto name = name_in(request.host);
  const bool known = name == request.local || name == "localhost" || name == lower(host_name());
  if (known) return std::nullopt;
  return refusal(403, "unknown host name; use the address, localhost or the name of the host");
}

std::optional<HttpReply> refuse_change(const HttpRequest& request, const std::string& token) {
  constexpr std::string_view kScheme = "bearer ";
  if (is_from_another_site(request)) return refusal(403, "requests of other sites are refused");
  if (request.authorization.empty()) {
    auto reply = refusal(401, "a token is needed: Authorization: Bearer TOKEN");
    reply.authenticate = "Bearer realm=\"eventloom\"";
    return reply;
  }
  const std::string_view given = request.authorization;
  const bool bearer = lower(request.authorization.substr(0, kScheme.size())) == kScheme;
  if (bearer && same_secret(given.substr(kScheme.size()), token)) return std::nullopt;
  return refusal(403, "wrong token");
}

}  // namespace eventloom
