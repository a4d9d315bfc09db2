#include "app/monitor/access.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kShortestToken = 16;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Without the port, and without the brackets of IPv6.
std::string name_in(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return lower(host.substr(0, host.rfind(':')));
}

/// Takes as long wherever they differ.
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
  const nlohmann::json body{{"error", what}};
  return {status, "application/json", body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", "",
          ""};
}

std::optional<HttpReply> refuse_host(const HttpRequest& request) {
  if (request.host.empty()) return refusal(400, "a Host header is needed");
  const auto name = name_in(request.host);
  const bool known = name == request.local || name == "localhost" || name == lower(host_name());
  if (known) return std::nullopt;
  return refusal(403, "unknown host name; use the address, localhost or the name of the host");
}

std::optional<HttpReply> refuse_change(const HttpRequest& request, const std::string& token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (is_from_another_site(request)) return refusal(403, "requests of other sites are refused");
  if (request.authorization.empty()) {
    auto reply = refusal(401, "a token is needed: Authorization: Bearer TOKEN");
    reply.authenticate = "Bearer realm=\"eventloom\"";
    return reply;
  }
  const std::string_view given = request.authorization;
  if (!given.starts_with(kScheme) || !same_secret(given.substr(kScheme.size()), token)) {
    return refusal(403, "wrong token");
  }
  return std::nullopt;
}

std::string new_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto word = random();
    for (int shift = 28; shift >= 0; shift -= 4) token += kDigits[word >> shift & 15U];
  }
  return token;
}

std::string token_of_file(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw UserError("cannot read a token from '" + path + "'");
  constexpr const char* kBlanks = " \t\r";
  const auto begin = std::min(line.find_first_not_of(kBlanks), line.size());
  auto token = line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
  if (token.size() < kShortestToken) {
    throw UserError("the token in '" + path + "' is shorter than " + std::to_string(kShortestToken) + " characters");
  }
  return token;
}

}  // namespace eventloom
