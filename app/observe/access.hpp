#pragma once

#include <optional>
#include <string>

#include "app/observe/http_message.hpp"

/// Access control for reading and steering a run over HTTP.
namespace eventloom {

/// A page of another site may make a browser send requests here under a name of its own (DNS rebinding). Therefore only
/// requests to the address that the client has reached, to localhost or to this host's name are accepted. Returns
/// std::nullopt for such a request, otherwise the refusal.
std::optional<HttpReply> refuse_host(const HttpRequest& request);

/// Returns a refusal for a request that changes the run if it comes from another site or lacks the token
/// ("Authorization: Bearer TOKEN"); otherwise std::nullopt.
std::optional<HttpReply> refuse_change(const HttpRequest& request, const std::string& token);

/// Returns a reply with the body {"error": what}.
HttpReply refusal(unsigned status, const std::string& what);

}  // namespace eventloom
